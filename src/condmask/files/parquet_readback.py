"""A Parquet file that was written is read back before it gets its name.

However it came about, pyarrow has to find its rows, its schema with all that is published in it, and the
values at the beginning of some row groups, as they were meant. Where most chunks are copied as bytes, and the
footer is put together here, that is parsed as well: its chunks have to be those of the source, and to fill
the file without a gap.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from condmask.files.atomic import FileError, Output
from condmask.files.parquet_footer import MAGIC, read_footer
from condmask.files.thrift import Struct

HEAD = 100  # rows at the beginning of a row group that are compared
BUFFERED = 1 << 16  # bytes that are read at once
COPIED = (
    "physical_type", "num_values", "compression", "encodings",
    "total_compressed_size", "total_uncompressed_size",
)  # fmt: skip
FEWER = "a column has fewer values than rows"
UNREADABLE = (ValueError, LookupError, OSError, pa.ArrowException)  # no footer, or one that lacks a chunk


def is_compared(group: int) -> bool:
    """Whether the beginning of this row group is read back: the first groups, and ever fewer later ones."""
    return group & (group - 1) == 0


def head_of(batch: Any) -> Any:
    """The first rows of a record batch, in memory of their own."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch.slice(0, HEAD))
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def as_parquet(schema: Any) -> Any:
    """The schema that is read from a file to which pyarrow writes this one."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def check_written(target: Output, schema: Any, rows: int, heads: Mapping[int, Any]) -> None:
    """Refuse a file that does not read back as intended.

    ``heads`` are the first rows of row groups, by the numbers of these; columns that they have not are not
    compared.
    """
    try:
        with target.read_back() as written, opened(written) as file:
            same = file.metadata.num_rows == rows and _alike(file.schema_arrow, schema)
            same = same and all(_begins_with(file, group, head) for group, head in heads.items())
    except UNREADABLE:
        same = False
    _refuse_unless(same, target.final)


def check_copied(target: Output, meant: Struct, source: Any, masked: set[int]) -> None:
    """Refuse a copy whose footer is not as intended, by the source's metadata; ``masked`` are the rewritten
    leaves."""
    try:
        with target.read_back() as written:
            footer = read_footer(written, target.final)
            same = footer.fields == meant and _holds_source(
                pq.read_metadata(written), source, footer.stop, masked
            )
    except UNREADABLE:
        same = False
    _refuse_unless(same, target.final)


def opened(file: Any) -> Any:
    """A Parquet file of which little is read."""
    return pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFERED)


def first_rows(file: Any, group: int, names: list[str] | None = None, count: int = HEAD) -> Any:
    """The first rows of a row group that has some."""
    for batch in file.iter_batches(count, row_groups=[group], columns=names, use_threads=False):
        return batch
    raise pa.ArrowInvalid(FEWER)


def _alike(found: Any, meant: Any) -> bool:
    """Whether two schemas are equal, with the notes on the file and its columns."""
    notes = [[part.metadata or {} for part in (schema, *schema)] for schema in (found, meant)]
    return bool(found.equals(meant)) and notes[0] == notes[1]


def _begins_with(file: Any, group: int, head: Any) -> bool:
    """Whether a row group begins with these rows."""
    if not head.num_rows:
        return bool(file.metadata.row_group(group).num_rows == 0)
    names = head.schema.names
    some = names if names != file.schema_arrow.names else None  # of several columns of one name all are
    found = first_rows(file, group, some)
    found = found if some is None else found.select(names)
    return found.num_rows == head.num_rows and all(map(_equal, found.columns, head.columns))


def _equal(found: Any, meant: Any) -> bool:
    """Whether two columns are equal, in types that Parquet may have changed; NaN equals NaN here."""
    return found.equals(meant) or str(found.to_pylist()) == str(meant.to_pylist())


def _refuse_unless(same: bool, name: Path) -> None:
    if not same:
        raise FileError(f"{name} is not read back as it was written; nothing was published")


def _holds_source(written: Any, source: Any, stop: int, masked: set[int]) -> bool:
    """Whether a file has the rows and the untouched chunks of its source, up to its footer, without a gap."""
    at = len(MAGIC)
    same = all(
        getattr(written, field) == getattr(source, field)
        for field in ("num_rows", "num_columns", "num_row_groups", "format_version")
    )
    for number in range(source.num_row_groups if same else 0):
        group, original = written.row_group(number), source.row_group(number)
        same &= (group.num_rows, group.num_columns) == (original.num_rows, original.num_columns)
        for leaf in range(original.num_columns):
            chunk, before = group.column(leaf), original.column(leaf)
            same &= chunk.path_in_schema == before.path_in_schema
            same &= chunk.num_values == group.num_rows if leaf in masked else _is_copy(chunk, before)
            same &= chunk.total_compressed_size == 0 or _start(chunk) == at
            at += chunk.total_compressed_size
    return same and at == stop


def _is_copy(chunk: Any, original: Any) -> bool:
    """Whether a chunk is that of the source, except for its place."""
    same = all(getattr(chunk, name) == getattr(original, name) for name in COPIED)
    distances = [[page - _start(one) for page in _pages(one)] for one in (chunk, original)]
    return same and distances[0] == distances[1]


def _start(chunk: Any) -> int:
    """The byte at which the first page of a chunk begins."""
    return min(_pages(chunk), default=0)


def _pages(chunk: Any) -> list[int]:
    """The places of the dictionary and the first page of values, if any."""
    return [page for page in (chunk.dictionary_page_offset, chunk.data_page_offset) if page]
