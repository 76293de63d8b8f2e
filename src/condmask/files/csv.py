"""CSV files: read numbers from some columns and replace them; every other byte stays unchanged."""

import contextlib
import json
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import Workers, in_stretches, ordered_map
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files import csv_numbers, quoting
from condmask.files.arrow_types import values_of
from condmask.files.atomic import Fingerprint, Output, fingerprint
from condmask.files.csv_format import CsvFormat, Dialect, not_encoded
from condmask.files.csv_numbers import (
    CLEAR_COMMA,
    CLEAR_DOT,
    COMMA,
    DOT,
    SHORTEST,
    NumberError,
    Words,
    first_mark,
)
from condmask.files.csv_scan import Fields, Records, Stretch, Stretches, find, line_at, scan
from condmask.files.csv_texts import as_bytes, decoded, texts_of, undoubled
from condmask.files.formats import Part, Rows, Sample
from condmask.files.metadata import read_beside, sidecar
from condmask.files.recoding import compressed_writer, working
from condmask.kernels.csv_scan import AFTER_QUOTE, splice

FIRST = 1_000  # records that tell the decimal mark of a column of whole numbers
UNSURE = (
    "must show what its {mark} means, got only numbers such as 1{mark}234, thousands or decimals; "
    'for decimals pass decimal="{mark}" (--decimal {mark}); thousands separators must be removed'
)


class CsvFile:
    """The columns of a CSV file; `names` are those of its header."""

    def __init__(self, path: Path, form: CsvFormat | None = None, workers: Workers = 1) -> None:
        self.path = path
        self.dialect = Dialect.of(path, (form or CsvFormat()).or_else(self._published_format()))
        self.names = self.dialect.names
        self._decimal = self.dialect.decimal
        self._styles: dict[str, int] = {}
        self._words = Words([self.dialect.encode(word) for word in self.dialect.na])
        self._stretches = Stretches()
        self._workers = workers if isinstance(workers, int) else 1  # what is mapped cannot travel

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking published in the file beside this one."""
        return read_beside(self.path)

    @property
    def rows(self) -> int | None:
        """Unknown: a text file does not say."""
        return None

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """That of the file."""
        return {self.path: fingerprint(self.path)}

    def notes(self) -> list[str]:
        """Text has none."""
        return []

    def keep(self, notes: Collection[str]) -> None:
        """Text has no notes to keep."""
        if notes:
            raise ArgumentError(
                f"keep_metadata must be left out for a text file, which has no metadata, got {notes!r}"
            )

    def _published_format(self) -> dict[str, Any]:
        """How the file is written, if that was published beside it when it was masked."""
        beside = sidecar(self.path)
        if beside is None:
            return {}
        try:
            published = json.loads(beside.read_text(encoding="utf-8"))["csv"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return published if isinstance(published, dict) else {}

    @property
    def description(self) -> dict[str, Any]:
        """How the file is written, as JSON, for reading it again."""
        return {
            "csv": {
                "delimiter": self.dialect.delimiter,
                "decimal": self.decimal,
                "encoding": self.dialect.encoding,
                "na": list(self.dialect.na),
            }
        }

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers with their kind, and labels as text, for some thousand rows at a time."""
        records = self._records([*names, *labels])
        first = next(records, None)
        if first is None:
            return
        decimal, marks = self._likely_decimal(), 0

        def read(part: Records) -> tuple[list[tuple[np.ndarray, int, int]], list[Any]]:
            numbers = [self._numbers(part, k, name, decimal) for k, name in enumerate(names)]
            return (
                [(*column, self._quoting(part, k, column[0])) for k, column in enumerate(numbers)],
                [self._labels(part, len(names) + k) for k in range(len(labels))],
            )

        for numbers, codes in ordered_map(read, chain([first], records), self._workers):
            for name, (_, marks_here, styles) in zip(names, numbers, strict=True):
                marks |= marks_here
                self._styles[name] = self._styles.get(name, 0) | styles
            if decimal is None and marks & DOT and marks & COMMA:
                self._refuse_the_other(names)
            yield Part(
                {name: (values, "float64") for name, (values, *_) in zip(names, numbers, strict=True)},
                dict(zip(labels, codes, strict=True)),
            )
        if decimal is None and names:
            decimal = "," if marks & COMMA else "."
            if (marks & DOT and not marks & CLEAR_DOT) or (marks & COMMA and not marks & CLEAR_COMMA):
                raise ArgumentError(f"{' and '.join(names)} {UNSURE.format(mark=decimal)}")
        self._decimal = decimal

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the file; columns that have text after a quote are left out."""
        columns, stretches = [self.names.index(name) for name in names], self._stretches_kept()
        most = -(-rows.size // len(stretches))
        places = [in_stretches(stretch.records, most) for stretch in stretches]
        texts = [
            {k: fields.some(place) for k, fields in self._fields_of(stretch.text, columns, stretch.records)}
            for stretch, place in zip(stretches, places, strict=True)
        ]
        read = {self.names[k]: self._plain([text.get(k) for text in texts]) for k in columns}
        return Sample(
            np.concatenate([stretch.row + place for stretch, place in zip(stretches, places, strict=True)]),
            {name: values for name, values in read.items() if values is not None},
        )

    def _plain(self, stretches: list[Fields | None]) -> np.ndarray | None:
        """A column in some stretches, as numbers if all are, else as texts; None if it cannot be read.

        An audit looks at texts in another encoding, too: which records have one in common is what tells.
        """
        fields_of_all = [fields for fields in stretches if fields is not None]
        if len(fields_of_all) < len(stretches):
            return None
        decimal = self._likely_decimal()
        with contextlib.suppress(NumberError):
            read = [csv_numbers.read(fields, decimal, self._words) for fields in fields_of_all]
            marks = np.bitwise_or.reduce([marks for _, marks in read])
            if decimal is not None or not (marks & DOT and marks & COMMA):
                return np.concatenate([values for values, _ in read])
        encoding = working(self.dialect.encoding)
        texts = (decoded(fields, encoding, "backslashreplace", self._words) for fields in fields_of_all)
        return np.array(list(chain.from_iterable(texts)), dtype=object)

    def records(self) -> Iterator[Records]:
        """Runs of whole records, with the fields of all columns."""
        return self._scan(list(range(len(self.names))))

    @property
    def words(self) -> list[str]:
        """The words for a missing value."""
        return [*csv_numbers.BUILT_IN, *self.dialect.na]

    @property
    def decimal(self) -> str:
        """The decimal mark, once numbers were read."""
        return self._decimal or "."

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their fields; fields of missing values stay unchanged.

        Numbers of which only some stood in quotes, or after a blank, are written without.
        """
        columns = rows.columns
        names = sorted(columns, key=self.names.index)
        fixed = [columns[name][1] for name in names]
        places = np.array([SHORTEST if k is None else max(k, 0) for k in fixed], dtype=np.int64)
        nulls = [k for k, name in enumerate(names) if name in rows.nulls]
        if nulls and len(self.names) == 1:
            raise ArgumentError(
                'missing_as must be "code" in a file of one column, where a null would be an empty line'
            )
        decimal, blank = self.decimal, self.dialect.blank
        quoted = decimal == self.dialect.delimiter
        mixed = [k for k, name in enumerate(names) if not quoting.uniform(self._styles.get(name, 0))]

        def masked() -> Iterator[tuple[Records, np.ndarray]]:
            for part in self._records(names, tail=True):
                values = rows.take(len(part.starts))
                yield part, np.stack([values[name] for name in names], axis=1, dtype=np.float64)

        def rewritten(task: tuple[Records, np.ndarray]) -> memoryview:
            part, values = task
            keep = np.isnan(values)
            for k in nulls:  # words that mean a missing value stay, codes go
                keep[:, k] &= np.isnan(self._numbers(part, k, names[k], self._decimal)[0])
            texts, begins, ends = csv_numbers.write(values, places, decimal)
            out = np.empty(len(part.text) + len(texts) + 2 * ends.size * quoted, dtype=np.uint8)
            for k in mixed:
                part.starts[:, k], part.stops[:, k] = quoting.outer_bounds(part.fields(k), blank=blank)
            starts, stops = part.starts.ravel(), part.stops.ravel()
            text, fields = (np.frombuffer(one, dtype=np.uint8) for one in (part.text, texts))
            length = splice(
                text, starts, stops, keep.ravel(), quoted, fields, begins.ravel(), ends.ravel(), out
            )
            return out[:length].data

        written = compressed_writer(target, target.final, self.dialect.encoding)
        written.write(self.dialect.header)
        for text in ordered_map(rewritten, masked(), self._workers):
            written.write(text)
        written.close()

    def place_of(self, row: int) -> str:
        """The line of the file in which a record begins."""
        for part in self._records([self.names[0]]):
            if row < part.row + len(part.starts):
                return f"in {self._line(part, int(part.starts[row - part.row, 0]))}"
        raise IndexError(row)

    def _numbers(self, part: Records, k: int, name: str, decimal: str | None) -> tuple[np.ndarray, int]:
        try:
            return csv_numbers.read(part.fields(k), decimal, self._words)
        except NumberError as error:
            line = self._line(part, int(part.starts[error.at, k]))
            raise (ArgumentError if "2^53" in error.why else ArgumentTypeError)(
                f"{name} {error.why} in {line}"
            ) from None

    def _quoting(self, part: Records, k: int, values: np.ndarray) -> int:
        """The styles of quoting of the numbers of a column."""
        return quoting.styles(part.fields(k), ~np.isnan(values), blank=self.dialect.blank)

    def _refuse_the_other(self, names: Sequence[str]) -> None:
        """Name the first number with another mark than the first of all."""
        decimal: str | None = None
        for part in self._records(names):
            decimal = decimal or first_mark([part.fields(k) for k in range(len(names))], self._words)
            for k, name in enumerate(names):
                self._numbers(part, k, name, decimal)

    def _likely_decimal(self) -> str | None:
        """The decimal mark if it is known, or a comma if the first numbers of all columns have one: whole
        numbers must get the mark of their neighbours."""
        if self._decimal is not None:
            return self._decimal
        marks = 0
        for stretch in self._stretches_kept()[:1]:
            for _, fields in self._fields_of(stretch.text, list(range(len(self.names))), FIRST):
                with contextlib.suppress(NumberError):
                    marks |= csv_numbers.read(fields, None, self._words)[1]
        return "," if marks & CLEAR_COMMA and not marks & DOT else None

    def _stretches_kept(self) -> list[Stretch]:
        """What is kept of the file: the first run, and stretches of others as far as it was read."""
        if not self._stretches.kept:
            next(self._records(self.names[:1]), None)
        return self._stretches.kept

    def _fields_of(self, text: bytes, columns: list[int], rows: int) -> Iterator[tuple[int, Fields]]:
        """The fields of the first records, column by column, without columns that have text after a quote."""
        starts, stops, _, fault = find(text, self.dialect, columns, rows)
        if fault != AFTER_QUOTE:
            yield from ((column, Fields(text, starts[:, k], stops[:, k])) for k, column in enumerate(columns))
        elif len(columns) > 1:
            for column in columns:
                yield from self._fields_of(text, [column], rows)

    def _labels(self, part: Records, k: int) -> tuple[np.ndarray, list[str]]:
        """Fields as codes, and the distinct texts of these."""
        fields = part.fields(k)
        coded = texts_of(fields).dictionary_encode()
        code = values_of(coded.indices, np.int32).astype(np.int64)
        distinct: list[str] = []
        try:
            for field in as_bytes(coded.dictionary):
                distinct.append(self.dialect.decode(field))
        except UnicodeDecodeError:
            row = int(np.argmax(code == len(distinct)))
            line = line_at(part.path, self.dialect, part.offset + int(part.starts[row, k]))
            raise not_encoded(part.path, self.dialect.encoding, line) from None
        return undoubled(code, distinct, fields)

    def _records(self, names: Sequence[str], *, tail: bool = False) -> Iterator[Records]:
        """Runs of whole records with the fields of these columns; stretches of them are kept."""
        for part in self._scan([self.names.index(name) for name in names], tail=tail):
            self._stretches.add(part)
            yield part

    def _scan(self, wanted: list[int], *, tail: bool = False) -> Iterator[Records]:
        return scan(self.path, self.dialect, wanted, tail=tail)

    def _line(self, part: Records, at: int) -> str:
        """The place of a byte of a run."""
        return f"line {line_at(part.path, self.dialect, part.offset + at)}"
