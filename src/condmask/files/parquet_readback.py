"""A written Parquet file is read back before it gets its name.

Its footer is put together here and most of its chunks are copied as bytes, so no library vouches for them:
what is written has to be parsed as it was meant, and pyarrow has to find the rows of the source, in chunks
that fill the file without a gap.
"""

from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from condmask.files.atomic import FileError
from condmask.files.parquet_footer import MAGIC, read_footer
from condmask.files.thrift import Struct

COPIED = (
    "physical_type", "num_values", "compression", "encodings",
    "total_compressed_size", "total_uncompressed_size",
)  # fmt: skip


def check_written(written: IO[bytes], name: Path, meant: Struct, source: Path, masked: set[int]) -> None:
    """Refuse a file that is not read as it was meant; ``masked`` are the leaves that were written anew."""
    try:
        footer = read_footer(written, name)
        same = footer.fields == meant and _holds_source(
            pq.read_metadata(written), pq.read_metadata(source), footer.stop, masked
        )
    except (ValueError, LookupError, OSError, pa.ArrowException):  # no footer, or one that lacks a chunk
        same = False
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
    """Whether a chunk is that of the source but for the place at which it stands."""
    same = all(getattr(chunk, name) == getattr(original, name) for name in COPIED)
    distances = [[page - _start(one) for page in _pages(one)] for one in (chunk, original)]
    return same and distances[0] == distances[1]


def _start(chunk: Any) -> int:
    """The byte at which the first page of a chunk begins."""
    return min(_pages(chunk), default=0)


def _pages(chunk: Any) -> list[int]:
    """Where the dictionary and the first page of values stand; a chunk without rows may have none."""
    return [page for page in (chunk.dictionary_page_offset, chunk.data_page_offset) if page]
