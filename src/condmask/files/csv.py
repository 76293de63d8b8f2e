"""CSV files: numbers out of some columns, other numbers into their place, every other byte as it was."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import Workers, ordered_map
from condmask.files import csv_numbers, quoting
from condmask.files.atomic import Output
from condmask.files.csv_format import CsvFormat, Dialect, not_encoded, opened, packed, read_bytes
from condmask.files.csv_numbers import Fields, NumberError, Words
from condmask.files.formats import Part, Rows
from condmask.files.metadata import read_beside, sidecar
from condmask.kernels.csv_numbers import CLEAR_COMMA, CLEAR_DOT, COMMA, DOT, SHORTEST, number_labels
from condmask.kernels.csv_scan import AFTER_QUOTE, TOO_FEW, TOO_MANY, find_fields, splice

CHUNK = 1 << 23
FIRST = 1_000  # records that tell the decimal mark of a column of whole numbers
LONGEST = 1 << 26  # a record; a quote left open must not bring the whole file into memory
FAULTS = {
    TOO_FEW: "too few fields",
    TOO_MANY: "too many fields",
    AFTER_QUOTE: "text after a closing quote",
}
UNSURE = (
    "must show what its {mark} is, got numbers such as 1{mark}234 alone, some thousand or some ones; "
    'decimal="{mark}" (--decimal {mark}) says it parts decimals, and thousands separators have to go'
)


class Records(NamedTuple):
    """A run of whole records: their bytes, the bounds of the wanted fields, and their place in the file."""

    text: bytes
    starts: np.ndarray
    stops: np.ndarray
    offset: int
    row: int

    def fields(self, k: int) -> Fields:
        return Fields(self.text, self.starts[:, k], self.stops[:, k])


class CsvFile:
    """The columns of a CSV file; `names` are those of its header."""

    def __init__(self, path: Path, form: CsvFormat | None = None, workers: Workers = 1) -> None:
        self.path = path
        self.dialect = Dialect.of(path, (form or CsvFormat()).or_else(self._said()))
        self.names = self.dialect.names
        self._decimal = self.dialect.decimal
        self._shapes: dict[str, int] = {}
        self._words = Words([self.dialect.encode(word) for word in self.dialect.na])
        self._head: bytes | None = None  # the text of the first records, once it was read
        self._workers = workers if isinstance(workers, int) else 1  # what is mapped cannot travel

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left in the file beside this one."""
        return read_beside(self.path)

    def _said(self) -> dict[str, Any]:
        """How the file is written, where it was masked."""
        beside = sidecar(self.path)
        assert beside is not None  # a file of text has no room for it
        try:
            said = json.loads(beside.read_text())["csv"]
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return said if isinstance(said, dict) else {}

    @property
    def description(self) -> dict[str, Any]:
        """How the file is written, in terms of JSON: what reading it again takes."""
        said = self.dialect
        return {
            "csv": {
                "delimiter": said.delimiter,
                "decimal": self._decimal or ".",
                "encoding": said.encoding,
                "na": list(said.na),
            }
        }

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers with their kind, and labels as text, for some thousand rows at a time."""
        records = self._records([*names, *labels])
        first = next(records, None)
        if first is None:
            return
        decimal, marks = self._decimal or self._hint(), 0

        def read(part: Records) -> tuple[list[tuple[np.ndarray, int, int]], list[Any]]:
            numbers = [self._numbers(part, k, name, decimal) for k, name in enumerate(names)]
            return (
                [(*column, self._shapes_of(part, k, column[0])) for k, column in enumerate(numbers)],
                [self._labels(part, len(names) + k) for k in range(len(labels))],
            )

        for numbers, codes in ordered_map(read, chain([first], records), self._workers):
            for name, (_, some, shapes) in zip(names, numbers, strict=True):
                marks |= some
                self._shapes[name] = self._shapes.get(name, 0) | shapes
            if decimal is None and marks & DOT and marks & COMMA:
                self._refuse_the_other(names)
            yield Part(
                {name: (values, "float64") for name, (values, *_) in zip(names, numbers, strict=True)},
                dict(zip(labels, codes, strict=True)),
            )
        if decimal is None and names:
            decimal = "," if marks & COMMA else "."
            if (marks & DOT and not marks & CLEAR_DOT) or (marks & COMMA and not marks & CLEAR_COMMA):
                raise ValueError(f"{' and '.join(names)} {UNSURE.format(mark=decimal)}")
        self._decimal = decimal

    def sample(self, names: Sequence[str], rows: int) -> dict[str, np.ndarray]:
        """The numbers of the first rows, by column; columns of anything else are left out."""
        decimal, sample = self._decimal or self._hint(), {}
        for k, fields in self._first_fields([self.names.index(name) for name in names], rows):
            with contextlib.suppress(NumberError):
                values, marks = csv_numbers.read(fields, decimal, self._words)
                if decimal is not None or not (marks & DOT and marks & COMMA):
                    sample[self.names[k]] = values
        return sample

    def records(self) -> Iterator[Records]:
        """Runs of whole records, with the fields of all columns."""
        yield from self._scan(list(range(len(self.names))), tail=False)

    @property
    def words(self) -> list[str]:
        """What stands for a missing value."""
        return [*csv_numbers.BUILT_IN, *self.dialect.na]

    @property
    def decimal(self) -> str:
        """The decimal mark, once numbers were read."""
        return self._decimal or "."

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their fields; those of missing values stay as they are.

        Numbers of which only some stood in quotes, or after a blank, are written without.
        """
        columns = rows.columns
        names = sorted(columns, key=self.names.index)
        decimals = [columns[name][1] for name in names]
        places = np.array([SHORTEST if each is None else max(each, 0) for each in decimals], dtype=np.int64)
        nulls = [k for k, name in enumerate(names) if name in rows.nulls]
        if nulls and len(self.names) == 1:
            raise ValueError(
                'missing_as must be "code" in a file of one column, where a null would be an empty line'
            )
        decimal = self._decimal or "."
        quoted = decimal == self.dialect.delimiter
        mixed = [k for k, name in enumerate(names) if not quoting.alike(self._shapes.get(name, 0))]

        def masked() -> Iterator[tuple[Records, np.ndarray]]:
            for part in self._records(names, tail=True):
                values = rows.take(len(part.starts))
                yield part, np.stack([values[name] for name in names], axis=1, dtype=np.float64)

        def rewritten(task: tuple[Records, np.ndarray]) -> memoryview:
            part, values = task
            keep = np.isnan(values)
            for k in nulls:  # words that mean a missing value stay, codes go
                keep[:, k] &= np.isnan(self._numbers(part, k, names[k], self._decimal)[0])
            fields, ends = csv_numbers.write(values, places, decimal)
            added = int(ends[-1]) if ends.size else 0
            out = np.empty(len(part.text) + added + 2 * ends.size * quoted, dtype=np.uint8)
            for k in mixed:
                part.starts[:, k], part.stops[:, k] = quoting.whole(part.fields(k), blank=self.dialect.blank)
            starts, stops = part.starts.ravel(), part.stops.ravel()
            buffer = np.frombuffer(part.text, dtype=np.uint8)
            length = splice(buffer, starts, stops, keep.ravel(), quoted, fields, ends, out)
            return out[:length].data

        written = packed(target, self.path, self.dialect.encoding)
        written.write(self.dialect.header)
        for text in ordered_map(rewritten, masked(), self._workers):
            written.write(text)
        written.close()

    def line_of(self, row: int) -> int:
        """The line of the file in which a record begins."""
        for part in self._records([self.names[0]]):
            if row < part.row + len(part.starts):
                return self._line(part.offset + int(part.starts[row - part.row, 0]))
        raise IndexError(row)

    def _numbers(self, part: Records, k: int, name: str, decimal: str | None) -> tuple[np.ndarray, int]:
        try:
            return csv_numbers.read(part.fields(k), decimal, self._words)
        except NumberError as error:
            line = self._line(part.offset + int(part.starts[error.at, k]))
            raise (ValueError if "2^53" in error.why else TypeError)(
                f"{name} {error.why} in line {line}"
            ) from None

    def _shapes_of(self, part: Records, k: int, values: np.ndarray) -> int:
        return quoting.shapes(part.fields(k), ~np.isnan(values), blank=self.dialect.blank)

    def _refuse_the_other(self, names: Sequence[str]) -> None:
        """Name the first number that has another mark than the first of all."""
        decimal: str | None = None
        for part in self._records(names):
            for row in range(len(part.starts)) if decimal is None else ():
                one = part._replace(starts=part.starts[row : row + 1], stops=part.stops[row : row + 1])
                for k, name in enumerate(names):
                    seen = self._numbers(one, k, name, decimal)[1]
                    if decimal is None and seen:
                        decimal = "," if seen & COMMA else "."
                if decimal is not None:
                    break
            for k, name in enumerate(names):
                self._numbers(part, k, name, decimal)

    def _hint(self) -> str | None:
        """A comma where the first numbers of all columns say so: whole ones must get their mark too."""
        if self._decimal is not None:
            return self._decimal
        marks = 0
        for _, fields in self._first_fields(list(range(len(self.names))), FIRST):
            with contextlib.suppress(NumberError):
                marks |= csv_numbers.read(fields, None, self._words)[1]
        return "," if marks & CLEAR_COMMA and not marks & DOT else None

    def _first_fields(self, columns: list[int], rows: int) -> Iterator[tuple[int, Fields]]:
        """The fields of the first records, column by column, without columns that have text after a quote."""
        if self._head is None:
            next(self._scan([0], tail=False), None)
        text = self._head or b""
        starts, stops, _, fault = self._find(text, columns, rows)
        if fault != AFTER_QUOTE:
            yield from ((column, Fields(text, starts[:, k], stops[:, k])) for k, column in enumerate(columns))
        elif len(columns) > 1:
            for column in columns:
                yield from self._first_fields([column], rows)

    def _labels(self, part: Records, k: int) -> tuple[np.ndarray, list[str]]:
        """Fields as codes and the distinct texts that they stand for."""
        fields = part.fields(k)
        starts, stops = np.ascontiguousarray(fields.starts), np.ascontiguousarray(fields.stops)
        code, first = np.empty((2, starts.size), dtype=np.int64)
        table = np.full(2 << max(1, starts.size).bit_length(), -1, dtype=np.int64)
        count = number_labels(fields.buffer, starts, stops, table, code, first)
        distinct: list[str] = []
        try:
            for field in fields.at(first[:count]):
                distinct.append(self.dialect.decode(field))
        except UnicodeDecodeError:
            line = self._line(part.offset + int(starts[first[len(distinct)]]))
            raise not_encoded(self.path, self.dialect.encoding, line) from None
        return code, distinct

    def _line(self, offset: int) -> int:
        """The line in which a byte stands; looked for only when something is wrong with it."""
        line = 1
        with opened(self.path, self.dialect.encoding) as file:
            while offset > 0:
                part = file.read(min(offset, CHUNK))
                if not part:
                    break
                line += part[:offset].count(b"\n")
                offset -= len(part)
        return line

    def _records(self, names: Sequence[str], *, tail: bool = False) -> Iterator[Records]:
        yield from self._scan([self.names.index(name) for name in names], tail=tail)

    def _scan(self, wanted: list[int], *, tail: bool) -> Iterator[Records]:
        """Runs of whole records; the text of the first run is kept."""
        said = self.dialect
        seen, rest, offset = 0, b"", len(said.header)
        with opened(self.path, said.encoding) as file:
            read_bytes(self.path, file, len(said.header))
            while True:
                read = read_bytes(self.path, file, CHUNK)
                text = rest + read
                # a last record without a line break ends with the file
                lent = not read and text != b"" and not text.endswith(b"\n")
                scanned = text + b"\n" if lent else text
                if not scanned:
                    return
                starts, stops, taken, fault = self._find(scanned, wanted, len(scanned))
                if fault:
                    raise ValueError(f"{self.path} has {FAULTS[fault]} in line {self._line(offset + taken)}")
                if len(scanned) - taken > (LONGEST if read else 0):
                    what = (
                        f"a record of more than {LONGEST >> 20} MB"
                        if read
                        else "a quoted field that never ends"
                    )
                    raise ValueError(f"{self.path} has {what}, from line {self._line(offset + taken)} on")
                rest = b"" if lent else text[taken:]
                whole = text[: min(taken, len(text))]
                if len(starts) and self._head is None:
                    self._head = scanned if lent else whole
                if len(starts) or (tail and taken):
                    yield Records(whole, starts, stops, offset, seen)
                seen += len(starts)
                offset += taken
                if not read:
                    return

    def _find(self, text: bytes, wanted: list[int], most: int) -> tuple[np.ndarray, np.ndarray, int, int]:
        """The bounds of the wanted fields of so many records, the bytes these take, and what is wrong with
        the next one."""
        columns = np.array(wanted, dtype=np.int64)
        order = np.argsort(columns)
        most = min(most, len(text) // len(self.names))  # a record has as many bytes as fields, at least
        bounds = np.empty((2, most, len(wanted)), dtype=np.int64)
        count, taken, fault = find_fields(
            np.frombuffer(text, dtype=np.uint8), ord(self.dialect.delimiter), self.dialect.blank,
            len(self.names), columns[order], *bounds,
        )  # fmt: skip
        starts, stops = bounds[:, :count, np.argsort(order)]
        return starts, stops, taken, fault
