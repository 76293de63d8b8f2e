"""How every kernel is compiled, decided once."""

import functools

# Flags that keep tests for NaN and inf alive; fastmath=True would let the compiler delete them.
SAFE_MATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


def kernel(function=None, **options):
    """Compile on first call; release the GIL; divide like NumPy (inf, never an exception)."""
    return (
        functools.partial(Kernel, **options) if function is None else Kernel(function, **options)
    )


class Kernel:
    """A function that numba compiles, and that imports numba when it is first called: that takes
    200 ms."""

    def __init__(self, function, **options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = {"nogil": True, "error_model": "numpy", **options}

    @functools.cache  # noqa: B019 (kernels stay)
    def _dispatcher(self):
        from numba import njit

        try:
            return njit(cache=True, **self._options)(self.py_func)
        except RuntimeError:  # no folder in which machine code can be kept
            return njit(**self._options)(self.py_func)

    def __call__(self, *args):
        return self._dispatcher()(*args)

    def __getattr__(self, name):
        """What numba asks a callee for, and what a dispatcher can tell."""
        return getattr(self._dispatcher(), name)

    def __reduce__(self):
        return self.__qualname__
