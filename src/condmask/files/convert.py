"""A file of one format on its way into one of another."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from condmask.errors import ArgumentError
from condmask.files.arrow import ArrowFile, line
from condmask.files.atomic import Fingerprint, Output
from condmask.files.batches import write_batches
from condmask.files.csv import CsvFile
from condmask.files.csv_format import not_encoded
from condmask.files.csv_scan import Records, line_at
from condmask.files.formats import ROOMY, Part, Rows, Sample, Table, format_of
from condmask.strata import names_of

# what a column of text is taken for, if all of it is: 007 is no number, and 1e999 none that can be held
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
ASCII = 127
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"


class Converted:
    """A table whose copy has another format than its file."""

    def __init__(self, table: Table) -> None:
        self.original = table
        self.path: Path = table.path
        self.names = table.names

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left with the file."""
        return self.original.metadata()

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers and labels, as the file has them."""
        return self.original.parts(names, labels)

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the file."""
        return self.original.sample(names, rows)

    @property
    def rows(self) -> int | None:
        """How many rows the file has, where that is known."""
        return self.original.rows

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """Those of the file."""
        return self.original.fingerprints()

    def notes(self) -> list[str]:
        """The names of notes on the file and its columns that a copy leaves out."""
        return self.original.notes()

    def keep(self, notes: Collection[str]) -> None:
        """Keep notes of these names in a copy."""
        self.original.keep(notes)

    @property
    def description(self) -> dict[str, Any]:
        """A copy is written as files mostly are."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write all columns in the format of the target."""
        schema: Any
        batches: Iterable[Any]
        keep: tuple[str, ...] = ()
        if isinstance(self.original, ArrowFile):
            schema, batches, keep = self.original.schema, self.original.batches(), self.original.kept
        else:
            assert isinstance(self.original, CsvFile)
            masked = set(rows.columns)
            strata = [scheme.get("strata") for scheme in metadata["columns"].values()]
            if format_of(target.final) in ROOMY or self.original.decimal == ",":
                schema = typed(self.original, masked, {name for names in strata for name in names_of(names)})
            else:  # text stays text, digit by digit
                types = [pa.float64() if name in masked else pa.string() for name in self.names]
                schema = pa.schema(list(zip(self.names, types, strict=True)))
            batches = (_typed(batch, schema, self.original, masked) for batch in _texts(self.original))
        try:
            write_batches(schema, batches, target, rows, metadata, keep)
        except pa.ArrowException as error:  # a type that the target has not
            raise ArgumentError(
                f"{self.path} cannot become {target.final.name}: {line(error)}; drop or cast that column"
            ) from error


def typed(table: CsvFile, masked: set[str], strata: Collection[str]) -> Any:
    """The types of the columns of a file of text, by all of their fields: text unless all are numbers.

    Labels of strata stay text where two of them, 1 and 1.0, or NA and nothing, would become one.
    """
    if len(set(table.names)) < len(table.names):
        raise ArgumentError(f"{table.path} must name each column once, so that it can get types")
    types = {name: pa.float64() if name in masked else pa.int64() for name in table.names}
    for batch in _texts(table):
        for name, column in zip(table.names, batch.columns, strict=True):
            if name in masked:
                continue
            if name in strata:
                types[name] = types[name] if _all(column, WHOLE) else pa.string()
                continue
            present = pc.drop_null(_with_points(column, table))
            for dtype, pattern in ((pa.int64(), WHOLE), (pa.float64(), NUMBER)):
                if types[name] == dtype and not _all(present, pattern):
                    types[name] = pa.float64() if dtype == pa.int64() else pa.string()
    return pa.schema(list(types.items()))


def _all(column: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _typed(batch: Any, schema: Any, table: CsvFile, masked: set[str]) -> Any:
    """A batch of text in these types; of masked columns, which the table itself reads, codes alone."""
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if not pa.types.is_string(field.type):
            column = _with_points(column, table)
            if field.name in masked:
                is_number = pc.match_substring_regex(column, NUMBER)
                column = pc.if_else(is_number, column, pa.scalar(None, pa.string()))
            column = column.cast(field.type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _with_points(column: Any, table: CsvFile) -> Any:
    """Text with nulls for the words that mean a missing value, and points for decimal commas."""
    trimmed = pc.utf8_trim_whitespace(column)
    text = pc.if_else(pc.is_in(trimmed, pa.array(table.words)), pa.scalar(None, pa.string()), trimmed)
    return pc.replace_substring(text, ",", ".", max_replacements=1) if table.decimal == "," else text


def _texts(table: CsvFile) -> Iterator[Any]:
    """All columns as text."""
    for part in table.records():
        columns = [_text(table, part, k) for k in range(len(table.names))]
        yield pa.RecordBatch.from_arrays(columns, names=table.names)


def _text(table: CsvFile, part: Records, k: int) -> Any:
    """A column of a run of records, its bytes taken together."""
    starts, lengths = part.starts[:, k], part.stops[:, k] - part.starts[:, k]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    content = part.fields(k).buffer[np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])]
    text = pa.Array.from_buffers(
        pa.string(), len(starts), [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(content)]
    )
    if (content > ASCII).any() and not (table.dialect.encoding == "utf-8" and _sound(text)):
        return pa.array(_decoded(table, part, k), pa.string())
    return pc.replace_substring(text, '""', '"') if b'""' in part.text else text


def _sound(text: Any) -> bool:
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decoded(table: CsvFile, part: Records, k: int) -> list[str]:
    """The fields of a column one by one, in the encoding of the file."""
    texts: list[str] = []
    try:
        for field in part.fields(k).at(np.arange(len(part.starts))):
            texts.append(table.dialect.decode(field))
    except UnicodeDecodeError:
        line = line_at(table.path, table.dialect, part.offset + int(part.starts[len(texts), k]))
        raise not_encoded(table.path, table.dialect.encoding, line) from None
    return texts
