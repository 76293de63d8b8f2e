"""Compiles every kernel with the same options, decided here once.

numba keeps machine code on disk and recompiles a function when its own file has changed, but not
when a function that it calls in another file has. So the name of the machine code contains a
digest of all source files of the folder: after any edit, all kernels are compiled again.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, cast, overload

# Flags that keep tests for NaN and inf alive; fastmath=True would let the compiler delete them.
SAFE_MATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
DIGEST_BYTES = 6  # few, since Windows limits the length of paths


@overload
def kernel(function: Callable[..., Any]) -> "Kernel": ...
@overload
def kernel(**options: Any) -> Callable[[Callable[..., Any]], "Kernel"]: ...
def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile on first call; release the GIL; divide like NumPy (inf, never an exception)."""
    if function is None:
        return functools.partial(Kernel, **options)
    return Kernel(function, **options)


class Kernel:
    """Wraps a function that numba compiles on its first call.

    Importing numba takes 200 ms, so it waits for that call, too.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func: Callable[..., Any] = function
        self.options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}

    @functools.cache  # noqa: B019 (kernels stay)
    def _dispatcher(self) -> Any:
        from numba import njit

        function = with_source_digest(cast(FunctionType, self.py_func))
        try:
            return njit(cache=True, **self.options)(function)
        except RuntimeError:  # no folder in which machine code can be kept
            return njit(**self.options)(function)

    def __call__(self, *args: Any) -> Any:
        return self._dispatcher()(*args)

    def __getattr__(self, name: str) -> Any:
        """Look up on numba's dispatcher whatever callers in compiled code need of a callee."""
        return getattr(self._dispatcher(), name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)


def with_source_digest(function: FunctionType) -> FunctionType:
    """Return a copy of a function whose qualified name, by which numba names the files of its
    machine code, ends in a digest of the sources beside it."""
    file = Path(function.__code__.co_filename)
    named = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    digest = source_digest(file.parent) if file.is_file() else "no_file"
    named.__qualname__ = f"{function.__qualname__}_{digest}"
    return named


@functools.cache
def source_digest(folder: Path) -> str:
    """Return a digest, in hexadecimal, of the Python files of a folder and of this one."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for file in [*sorted(folder.glob("*.py")), Path(__file__)]:
        source = file.read_bytes()
        digest.update(f"{file.name} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()
