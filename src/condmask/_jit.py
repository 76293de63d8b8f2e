"""How every kernel is compiled, decided once."""

import numba

from condmask._kernel_cache import KernelCache

# Flags that keep tests for NaN and inf alive; fastmath=True would let the compiler delete them.
SAFE_MATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


def kernel(function=None, *, fastmath=False, inline="never"):
    """Compile on first call; release the GIL; divide like NumPy (inf, never an exception)."""

    def compile_(f):
        compiled = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath, inline=inline)(f)
        # only what stands in condmask/kernels is in the name of the folder
        if f.__module__.startswith("condmask.kernels.") and "<locals>" not in f.__qualname__:
            compiled._cache = KernelCache(f)
        return compiled

    return compile_ if function is None else compile_(function)
