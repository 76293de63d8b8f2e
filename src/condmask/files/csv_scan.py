"""The records of a CSV file, some megabytes at a time, with the bounds of their fields."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from condmask.errors import ArgumentError
from condmask.files.csv_format import Dialect
from condmask.files.recoding import open_utf8, read_bytes
from condmask.kernels.csv_scan import AFTER_QUOTE, QUOTE, TOO_FEW, TOO_MANY, find_fields

CHUNK = 1 << 23
STRETCH, MOST_STRETCHES = 1 << 18, 32  # bytes that are kept of a run, and of so many runs
LONGEST = 1 << 26  # a record; a quote left open must not bring the whole file into memory
FAULTS = {
    TOO_FEW: "too few fields",
    TOO_MANY: "too many fields",
    AFTER_QUOTE: "text after a closing quote",
}


class Fields(NamedTuple):
    """Some fields of a text, by their bounds."""

    text: bytes
    starts: np.ndarray
    stops: np.ndarray

    @property
    def buffer(self) -> np.ndarray:
        return np.frombuffer(self.text, dtype=np.uint8)

    @property
    def quoted(self) -> np.ndarray:
        """Which of them stand in quotes."""
        if not len(self.text):
            return np.zeros(self.starts.size, dtype=bool)
        before = self.buffer[np.maximum(self.starts - 1, 0)]
        return np.asarray((self.starts > 0) & (before == QUOTE))

    def some(self, which: np.ndarray) -> Self:
        """Some of them."""
        return self._replace(starts=self.starts[which], stops=self.stops[which])

    def at(self, which: np.ndarray) -> list[bytes]:
        """The bytes of these fields."""
        return [
            self.text[a:b]
            for a, b in zip(self.starts[which].tolist(), self.stops[which].tolist(), strict=True)
        ]


class Records(NamedTuple):
    """A run of whole records: their bytes, the bounds of the wanted fields, and their place in the file."""

    text: bytes
    starts: np.ndarray
    stops: np.ndarray
    offset: int
    row: int
    path: Path

    def fields(self, k: int) -> Fields:
        """The k-th of the wanted fields, of all records."""
        return Fields(self.text, self.starts[:, k], self.stops[:, k])


class Stretch(NamedTuple):
    """The number of whole records at the start of a text; the first is this row of the file."""

    row: int
    records: int
    text: bytes


class Stretches:
    """The first run of a file as it is read, and the beginnings of evenly spaced other runs.

    Where they become too many, every other one goes, and only every other one of those that come is kept.
    """

    def __init__(self) -> None:
        self.kept: list[Stretch] = []
        self._every, self._runs, self._rows = 1, 0, 0

    def add(self, part: Records) -> None:
        """Keep the required part of a run, the first time it is read."""
        if part.row < self._rows or not len(part.starts):
            return
        if self._runs % self._every == 0:
            self.kept.append(_stretch(part, STRETCH if self._runs else len(part.text)))
        if len(self.kept) > MOST_STRETCHES:
            self.kept, self._every = self.kept[::2], 2 * self._every
        self._runs, self._rows = self._runs + 1, part.row + len(part.starts)


def _stretch(part: Records, size: int) -> Stretch:
    """The whole records in the first bytes of a run."""
    if len(part.text) <= size:
        text = part.text if part.text.endswith(b"\n") else part.text + b"\n"
        return Stretch(part.row, len(part.starts), text)
    begun = int(np.searchsorted(part.starts[:, 0], size, side="right"))
    return Stretch(part.row, max(0, begun - 1), part.text[:size])


def scan(path: Path, dialect: Dialect, wanted: list[int], *, tail: bool = False) -> Iterator[Records]:
    """Runs of whole records; with ``tail`` also what follows the last one."""
    width = len(dialect.names)
    row, rest, offset = 0, b"", len(dialect.header)
    with open_utf8(path, dialect.encoding) as file:
        read_bytes(path, file, len(dialect.header))
        while True:
            read = read_bytes(path, file, CHUNK)
            text = rest + read
            # a last record without a line break ends with the file
            unended = not read and text != b"" and not text.endswith(b"\n")
            scanned = text + b"\n" if unended else text
            if not scanned:
                return
            starts, stops, size, fault = find(scanned, dialect, wanted, len(scanned) // width)
            if fault:
                line = line_at(path, dialect, offset + size)
                raise ArgumentError(f"{path} has {FAULTS[fault]} in line {line}")
            if len(scanned) - size > (LONGEST if read else 0):
                line = line_at(path, dialect, offset + size)
                record = f"a record of more than {LONGEST >> 20} MB"
                endless = record if read else "a quoted field that never ends"
                raise ArgumentError(f"{path} has {endless}, from line {line} on")
            rest = b"" if unended else text[size:]
            if len(starts) or (tail and size):
                yield Records(text[: min(size, len(text))], starts, stops, offset, row, path)
            row += len(starts)
            offset += size
            if not read:
                return


def find(
    text: bytes, dialect: Dialect, wanted: list[int], most: int
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The bounds of the wanted fields of at most so many records, the bytes that these take, and the fault of
    the next one, 0 if it has none."""
    columns = np.array(wanted, dtype=np.int64)
    order = np.argsort(columns)
    width = len(dialect.names)
    # a record has as many bytes as fields, at least
    bounds = np.empty((2, min(most, len(text) // width), len(wanted)), dtype=np.int64)
    buffer = np.frombuffer(text, dtype=np.uint8)
    count, size, fault = find_fields(
        buffer, ord(dialect.delimiter), dialect.blank, width, columns[order], *bounds
    )
    starts, stops = bounds[:, :count, np.argsort(order)]
    return starts, stops, size, fault


def line_at(path: Path, dialect: Dialect, offset: int) -> int:
    """The line of a byte, found only when something is wrong with it."""
    line = 1
    with open_utf8(path, dialect.encoding) as file:
        while offset > 0:
            part = file.read(min(offset, CHUNK))
            if not part:
                break
            line += part[:offset].count(b"\n")
            offset -= len(part)
    return line
