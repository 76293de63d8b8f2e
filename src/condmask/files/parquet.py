"""Parquet files: masked columns are written anew, the bytes of all others are copied.

What is not masked is neither decoded nor encoded, so nothing of it can change: types that Arrow has not,
encodings, levels of compression, statistics. What stands outside the chunks of columns stays behind: indexes
of pages and Bloom filters, which readers do without, and what nobody refers to.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from condmask._blocks import BLOCK, ordered_map
from condmask.files import parquet_footer as footers
from condmask.files.arrow import ArrowFile
from condmask.files.arrow_schema import released_schema
from condmask.files.arrow_source import ArrowSource
from condmask.files.arrow_types import released_columns, released_type, taken
from condmask.files.atomic import Output
from condmask.files.formats import Rows
from condmask.files.parquet_footer import Chunk, Footer
from condmask.files.parquet_readback import (
    FEWER,
    check_copied,
    check_written,
    first_rows,
    head_of,
    is_compared,
    opened,
)
from condmask.files.source_file import SourceFile
from condmask.files.thrift import Struct

UNDECODED = pa.ArrowException, OSError  # of columns that pyarrow cannot decode
MOST_ROWS = 1 << 20  # that are encoded at once
COPIED = 1 << 20  # bytes at once
CODECS = ["none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4"]  # by number in the format


class _Part(NamedTuple):
    """Masked rows of one row group, all or some of them."""

    rows: pa.Table
    options: dict[str, Any]
    last: bool  # of its group


class _Encoded(NamedTuple):
    """The pages of masked rows, by column, as pyarrow writes them to a separate file."""

    content: memoryview
    chunks: list[Chunk]
    elements: list[Struct]
    last: bool


class ParquetFile(ArrowFile):
    """The columns of a Parquet file."""

    kind = "Parquet"
    _opens = ArrowSource

    def _schema(self) -> Any:
        with self.source() as source:
            length = footers.footer_length(source, self.path)
            file = pq.ParquetFile(source, pre_buffer=False)  # whose schema has extension types, as pages have
            if file.metadata.serialized_size < length:  # a signature follows
                footers.read_footer(source, self.path)  # refuses encrypted columns
            return file.schema_arrow

    def _batches(self, names: list[str] | None, labels: Sequence[str]) -> Iterator[Any]:
        text = [name for name in labels if _is_text(self.schema.field(name).type)]  # the dictionary is enough
        with self._pages(text) as file:
            left = file.metadata.num_rows
            for batch in file.iter_batches(batch_size=BLOCK, columns=names, use_threads=False):
                left -= batch.num_rows
                wanted = batch if names is None else batch.select(names)  # "a.b" is also b of the struct a
                yield self._sound(wanted)
            if left:
                raise pa.ArrowInvalid(FEWER)

    def _sizes(self, name: str) -> np.ndarray:
        """The rows of each row group."""
        with self.source() as source:
            metadata = pq.read_metadata(source)
        return np.array([metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)])

    def _column_in(self, name: str, pieces: list[tuple[int, np.ndarray]]) -> Iterator[Any]:
        """A column in some rows of some row groups."""
        with self._pages() as file:
            for number, rows in pieces:
                batch = first_rows(file, number, [name], int(rows[-1]) + 1)
                yield taken(self._sound(batch.select([name])).column(0), rows)

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their columns."""
        names = sorted(rows.columns, key=self.names.index)
        types = {name: released_type(self.schema.field(name).type, *rows.columns[name]) for name in names}
        begun = rows.done
        with SourceFile(self.path, self._before) as source:
            footer = footers.read_footer(source, self.path)
            footers.check_groups(footer, self.path)
            leaves = [footer.leaf(self.names.index(name)) for name in names]
            writer = _Writer(self.path, source, target, footer, [leaf for leaf, _ in leaves])
            masked: dict[int, Any] = {}  # the first rows of row groups
            parts = self._parts(rows, types, footer, leaves, masked)
            encoded = ordered_map(_encode, parts, rows.workers, ahead=2)
            elements: list[Struct] = []
            for part in encoded:
                writer.add(part)
                elements = part.elements
            if not footer.groups:  # no rows, and yet their type
                elements = _encode(self._none(rows, types)).elements
            entries = footers.released_entries(
                footer, types, metadata, json.dumps(metadata).encode(), nulls=rows.nulls, keep=self.kept
            )
            replaced = {at: element for (_, at), element in zip(leaves, elements, strict=True)}
            released = footers.released_footer(footer, writer.groups, replaced, entries)
            target.write(footers.footer_bytes(released))
        with self.source() as source:
            original = pq.read_metadata(source)
        check_copied(target, released, original, set(writer.leaves))
        schema = released_schema(self.schema, types, metadata, nulls=rows.nulls, keep=self.kept)
        check_written(target, schema, rows.done - begun, self._heads(masked))

    def _heads(self, masked: dict[int, Any]) -> dict[int, Any]:
        """The first rows of row groups of the source, with these masked ones in their columns."""
        heads = dict(masked)
        with self.source() as source, opened(source) as file, suppress(*UNDECODED):
            for group, batch in masked.items():
                clear = first_rows(file, group)
                columns = [
                    batch.column(name) if name in batch.schema.names else column
                    for name, column in zip(clear.schema.names, clear.columns, strict=True)
                ]
                heads[group] = pa.RecordBatch.from_arrays(columns, names=clear.schema.names)
        return heads

    def _parts(
        self,
        rows: Rows,
        types: dict[str, Any],
        footer: Footer,
        leaves: list[tuple[int, int]],
        heads: dict[int, Any],
    ) -> Iterator[_Part]:
        """The masked rows by row group; the first ones of some groups are kept for reading back."""
        schema = self._masked_schema(rows, types)
        with self._pages() as file:
            for number, group in enumerate(footer.groups):
                chunks = footers.chunks_of(group, footer, self.path)
                whole = group[footers.GROUP_ROWS][1] <= MOST_ROWS
                options = _options([chunks[leaf].metadata for leaf, _ in leaves], list(types), whole=whole)
                held: list[Any] = []
                for batch in self._group(file, number, list(types)):
                    if sum(part.num_rows for part in held) >= MOST_ROWS:
                        yield _Part(pa.Table.from_batches(held), options, False)
                        held = []
                    arrays = released_columns(batch, rows, types)
                    held.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
                    if is_compared(number) and number not in heads:
                        heads[number] = head_of(held[-1])
                yield _Part(pa.Table.from_batches(held, schema), options, True)

    def _masked_schema(self, rows: Rows, types: dict[str, Any]) -> Any:
        schema = released_schema(self.schema, types, {}, nulls=rows.nulls, keep=())
        return pa.schema([schema.field(name) for name in types])

    def _none(self, rows: Rows, types: dict[str, Any]) -> _Part:
        """A group without rows."""
        return _Part(self._masked_schema(rows, types).empty_table(), {}, True)

    @contextmanager
    def _pages(self, dictionaries: Sequence[str] = ()) -> Iterator[Any]:
        """The file, of which some columns of text are read as dictionaries."""
        with (
            self.source() as source,
            pq.ParquetFile(source, pre_buffer=False, read_dictionary=list(dictionaries)) as file,
        ):
            yield file

    def _group(self, file: Any, number: int, names: list[str]) -> Iterator[Any]:
        """One row group of some columns."""
        with self.errors():
            for batch in file.iter_batches(
                batch_size=BLOCK, row_groups=[number], columns=names, use_threads=False
            ):
                yield self._sound(batch.select(names))


class _Writer:
    """The row groups of the target, one after the other."""

    def __init__(
        self, path: Path, source: SourceFile, target: Output, footer: Footer, leaves: list[int]
    ) -> None:
        self.path, self.source, self.target, self.footer, self.leaves = path, source, target, footer, leaves
        self.groups: list[Struct] = []
        self.at = 0
        self._held: list[_Encoded] = []
        self._write(footers.MAGIC)

    def add(self, part: _Encoded) -> None:
        """Masked rows; with the last ones of a row group all other columns of the group."""
        self._held.append(part)
        if not part.last:
            return
        group = self.footer.groups[len(self.groups)]
        chunks = footers.chunks_of(group, self.footer, self.path)
        entries, first, at = [], self.at, self.at
        copied: list[Chunk] = []
        for leaf, chunk in enumerate(chunks):
            if leaf not in self.leaves:
                entries.append(footers.moved(chunk, at))
                copied.append(chunk)
                at += chunk.length
                continue
            self._copy(copied)
            copied, column = [], self.leaves.index(leaf)
            pieces = [encoded.chunks[column] for encoded in self._held]
            entries.append(footers.moved(footers.joined(pieces), self.at))
            for piece, encoded in zip(pieces, self._held, strict=True):
                self._write(encoded.content[piece.start : piece.start + piece.length])
            at = self.at
        self._copy(copied)
        self.groups.append(footers.moved_group(group, entries, first, set(self.leaves)))
        self._held = []

    def _copy(self, chunks: list[Chunk]) -> None:
        for start, length in footers.runs(chunks):
            self.source.seek(start)
            for done in range(0, length, COPIED):
                self._write(self.source.exactly(min(COPIED, length - done)))

    def _write(self, content: bytes | memoryview) -> None:
        self.target.write(content)
        self.at += len(content)


def _encode(part: _Part) -> _Encoded:
    """Rows as a Parquet file in memory, from which the chunks are then copied."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, part.rows.schema, store_schema=False, **part.options) as writer:
        writer.write_table(part.rows, row_group_size=max(1, part.rows.num_rows))
    buffer = sink.getvalue()
    content = memoryview(buffer)
    memory = Path("the masked rows")
    with pa.BufferReader(buffer) as file:
        footer = footers.read_footer(file, memory)
    (group,) = footer.groups
    chunks = footers.chunks_of(group, footer, memory)
    return _Encoded(content, chunks, footer.fields[footers.SCHEMA][1][1][1:], part.last)


def _is_text(dtype: Any) -> bool:
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype))


def _options(chunks: list[Struct], names: list[str], *, whole: bool) -> dict[str, Any]:
    """How masked columns are written: compressed as they were, with dictionaries if they had any.

    Parts of a group too large to be held at once have none, so that their pages follow each other.
    """
    codecs = [chunk[footers.CODEC][1] for chunk in chunks]
    allowed = [CODECS[codec] if codec < len(CODECS) else "snappy" for codec in codecs]
    dictionaries = [
        name
        for name, chunk in zip(names, chunks, strict=True)
        if footers.DICTIONARIES & set(chunk[footers.ENCODINGS][1][1])
    ]
    return {
        "compression": {
            name: codec if codec == "none" or pa.Codec.is_available(codec) else "snappy"
            for name, codec in zip(names, allowed, strict=True)
        },
        "use_dictionary": dictionaries if whole else False,
    }
