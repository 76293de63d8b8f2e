"""Writing batches of rows to a file of any format."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from condmask.errors import ArgumentError
from condmask.files.arrow import line
from condmask.files.arrow_schema import released_schema
from condmask.files.arrow_types import numbers, released_columns, released_type
from condmask.files.atomic import FileError, Output
from condmask.files.csv_numbers import formatted
from condmask.files.formats import ROOMY, Rows, format_of
from condmask.files.parquet_footer import footer_bytes, read_footer, written_by
from condmask.files.parquet_readback import HEAD, as_parquet, check_written, head_of, is_compared
from condmask.files.recoding import compressed_writer

GROUP, GROUP_BYTES = 1 << 20, 1 << 24  # rows of a row group and what they take in memory, or some more


def write_batches(
    source: Path,
    schema: Any,
    batches: Iterable[Any],
    target: Output,
    rows: Rows,
    metadata: dict[str, Any],
    keep: Collection[str] = (),
) -> None:
    """Write batches of rows of a source, some columns masked, in the format of the target's name; keep these
    notes."""
    try:
        _write(schema, batches, target, rows, metadata, keep)
    except (pa.ArrowException, OSError) as error:  # a type that the target has not
        if isinstance(error, FileError) or getattr(error, "errno", None) is not None:
            raise
        raise ArgumentError(
            f"{source} cannot become {target.final.name}: {line(error)}; drop or cast that column"
        ) from error


def _write(
    schema: Any,
    batches: Iterable[Any],
    target: Output,
    rows: Rows,
    metadata: dict[str, Any],
    keep: Collection[str],
) -> None:
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
        _write_parquet(schema, released, target, rows)


def _write_parquet(schema: Any, batches: Iterator[Any], target: Output, rows: Rows) -> None:
    """Row groups of about a million rows or fewer, and a footer that names the writer; they are read back."""
    begun, heads = rows.done, {}
    with pq.ParquetWriter(target, schema) as writer:
        for number, held in enumerate(_groups(batches)):
            table = pa.Table.from_batches(held)
            if is_compared(number):  # the first batch may have fewer rows
                heads[number] = head_of(*table.slice(0, HEAD).combine_chunks().to_batches())
            writer.write_table(table, row_group_size=max(1, table.num_rows))
    with target.read_back() as written:
        footer = read_footer(written, target.final)
    target.cut(footer.stop)
    target.write(footer_bytes({**footer.fields, **written_by(footer)}))
    check_written(target, as_parquet(schema), rows.done - begun, heads)


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Batches with rows, combined to the size of a row group."""
    held: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
        if sum(one.num_rows for one in held) >= GROUP or sum(one.nbytes for one in held) >= GROUP_BYTES:
            yield held
            held = []
    if held:
        yield held


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
    """Masked numbers with their decimals, and the values of dictionaries."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if decimals is None or decimals <= 0 or not pa.types.is_floating(column.type):
        return column
    values = numbers(column, name, 0)[0]
    texts = formatted(np.nan_to_num(values), decimals)
    return pc.if_else(pa.array(np.isnan(values)), pa.scalar(None, texts.type), texts)
