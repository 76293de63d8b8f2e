"""From one format to another: every column by way of Arrow, masked ones with their new values.

Text has no types. Those of a CSV file are decided over the whole of it, and where there is a doubt a column
stays text: numbers with leading zeros or signs that a number has no need of are somebody's codes.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from condmask.files.arrow import ArrowFile, line
from condmask.files.arrow_schema import released_schema
from condmask.files.arrow_types import plain, plain_type, released, released_type
from condmask.files.atomic import Output
from condmask.files.csv import CsvFile
from condmask.files.csv_numbers import BUILT_IN
from condmask.files.dialect import packed
from condmask.files.parquet import MOST_ROWS
from condmask.files.table import ROOMY, Rows, Table, format_of
from condmask.strata import names_of

WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TEXT, TYPES = pa.large_string(), ((WHOLE, pa.int64()), (NUMBER, pa.float64()), (DATE, pa.date32()))
NESTED = "list", "struct", "map", "union", "binary"


class Converted:
    """A table on its way into a file of another format."""

    def __init__(self, table: Table, target: Path) -> None:
        assert isinstance(table, ArrowFile | CsvFile)
        self.path, self.table, self._format = table.path, table, format_of(target)
        self._roomy = self._format in ROOMY
        self._delimiter = "\t" if self._format.startswith("TSV") else ","
        if isinstance(table, ArrowFile) and not self._roomy:
            for field in table.schema:
                dtype = plain_type(field.type)
                if any(word in str(dtype).split("<")[0] for word in NESTED):
                    raise ValueError(f"{field.name} must not be {dtype} in a file of text; drop it first")
        if isinstance(table, CsvFile) and self._roomy and len(set(table.names)) < len(table.names):
            raise ValueError(f"{table.path} must name each column once to be converted")

    @property
    def description(self) -> dict[str, Any]:
        """How the target is written, in terms of JSON."""
        if self._roomy:
            return {}
        words = list(self.table.dialect.na) if isinstance(self.table, CsvFile) else []
        return {"csv": {"delimiter": self._delimiter, "decimal": ".", "encoding": "utf-8", "na": words}}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write the file with the masked rows in their columns."""
        try:
            self._rewrite(target, rows, metadata)
        except pa.ArrowException as error:
            raise ValueError(f"{self.path} cannot be converted to {self._format}: {line(error)}") from error

    def _rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        groups = {name for entry in metadata["columns"].values() for name in names_of(entry.get("strata"))}
        schema = (
            self.table.schema
            if isinstance(self.table, ArrowFile)
            else _decided(self.table, groups)
            if self._roomy
            else pa.schema([(name, TEXT) for name in self.table.names])
        )
        types = {}
        for name, (kind, decimals) in rows.columns.items():
            types[name] = released_type(schema.field(name).type, kind, decimals)
            if isinstance(self.table, CsvFile) or not self._roomy:
                types[name] = self._type_of_text(types[name], decimals)
        batches = self.table.batches() if isinstance(self.table, ArrowFile) else _typed(self.table, schema)
        written = released_schema(schema, types, metadata, nulls=set(types))
        made = (self._made(batch, rows, types, written) for batch in batches)
        if self._format == "Parquet":
            _write_parquet(target, written, made)
        elif self._format == "Arrow":
            with pa.ipc.new_file(target, written) as writer:
                for batch in made:
                    writer.write_batch(batch)
        else:
            self._write_text(target, written, made)

    def _made(self, batch: Any, rows: Rows, types: dict[str, Any], schema: Any) -> Any:
        """A batch as it is written."""
        masked, arrays = rows.take(batch.num_rows), []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name in types:
                z, decimals = masked[name], rows.columns[name][1]
                cells = _cells(column, np.isnan(z), types[name])
                arrays.append(
                    released(z, cells, types[name], name, decimals=decimals, nulls=name in rows.nulls)
                )
            else:
                arrays.append(column)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _type_of_text(self, dtype: Any, decimals: int | None) -> Any:
        """What masked values from text, or for text, are written as: here with the scheme's decimals."""
        if decimals is None or pa.types.is_integer(dtype):
            return dtype
        if decimals <= 0:
            return pa.int64()
        return dtype if self._roomy else pa.decimal128(38, decimals)

    def _write_text(self, target: Output, schema: Any, batches: Iterator[Any]) -> None:
        out = packed(target, target.final, "utf-8")
        options = {"delimiter": self._delimiter, "quoting_style": "needed"}
        header = True
        for batch in _and_none(batches, schema):
            columns = [plain(column) for column in batch.columns]
            table = pa.Table.from_arrays(columns, names=batch.schema.names)
            sink = pa.BufferOutputStream()
            pa.csv.write_csv(table, sink, pa.csv.WriteOptions(include_header=header, **options))
            out.write(sink.getvalue().to_pybytes())
            header = False
        out.close()


def _and_none(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """An empty batch first, with which the names are written even if there is no other."""
    yield pa.RecordBatch.from_arrays([pa.nulls(0, dtype) for dtype in schema.types], schema=schema)
    yield from batches


def _write_parquet(target: Output, schema: Any, batches: Iterator[Any]) -> None:
    held: list[Any] = []
    with pq.ParquetWriter(target, schema) as writer:
        for batch in batches:
            held.append(batch)
            if sum(part.num_rows for part in held) >= MOST_ROWS:
                writer.write_table(pa.Table.from_batches(held), row_group_size=MOST_ROWS)
                held = []
        writer.write_table(pa.Table.from_batches(held, schema), row_group_size=MOST_ROWS)


def _cells(column: Any, missing: np.ndarray, dtype: Any) -> Any:
    """The cells that stay where a masked value is missing, as a type; what is no number becomes null."""
    if not missing.any():
        return column
    column = plain(column)
    where = pa.Array.from_buffers(
        pa.bool_(), missing.size, [None, pa.py_buffer(np.packbits(missing, bitorder="little"))]
    )
    if column.type == TEXT:
        where = pc.and_(where, pc.match_substring_regex(column, NUMBER))
    elif pa.types.is_floating(column.type) and not pa.types.is_floating(dtype):
        where = pc.and_(where, pc.invert(pc.is_nan(column)))
    return pc.if_else(where, column, pa.nulls(len(column), column.type)).cast(dtype, safe=False)


def _decided(table: CsvFile, groups: Collection[str]) -> Any:
    """The types of the columns of a CSV file, by all of it.

    Those of `groups` become no type that two of their texts could be one value of.
    """
    possible = {name: list(TYPES) for name in table.names}
    seen = set()
    for texts in _texts(table):
        for name, text in zip(table.names, texts, strict=True):
            if name in groups:
                possible[name] = [each for each in possible[name] if each[1] != pa.float64()]
            else:
                text = _numeric(_known(table, text), table)
            if text.null_count < len(text):
                seen.add(name)
            possible[name] = [each for each in possible[name] if _holds(text, *each)]
    fields = []
    for name in table.names:
        fields.append(pa.field(name, possible[name][0][1] if possible[name] and name in seen else TEXT))
    return pa.schema(fields)


def _typed(table: CsvFile, schema: Any) -> Iterator[Any]:
    """The records of a CSV file, as these types."""
    for texts in _texts(table):
        columns = [
            text if dtype == TEXT else _numeric(_known(table, text), table).cast(dtype)
            for text, dtype in zip(texts, schema.types, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _holds(text: Any, pattern: str, dtype: Any) -> bool:
    """Whether all texts that are there are of a type."""
    fits = pc.match_substring_regex(text, pattern)
    if fits.true_count + text.null_count < len(text):
        return False
    try:
        text.cast(dtype)
    except pa.ArrowInvalid:  # 2023-02-30
        return False
    return True


def _known(table: CsvFile, text: Any) -> Any:
    """Texts with null for the words that mean a missing value."""
    words = pa.array([*BUILT_IN, *table.dialect.na], text.type)
    return pc.if_else(pc.is_in(text, value_set=words), pa.nulls(len(text), text.type), text)


def _numeric(text: Any, table: CsvFile) -> Any:
    """Texts of numbers with a decimal point."""
    return pc.replace_substring(text, ",", ".") if table.decimal == "," else text


def _texts(table: CsvFile) -> Iterator[list[Any]]:
    """Runs of records as columns of text."""
    for part in table.records(table.names):
        yield [_text(table, part, k) for k in range(len(table.names))]


def _text(table: CsvFile, part: Any, k: int) -> Any:
    """A column of a run of records."""
    starts, lengths = part.starts[:, k], part.stops[:, k] - part.starts[:, k]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    content = np.frombuffer(part.text, dtype=np.uint8)[places]
    if not table.dialect.encoding.startswith("utf") and (content > 127).any():
        fields = [content[a:b].tobytes() for a, b in pairwise(ends)]
        return pa.array([table.dialect.decode(field) for field in fields], TEXT)
    found = pa.Array.from_buffers(TEXT, lengths.size, [None, pa.py_buffer(ends), pa.py_buffer(content)])
    found.validate(full=True)
    return pc.replace_substring(found, '""', '"') if b'""' in part.text else found
