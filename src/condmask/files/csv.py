"""CSV files: numbers out of some columns, other numbers into their place, every other byte as it was."""

import contextlib
import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from condmask import _checks
from condmask.files.atomic import Output
from condmask.files.published import read_beside
from condmask.files.table import Rows
from condmask.kernels.csv_scan import AFTER_QUOTE, TOO_FEW, TOO_MANY, find_fields, splice

CHUNK = 1 << 23
LONGEST = 1 << 26  # a record; a quote left open must not bring the whole file into memory
MISSING = {b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL"}
BOM = b"\xef\xbb\xbf"
FAULTS = {
    TOO_FEW: "too few fields",
    TOO_MANY: "too many fields",
    AFTER_QUOTE: "text after a closing quote",
}


class CsvFile:
    """The columns of a CSV file; `names` are those of its header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._header = _first_record(file)
        if not self._header.strip():
            raise ValueError(f"{path} is empty: it has no header")
        text = self._header.removeprefix(BOM).decode("utf-8").rstrip("\r\n")
        outside = "".join(text.split('"')[::2])  # quoted names may hold delimiters
        self._delimiter = max(",;\t", key=outside.count)
        try:
            self.names = next(csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter))
        except csv.Error as error:
            raise ValueError(f"{path} has a header that is no line of CSV: {error}") from None

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left in the file beside this one."""
        return read_beside(self.path)

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers and their kind, for some thousand rows at a time."""
        row = 0
        for text, starts, stops in self._records(names):
            yield {
                name: (_numbers(_fields(text, starts[:, k], stops[:, k]), name, row), "float64")
                for k, name in enumerate(names)
            }
            row += len(starts)

    def labels(self, name: str) -> Iterator[tuple[np.ndarray, list[str]]]:
        """A column as text, in codes and the distinct values they stand for."""
        for text, starts, stops in self._records([name]):
            known: dict[bytes, int] = {}
            fields = _fields(text, starts[:, 0], stops[:, 0])
            code = np.array([known.setdefault(field, len(known)) for field in fields], dtype=np.int64)
            yield code, [field.decode().replace('""', '"') for field in known]

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their fields; those of missing values stay as they are."""
        target.write(self._header)
        columns = rows.columns
        names = sorted(columns, key=self.names.index)
        for text, starts, stops in self._records(names, tail=True):
            values = rows.take(len(starts))
            keep = np.isnan(np.stack([values[name] for name in names], axis=1))
            rendered = [_texts(values[name], columns[name][1]) for name in names]
            texts = [field for row in zip(*rendered, strict=True) for field in row]
            fields = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
            ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
            out = np.empty(len(text) + fields.size, dtype=np.uint8)
            buffer = np.frombuffer(text, dtype=np.uint8)
            length = splice(buffer, starts.ravel(), stops.ravel(), keep.ravel(), fields, ends, out)
            target.write(out[:length].data)

    def _records(
        self, names: list[str], *, tail: bool = False
    ) -> Iterator[tuple[bytes, np.ndarray, np.ndarray]]:
        """Runs of whole records: their bytes, and the bounds of the wanted fields in them."""
        columns = np.array([self.names.index(name) for name in names], dtype=np.int64)
        order = np.argsort(columns)
        back = np.argsort(order)
        seen, rest = 0, b""
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            while True:
                read = file.read(CHUNK)
                text = rest + read
                # a last record without a line break ends with the file
                lent = not read and text != b"" and not text.endswith(b"\n")
                scanned = text + b"\n" if lent else text
                if not scanned:
                    return
                bounds = np.empty((2, scanned.count(b"\n"), len(names)), dtype=np.int64)
                buffer = np.frombuffer(scanned, dtype=np.uint8)
                count, taken, fault = find_fields(
                    buffer, ord(self._delimiter), len(self.names), columns[order], *bounds
                )
                if fault:
                    raise ValueError(f"{self.path} has {FAULTS[fault]} in record {seen + count + 1}")
                if len(scanned) - taken > (LONGEST if read else 0):
                    what = (
                        f"a record of more than {LONGEST >> 20} MB"
                        if read
                        else "a quoted field that never ends"
                    )
                    raise ValueError(f"{self.path} has {what}, after record {seen + count}")
                rest = b"" if lent else text[taken:]
                if count or (tail and taken):
                    starts, stops = bounds[:, :count, back]
                    yield text[: min(taken, len(text))], starts, stops
                seen += count
                if not read:
                    return


def _texts(z: np.ndarray, decimals: int | None) -> list[str]:
    """How masked values are written: fixed decimals, or the shortest text that reads back the same."""
    if decimals is None:
        return list(map(repr, z.tolist()))
    if decimals > 0:
        return [f"{v:.{decimals}f}" for v in z.tolist()]
    return ["" if v != v else str(int(v)) for v in z.tolist()]


def _fields(text: bytes, starts: np.ndarray, stops: np.ndarray) -> list[bytes]:
    return [text[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]


def _numbers(fields: list[bytes], name: str, row: int) -> np.ndarray:
    """The numbers of a part of a column that begins at this row of the file."""
    values = None
    if b"_" not in b"".join(fields):  # Python takes 1_000 for a number
        with contextlib.suppress(ValueError):
            values = np.array([float(field) for field in fields])
    if values is None:
        found = [_number(field) for field in fields]
        if None in found:
            raise TypeError(f"{name} must be numeric, got text at position {row + found.index(None)}")
        values = np.array(found, dtype=np.float64)
    large = np.flatnonzero((np.abs(values) >= _checks.LARGEST_EXACT_INTEGER) & np.isfinite(values)).tolist()
    for k in large:
        if fields[k].strip().lstrip(b"+-").isdigit():
            _checks.exact_integers(np.array([int(fields[k])], dtype=object), name, [row + k])
    return values


def _number(field: bytes) -> float | None:
    """NaN where a value is missing, None for text."""
    if field.strip() in MISSING:
        return math.nan
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _first_record(file: IO[bytes]) -> bytes:
    """The header, which may hold line breaks within quotes."""
    header = file.readline()
    while header.count(b'"') % 2:
        line = file.readline()
        if not line:
            break
        header += line
    return header
