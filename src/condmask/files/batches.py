"""Batches of rows into a file of any format, whatever they came from."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from condmask.errors import ArgumentError
from condmask.files.arrow_schema import released_schema
from condmask.files.arrow_types import WIDEST, numbers, released_columns, released_type, with_decimals
from condmask.files.atomic import Output
from condmask.files.formats import ROOMY, Rows, format_of
from condmask.files.recoding import compressed_writer

GROUP = 1 << 20  # rows of a row group


def write_batches(
    schema: Any,
    batches: Iterable[Any],
    target: Output,
    rows: Rows,
    metadata: dict[str, Any],
    keep: Collection[str] = (),
) -> None:
    """Batches of rows, some columns masked, in the format of the target's name; of notes these are kept."""
    columns = rows.columns
    types = {name: released_type(schema.field(name).type, *columns[name]) for name in columns}
    schema = released_schema(schema, types, metadata, nulls=rows.nulls, keep=keep)
    released = (
        pa.RecordBatch.from_arrays(released_columns(batch, rows, types), schema=schema) for batch in batches
    )
    kind = format_of(target.final)
    if kind not in ROOMY:
        _write_text(schema, released, target, {name: columns[name][1] for name in columns})
    elif kind == "Arrow":
        with pa.ipc.new_file(target, schema) as writer:
            for batch in released:
                writer.write_batch(batch)
    else:
        with pq.ParquetWriter(target, schema) as writer:
            held: list[Any] = []
            for batch in released:
                held.append(batch)
                if sum(batch.num_rows for batch in held) >= GROUP:
                    writer.write_table(pa.Table.from_batches(held), row_group_size=GROUP)
                    held = []
            writer.write_table(pa.Table.from_batches(held, schema), row_group_size=GROUP)


def _write_text(schema: Any, batches: Iterator[Any], target: Output, decimals: dict[str, int | None]) -> None:
    """Text, in UTF-8, words in quotes."""
    for field in schema:
        if pa.types.is_nested(field.type):
            raise ArgumentError(f"{field.name} must hold plain values in a file of text, got {field.type}")
    delimiter = "\t" if "TSV" in format_of(target.final) else ","
    written, header = compressed_writer(target, target.final, "utf-8"), True
    for batch in batches:
        columns = [
            _fixed(column, decimals.get(name), name)
            for name, column in zip(schema.names, batch.columns, strict=True)
        ]
        if len(columns) == 1:  # an empty line is no record
            columns = [pc.fill_null(columns[0].cast(pa.string()), "NA")]
        sink = pa.BufferOutputStream()
        csv.write_csv(
            pa.RecordBatch.from_arrays(columns, names=schema.names), sink,
            csv.WriteOptions(include_header=header, delimiter=delimiter, quoting_style="needed"),
        )  # fmt: skip
        written.write(sink.getvalue().to_pybytes())
        header = False
    written.close()


def _fixed(column: Any, decimals: int | None, name: str) -> Any:
    """Masked numbers with their decimals, and what dictionaries stand for."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if decimals is None or decimals <= 0 or not pa.types.is_floating(column.type):
        return column
    values = numbers(column, name, 0)[0]
    decimal_column = with_decimals(np.nan_to_num(values), pa.decimal128(WIDEST[0], decimals), decimals, name)
    return pc.if_else(pa.array(np.isnan(values)), pa.scalar(None, decimal_column.type), decimal_column)
