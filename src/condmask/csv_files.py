"""CSV files: numbers out of some columns, other numbers into their place, every other byte as it was."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from condmask.kernels.fields import find_fields

CHUNK = 1 << 23
MISSING = {b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL"}
BOM = b"\xef\xbb\xbf"


class CsvFile:
    """The columns of a CSV file; `names` are those of its header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._header = _first_record(file)
        if not self._header.strip():
            raise ValueError(f"{path} is empty: it has no header")
        text = self._header.removeprefix(BOM).decode("utf-8").rstrip("\r\n")
        self._delimiter = max(",;\t", key=text.count)
        self.names = next(csv.reader(io.StringIO(text), delimiter=self._delimiter))

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers and their kind, for some thousand rows at a time."""
        for text, starts, stops in self._records(names):
            yield {
                name: _numbers([text[a:b] for a, b in zip(starts[:, k], stops[:, k], strict=True)], name)
                for k, name in enumerate(names)
            }

    def labels(self, name: str) -> Iterator[np.ndarray]:
        """A column as text."""
        for text, starts, stops in self._records([name]):
            yield np.array([text[a:b].decode() for a, b in zip(starts[:, 0], stops[:, 0], strict=True)])

    def rewrite(
        self,
        target: IO[bytes],
        names: list[str],
        render: dict[str, Callable[[np.ndarray], list[bytes]]],
        take: Callable[[int], dict[str, np.ndarray]],
    ) -> None:
        """Copy the file with the fields of ``names`` replaced by what ``take`` hands out row by row."""
        target.write(self._header)
        position = np.argsort([self.names.index(name) for name in names])
        for text, starts, stops in self._records(names, tail=True):
            values = take(len(starts))
            texts = [render[name](values[name]) for name in names]
            pieces: list[bytes] = []
            done = 0
            for row in range(len(starts)):
                for k in position:
                    a, b = starts[row, k], stops[row, k]
                    field = text[a:b]
                    if field.strip() not in MISSING:
                        pieces += (text[done:a], texts[k][row])
                        done = b
            pieces.append(text[done:])
            target.write(b"".join(pieces))

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
                count, taken, short = find_fields(buffer, ord(self._delimiter), columns[order], *bounds)
                if short >= 0:
                    raise ValueError(f"{self.path} has too few fields in record {seen + short + 1}")
                if not read and taken < len(scanned):
                    raise ValueError(
                        f"{self.path} has a quoted field that never ends, after record {seen + count}"
                    )
                rest = b"" if lent else text[taken:]
                if count or (tail and taken):
                    starts, stops = bounds[:, :count, back]
                    yield text[: min(taken, len(text))], starts, stops
                seen += count
                if not read:
                    return


def render_numbers(decimals: int | None, kind: str) -> Callable[[np.ndarray], list[bytes]]:
    """How masked values are written: the shortest text that reads back the same, or fixed decimals."""
    if decimals is None:
        cast = np.float32 if kind == "float32" else np.float64
        return lambda z: [repr(v).encode() for v in z.astype(cast).tolist()]
    if decimals > 0:
        return lambda z: [f"{v:.{decimals}f}".encode() for v in z.tolist()]
    return lambda z: [b"%d" % v if v == v else b"" for v in z.tolist()]


def _numbers(fields: list[bytes], name: str) -> tuple[np.ndarray, str]:
    stripped = [field.strip() for field in fields]
    whole = not set(b"".join(stripped)) - set(b"0123456789+-")
    try:
        values = [float(field) for field in stripped]
    except ValueError:
        values = [np.nan if field in MISSING else _number(field, name) for field in stripped]
    return np.array(values), "int" if whole else "float64"


def _number(field: bytes, name: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise TypeError(f"{name} must be numeric, got {field.decode(errors='replace')!r}") from None


def _first_record(file: IO[bytes]) -> bytes:
    """The header, which may hold line breaks within quotes."""
    header = file.readline()
    while header.count(b'"') % 2:
        line = file.readline()
        if not line:
            break
        header += line
    return header


def kind_of(kinds: set[str]) -> str:
    """What a column holds, from what its chunks hold."""
    return kinds.pop() if len(kinds) == 1 else "float64"
