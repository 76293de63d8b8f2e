"""Converting a file of one format into another."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from condmask.errors import ArgumentError
from condmask.files.arrow import ArrowFile
from condmask.files.atomic import Fingerprint, Output
from condmask.files.batches import write_batches
from condmask.files.csv import CsvFile
from condmask.files.csv_format import not_encoded
from condmask.files.csv_scan import CHUNK, line_at, scan
from condmask.files.csv_texts import decoded
from condmask.files.formats import ROOMY, Part, Rows, Sample, Table, format_of
from condmask.files.recoding import open_utf8, read_bytes, working
from condmask.strata import names_of

BLOCK, ROOM = 1 << 20, 4  # bytes that pyarrow reads at once, and how many of the longest record fit there
# what a column of text is taken for, if all of it is: 007 is no number, and 1e999 none that can be held
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"


class Converted:
    """A table whose copy has another format than its file."""

    def __init__(self, table: Table) -> None:
        self.original = table
        self.path: Path = table.path
        self.names = table.names

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking published with the file."""
        return self.original.metadata()

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers and labels, as the file has them."""
        return self.original.parts(names, labels)

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the file."""
        return self.original.sample(names, rows)

    @property
    def rows(self) -> int | None:
        """The number of rows, if it is known."""
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
        """A copy is written in the usual way."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write all columns in the format of the target."""
        schema: Any
        batches: Iterable[Any]
        keep: tuple[str, ...] = ()
        if isinstance(self.original, ArrowFile):
            one = format_of(target.final) == "Arrow"
            batches = _with_one_dictionary(self.original) if one else self.original.batches()
            schema, keep = self.original.schema, self.original.kept
        else:
            assert isinstance(self.original, CsvFile)
            masked, texts = set(rows.columns), text_reader(self.original)
            strata = [scheme.get("strata") for scheme in metadata["columns"].values()]
            if format_of(target.final) in ROOMY or self.original.decimal == ",":
                labels = {name for names in strata for name in names_of(names)}
                schema = typed(self.original, texts(), masked, labels)
            else:  # text stays text, digit by digit
                types = [pa.float64() if name in masked else pa.string() for name in self.names]
                schema = pa.schema(list(zip(self.names, types, strict=True)))
            batches = (_typed(batch, schema, self.original, masked) for batch in texts())
        write_batches(self.path, schema, batches, target, rows, metadata, keep)


def _with_one_dictionary(table: ArrowFile) -> Iterator[Any]:
    """The batches of a file, in which a column has one dictionary, as it must in an Arrow file."""
    names = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    if len(set(table.names)) < len(table.names) or not names:
        yield from table.batches()
        return
    shared: dict[str, Any] = {}
    for batch in table.batches(names):
        for name in names:
            own = batch.column(name).dictionary
            shared[name] = pc.unique(pa.concat_arrays([shared.get(name, own), own]))
    for batch in table.batches():
        for name in names:
            k, column = table.names.index(name), batch.column(name)
            places = pc.index_in(column.dictionary, shared[name]).take(column.indices)
            places = places.cast(column.type.index_type)
            coded = pa.DictionaryArray.from_arrays(places, shared[name], ordered=column.type.ordered)
            batch = batch.set_column(k, batch.schema.field(k), coded)
        yield batch


def typed(table: CsvFile, texts: Iterable[Any], masked: set[str], strata: Collection[str]) -> Any:
    """The types of the columns of a text file, from all of its `texts`: text unless all are numbers.

    Labels of strata stay text where two of them, 1 and 1.0, or NA and nothing, would become one.
    """
    if len(set(table.names)) < len(table.names):
        raise ArgumentError(f"{table.path} must name each column once, so that it can get types")
    types = {name: pa.float64() if name in masked else pa.int64() for name in table.names}
    for batch in texts:
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
    """A batch of text in these types; of masked columns, which the table itself reads, only codes."""
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
    """Text with nulls for the words for missing values, and points for decimal commas."""
    trimmed = pc.utf8_trim_whitespace(column)
    text = pc.if_else(pc.is_in(trimmed, pa.array(table.words)), pa.scalar(None, pa.string()), trimmed)
    return pc.replace_substring(text, ",", ".", max_replacements=1) if table.decimal == "," else text


def text_reader(table: CsvFile) -> Callable[[], Iterator[Any]]:
    """A function that reads all columns as text, repeatedly; how is found from the beginning of the file."""
    longest = 0
    for part in scan(table.path, table.dialect, [0]):
        if table.dialect.blank or _alone(part.text):  # pyarrow would part fields there
            return partial(_refusing, table, _texts_of_records)
        longest = max(longest, int(np.diff(part.starts[:, 0], append=len(part.text)).max(initial=0)))
    block = min(max(ROOM * longest, BLOCK), CHUNK)
    return partial(_refusing, table, partial(_texts_of_pyarrow, block=block))


def _refusing(table: CsvFile, read: Callable[[CsvFile], Iterator[Any]]) -> Iterator[Any]:
    try:
        yield from read(table)
    except (UnicodeDecodeError, pa.ArrowInvalid):  # whose message may show a record
        _check_encoding(table)
        raise ArgumentError(
            f"{table.path} must hold records of at most {CHUNK >> 20} MB to become a file of another format"
        ) from None


def _alone(text: bytes) -> bool:
    """Whether there are carriage returns other than before line feeds."""
    return text.count(b"\r") > text.count(b"\r\n")


def _texts_of_pyarrow(table: CsvFile, block: int) -> Iterator[Any]:
    """Blocks of so many bytes, some of which pyarrow holds at a time."""
    dialect, places = table.dialect, list(map(str, range(len(table.names))))  # names need not differ
    encoding = working(dialect.encoding)
    with open_utf8(table.path, dialect.encoding) as file:
        read_bytes(table.path, file, len(dialect.header))
        reader = csv.open_csv(
            pa.PythonFile(file, mode="r"),
            csv.ReadOptions(use_threads=False, block_size=block, column_names=places, encoding=encoding),
            csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            csv.ConvertOptions(column_types=dict.fromkeys(places, pa.string())),
        )
        for batch in reader:
            yield batch.rename_columns(table.names)


def _texts_of_records(table: CsvFile) -> Iterator[Any]:
    for part in table.records():
        encoding = working(table.dialect.encoding)
        texts = (decoded(part.fields(k), encoding) for k in range(len(table.names)))
        columns = [pa.array(column, pa.string()) for column in texts]
        yield pa.RecordBatch.from_arrays(columns, names=table.names)


def _check_encoding(table: CsvFile) -> None:
    """Refuse bytes that are not text, naming their line."""
    for part in table.records():
        try:
            table.dialect.decode(part.text)
        except UnicodeDecodeError as error:
            line = line_at(table.path, table.dialect, part.offset + error.start)
            raise not_encoded(table.path, table.dialect.encoding, line) from None
