"""Opening a file of data to read it: at once, only if it is an ordinary file, and the same one every time.

Files are read and not mapped into memory: whoever looks at a map of a file that somebody else cuts short is
killed by the system. What fails while a file is read is said of this file, not of the one that is written
meanwhile.
"""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from condmask.files.atomic import FileError, Fingerprint, fingerprint_of, reason

KINDS = {
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}  # fmt: skip


class SourceFile(io.FileIO):
    """An ordinary file, open for reading.

    Parameters
    ----------
    path : Path
    before : tuple, optional
        Its fingerprint when it was opened first; it is refused if it was changed since.
    """

    def __init__(self, path: Path, before: Fingerprint = None) -> None:
        self._path = path
        with self._errors():
            _refuse_others(path, os.stat(path))  # to open a device may set it going
            super().__init__(path, opener=_at_once)
            try:
                status = os.fstat(self.fileno())
                _refuse_others(path, status)  # than the one that was there
                if before is not None and fingerprint_of(status) != before:
                    raise FileError(f"{path} changed while it was read")
            except FileError:
                self.close()
                raise

    def readinto(self, buffer: Any) -> int:
        with self._errors():
            return super().readinto(buffer) or 0

    def exactly(self, size: int) -> memoryview:
        """So many bytes; refused if the file ends before."""
        if size > os.fstat(self.fileno()).st_size - self.tell():
            raise self._too_short()
        content = memoryview(np.empty(size, np.uint8))  # type: ignore[arg-type]
        rest = content
        while rest:
            count = self.readinto(rest)
            if count == 0:
                raise self._too_short()
            rest = rest[count:]
        return content.toreadonly()

    def _too_short(self) -> FileError:
        return FileError(f"{self._path} cannot be read: it is damaged, or was truncated meanwhile")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the operating system, as one sentence that names the file."""
        try:
            yield
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{self._path}: {reason(error)}") from error


def _at_once(path: str, flags: int) -> int:
    """A descriptor, without waiting for somebody to write to a pipe that has taken the name since."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor


def _refuse_others(path: Path, status: os.stat_result) -> None:
    """Refuse what is no ordinary file: it cannot be read twice, or not to its end."""
    if stat.S_ISREG(status.st_mode):
        return
    kind = KINDS.get(stat.S_IFMT(status.st_mode), "something else")
    raise FileError(f"{path} must be an ordinary file, got {kind}")
