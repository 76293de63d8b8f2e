"""How every kernel is compiled, decided once."""

import functools
import types

from condmask._interrupts import answering
from condmask._kernel_cache import KernelCache
from condmask.errors import MissingPackageError

# Flags that keep tests for NaN and inf alive; fastmath=True would let the compiler delete them.
SAFE_MATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


def kernel(function=None, *, fastmath=False, inline="never", short=False):
    """Compile on first call; release the GIL; divide like NumPy (inf, never an exception).

    A short one takes little time whatever the length of its arrays, of which callers have it look at a part.
    """
    if function is None:
        return functools.partial(Kernel, fastmath=fastmath, inline=inline, short=short)
    return Kernel(function, fastmath=fastmath, inline=inline, short=short)


class Kernel:
    """A function that numba compiles, and that imports numba when it is first called: that takes 200 ms."""

    def __init__(self, function, *, short, **options):
        functools.update_wrapper(self, function)
        self.py_func, self.short, self._options = function, short, options

    @functools.cached_property
    def _dispatcher(self):
        import numba

        made = numba.njit(nogil=True, error_model="numpy", **self._options)(self.py_func)
        # what stands elsewhere is not in the name of the folder
        if self.__module__.startswith("condmask.kernels.") and "<locals>" not in self.__qualname__:
            made._cache = KernelCache(self.py_func)
        return made

    def __call__(self, *args):
        return self._dispatcher(*args) if self.short else answering(self._dispatcher, *args)

    def __get__(self, instance, owner=None):
        """Bind the kernel as functions are bound; what documents functions looks for it."""
        return self if instance is None else types.MethodType(self, instance)

    @property
    def _numba_type_(self):
        """What numba asks a callee for."""
        return self._dispatcher._numba_type_

    def __getattr__(self, name):
        if name == "_dispatcher":  # looked for here where importing numba raised an AttributeError
            raise MissingPackageError("numba cannot be imported: python -c 'import numba' says why")
        return getattr(self._dispatcher, name)

    def __reduce__(self):
        return self.__qualname__
