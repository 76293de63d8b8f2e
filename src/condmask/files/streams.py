"""Streams in the place of files: standard input and output.

A table is read several times, and a release is whole before any of it is out. So what a stream brought, or is
to get, is kept in a temporary file without a name. Within the process it goes by a path that no file of data
can have, for lack of a suffix.
"""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import IO

INPUT, OUTPUT = Path("standard input"), Path("standard output")


def nameless(buffering: int = -1) -> IO[bytes]:
    """A temporary file without a name."""
    return tempfile.TemporaryFile(prefix="condmask-", buffering=buffering)  # mode 0600


class Stream:
    """A stream that stands for a file; `kept` is None until somebody reads or writes it.

    Parameters
    ----------
    fill : callable, optional
        What there is to read, in a file without a name.
    """

    def __init__(self, fill: Callable[[], IO[bytes]] | None = None) -> None:
        self.kept: IO[bytes] | None = None
        self._fill = fill
        self._lock = Lock()

    def status(self) -> os.stat_result | None:
        """That of the file that keeps it; None where nothing was written yet."""
        with self._lock:
            if self.kept is None and self._fill is not None:
                self.kept = self._fill()
        return None if self.kept is None else os.fstat(self.kept.fileno())

    def open(self) -> io.BufferedReader:
        """All of it, from the beginning, however many read it at a time."""
        self.status()
        return io.BufferedReader(_Reader(self), 1 << 17)

    def close(self) -> None:
        """The file goes."""
        if self.kept is not None:
            self.kept.close()

    def read_at(self, position: int, buffer: memoryview) -> int:
        """Some of it, from a position on, into a buffer; how many bytes."""
        assert self.kept is not None
        with self._lock:
            self.kept.seek(position)
            return self.kept.readinto(buffer)  # type: ignore[attr-defined, no-any-return]


class _Reader(io.RawIOBase):
    """A reader with a place of its own."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._position = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        count = self._stream.read_at(self._position, buffer)
        self._position += count
        return count


OPENED: dict[Path, Stream] = {}
SCHEMES: dict[Path, Path] = {}  # where what was published with data lies, if not in or beside them
