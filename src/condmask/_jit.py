"""How every kernel is compiled, decided once."""

import os

import numba

# Flags that keep tests for NaN and inf alive; fastmath=True would let the compiler delete them.
SAFE_MATH = {"reassoc", "contract", "arcp", "nsz", "afn"}

# numba's disk cache fails on read-only installs and races between processes, so it is asked for.
CACHE = os.environ.get("CONDMASK_CACHE", "0") == "1"


def kernel(function=None, *, fastmath=False, inline="never"):
    """Compile on first call; release the GIL; divide like NumPy (inf, never an exception)."""

    def compile_(f):
        return numba.njit(nogil=True, error_model="numpy", cache=CACHE, fastmath=fastmath, inline=inline)(f)

    return compile_ if function is None else compile_(function)
