"""Compiled kernels, kept on disk between runs.

They lie in the user's cache folder, in a folder named by all that machine code depends on: the versions of
what compiles it, numba's settings, and the text of every kernel. A file there holds one kernel for one
signature and processor; it appears whole, and says what it is and what its bytes add up to.

numba's own cache will not do: its index of a kernel's signatures can lose a race between two processes, and
one of them is then given machine code of the other's signature; it looks at the file of a kernel, not at
those of the kernels that it calls; and it fails where nothing can be written. Here a file that is missing,
damaged or not the user's means to compile, and one that cannot be written to compile again the next time.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from condmask._log import logger

LOG = logger(__name__)
HERE = Path(__file__).parent
KEPT = 8  # folders: other environments on this machine, other states of a checkout
SEVERAL = 2  # kernels that take no time worth a word
HARMLESS = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")  # of numba's settings, those that change no code


_compiled = count()


class KernelCache:
    """Asked by numba for machine code before it compiles a kernel, and handed it afterwards."""

    cache_path = None

    def __init__(self, function: Any) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            from numba.core.compiler import CompileResult
            from numba.core.runtime import rtsys  # type: ignore[attr-defined]

            # not refresh(), which is for compiling: it imports all that numba knows, for .4 s
            rtsys.initialize(target_context)
            key, path = self._place(sig, target_context)
            with open(path, "rb") as file:
                content = file.read() if _private(os.fstat(file.fileno())) else b""
            if hashlib.sha256(content[32:]).digest() == content[:32]:
                stored_key, compiled = pickle.loads(content[32:])
                return CompileResult._rebuild(target_context, *compiled) if stored_key == key else None
        except Exception:  # whatever is wrong with it, the kernel can be compiled
            pass
        if next(_compiled) == SEVERAL:
            LOG.warning("compiling, once on this machine: about a minute")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        from numba.core.serialize import dumps

        if data.library.has_dynamic_globals:  # addresses in this process
            return
        with contextlib.suppress(Exception):  # the kernel runs, kept or not
            key, path = self._place(sig, data.target_context)
            body = dumps((key, data._reduce()))
            handle, part = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(body).digest() + body)
                os.replace(part, path)
            except BaseException:
                os.unlink(part)
                raise

    def flush(self) -> None:
        """Nothing: what is asked for again is kept again."""

    def _place(self, types: tuple[Any, ...], target_context: Any) -> tuple[Any, Path]:
        """What tells this machine code from all other in the folder, and its file."""
        processor = target_context.codegen().magic_tuple()
        key = (self._name, types, [_layout(one) for one in types], processor)
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        where = folder()
        if where is None or _stamps() != STAMPS:  # edited since this process read them
            raise FileNotFoundError
        return key, where / f"{self._name}-{digest[:32]}"


@lru_cache(maxsize=1)
def folder() -> Path | None:
    """Where this process keeps its kernels; None, or an exception, where it can keep none."""
    if os.environ.get("CONDMASK_CACHE") == "0" or TEXTS is None:
        return None
    ours = _base() / "condmask"
    path = ours / f"kernels-{_name()}"
    ours.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    for one in (ours, path):
        one.mkdir(mode=0o700, exist_ok=True)
        if not _private(one.lstat()):
            return None
    with contextlib.suppress(OSError):  # a folder that can only be read serves too
        os.utime(path)  # in use
        if new:
            _forget(ours)
    return path


def _base() -> Path:
    from numba import config

    if config.CACHE_DIR:  # type: ignore[attr-defined]
        return Path(config.CACHE_DIR).absolute()  # type: ignore[attr-defined]
    given = Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "")
    return given if given.is_absolute() else Path.home() / ".cache"


def _name() -> str:
    """Versions to read, and a digest of all that changes the code of a kernel."""
    import llvmlite  # type: ignore[import-untyped]
    import numba
    import numpy

    versions = [
        sys.implementation.cache_tag,
        *(f"{m.__name__}{m.__version__}" for m in (numba, llvmlite, numpy)),
    ]
    settings = sorted(
        pair for pair in os.environ.items() if pair[0].startswith("NUMBA_") and pair[0] not in HARMLESS
    )
    digest = hashlib.sha256(repr((sys.version, settings, TEXTS)).encode()).hexdigest()
    return "-".join([*map(str, versions), digest[:16]])


def _kernel_texts() -> str | None:
    """A digest of the text of every kernel and of how they are compiled; None where none can be read."""
    try:
        texts = [(str(path.relative_to(HERE)), path.read_bytes()) for path in _paths()]
    except OSError:
        return None
    return hashlib.sha256(repr(texts).encode()).hexdigest()


def _paths() -> list[Path]:
    return [HERE / "_jit.py", *sorted((HERE / "kernels").rglob("*.py"))]


def _stamps() -> list[tuple[int, ...]] | None:
    """What changes with each of these files; reading all of them for every kernel would take longer."""
    try:
        stats = [path.stat() for path in _paths()]
    except OSError:
        return None
    return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in stats]


def _layout(one: Any) -> Any:
    """The names of a structure's fields, which numba's name for its type leaves out."""
    return getattr(one, "fields", None), [_layout(part) for part in getattr(one, "types", ())]


def _private(status: os.stat_result) -> bool:
    """Whether nobody else, root aside, can have written there: machine code runs as it is."""
    if not hasattr(os, "getuid"):  # Windows: the user's folders are the user's
        return True
    return status.st_uid in (0, os.getuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _forget(ours: Path) -> None:
    """Remove the folders that were not used for the longest time."""
    folders = [one for one in ours.glob("kernels-*") if one.is_dir() and not one.is_symlink()]
    for old in sorted(folders, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


STAMPS = _stamps()  # before the texts: an edit in between is seen
TEXTS = _kernel_texts()
