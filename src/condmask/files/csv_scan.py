"""The records of a CSV file, some megabytes at a time, with the bounds of their fields."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from condmask.files.csv_format import Dialect
from condmask.files.recoding import open_utf8, read_bytes
from condmask.kernels.csv_scan import AFTER_QUOTE, TOO_FEW, TOO_MANY, find_fields

CHUNK = 1 << 23
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

    def fields(self, k: int) -> Fields:
        """The k-th of the wanted fields, of all records."""
        return Fields(self.text, self.starts[:, k], self.stops[:, k])


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
                raise ValueError(f"{path} has {FAULTS[fault]} in line {line}")
            if len(scanned) - size > (LONGEST if read else 0):
                line = line_at(path, dialect, offset + size)
                record = f"a record of more than {LONGEST >> 20} MB"
                endless = record if read else "a quoted field that never ends"
                raise ValueError(f"{path} has {endless}, from line {line} on")
            rest = b"" if unended else text[size:]
            if len(starts) or (tail and size):
                yield Records(text[: min(size, len(text))], starts, stops, offset, row)
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
    """The line in which a byte stands; looked for only when something is wrong with it."""
    line = 1
    with open_utf8(path, dialect.encoding) as file:
        while offset > 0:
            part = file.read(min(offset, CHUNK))
            if not part:
                break
            line += part[:offset].count(b"\n")
            offset -= len(part)
    return line
