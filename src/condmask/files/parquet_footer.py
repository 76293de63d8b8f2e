"""The footer of a Parquet file: the place of the chunks of each column, and their metadata.

Numbers of fields are those of parquet.thrift, the definition of the format. A chunk is one column of one row
group, as compressed pages, and means the same wherever in a file it stands: so columns that are not masked
are copied as bytes, and everything in their chunks stays as it is.
"""

import base64
import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from condmask.errors import ArgumentError
from condmask.files.arrow_schema import released_schema
from condmask.files.parquet_format import is_sound
from condmask.files.source_metadata import ARROW_SCHEMA, METADATA, released_notes, released_writer
from condmask.files.thrift import BINARY, I32, I64, LIST, STRUCT, Struct, read_struct, write_struct

MAGIC, ENCRYPTED_MAGIC = b"PAR1", b"PARE"

# FileMetaData, SchemaElement, RowGroup, ColumnChunk, ColumnMetaData, KeyValue, SortingColumn
SCHEMA, ROWS, GROUPS, ENTRIES, WRITER, ORDERS, ENCRYPTION = 2, 3, 4, 5, 6, 7, 8
KIND, REPETITION, CHILDREN = 1, 3, 5
REQUIRED, OPTIONAL, REPEATED, BYTE_ARRAY = 0, 1, 2, 6
OF_GROUPS = range(1, 8)
CHUNKS, GROUP_SIZE, GROUP_ROWS, SORTING, GROUP_OFFSET, GROUP_COMPRESSED = OF_GROUPS[:6]
OTHER_FILE, CHUNK_OFFSET, CHUNK, PAGE_INDEX, CRYPTO = 1, 2, 3, (4, 5, 6, 7), (8, 9)
ENCODINGS, CODEC, VALUES, SIZE, COMPRESSED, DATA, INDEX, DICTIONARY = 2, 4, 5, 6, 7, 9, 10, 11
STATISTICS, PAGES_BY_ENCODING, SIZES = 12, 13, 16
BYTES, REPETITIONS, DEFINITIONS = 1, 2, 3  # of the sizes
# without notes and Bloom filters
OF_FILES, OF_CHUNKS = range(1, ORDERS + 1), {*range(1, 14), SIZES, 17} - {8}
KEY, TEXT = 1, 2
SORTED_BY = 1

DICTIONARIES = {2, 8}  # encodings


class Chunk(NamedTuple):
    """The start of a chunk, its length, and its metadata."""

    start: int
    length: int
    metadata: Struct


class Leaf(NamedTuple):
    """A column of plain values: its highest levels, and its physical type."""

    repetitions: int
    definitions: int
    kind: int


@dataclass
class Footer:
    """The end of a file."""

    fields: Struct
    stop: int  # the byte at which it begins

    @property
    def groups(self) -> list[Struct]:
        return list(self.fields[GROUPS][1][1])

    def leaves(self) -> list[Leaf]:
        """The columns of plain values, in their order."""
        elements, found = self.fields[SCHEMA][1][1], []
        above = [(elements[0][CHILDREN][1], 0, 0)]  # elements that are left in each, and the levels there
        for element in elements[1:]:
            while above[-1][0] == 0:
                above.pop()
            left, repetitions, definitions = above.pop()
            above.append((left - 1, repetitions, definitions))
            of = element.get(REPETITION, (I32, REQUIRED))[1]
            repetitions += of == REPEATED
            definitions += of in (OPTIONAL, REPEATED)
            below = element.get(CHILDREN, (I32, 0))[1]
            if below:
                above.append((below, repetitions, definitions))
            else:
                found.append(Leaf(repetitions, definitions, element[KIND][1]))
        return found

    def leaf(self, position: int) -> tuple[int, int]:
        """The number of the chunk and of the schema element of a column of plain values, by its position."""
        elements = self.fields[SCHEMA][1][1]
        at, leaf = 1, 0
        for _ in range(position):
            stop = at + 1
            while at < stop:  # with all below it
                below = elements[at].get(CHILDREN, (0, 0))[1]
                stop, leaf, at = stop + below, leaf + (below == 0), at + 1
        return leaf, at


def footer_length(source: IO[bytes], path: Path) -> int:
    """The number of bytes of the footer of a file, which end 8 bytes before it does."""
    size = source.seek(0, 2)
    source.seek(max(0, size - 8))
    tail = bytes(source.read(min(8, size)))
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] == ENCRYPTED_MAGIC:
        raise _encrypted(path)
    if size < 12 or tail[4:] != MAGIC or length > size - 12:
        raise ArgumentError(f"{path} is no readable Parquet file")
    return length


def read_footer(source: IO[bytes], path: Path) -> Footer:
    """The footer of a file."""
    length = footer_length(source, path)
    stop = source.seek(-8 - length, 2)
    try:
        fields = read_struct(bytes(source.read(length)))
    except ValueError as error:
        raise ArgumentError(f"{path} cannot be read: {error}") from None
    if ENCRYPTION in fields:
        raise _encrypted(path)
    if not is_sound(fields):
        raise ArgumentError(f"{path} cannot be read: its footer is damaged")
    return Footer(fields, stop)


def _encrypted(path: Path) -> ArgumentError:
    return ArgumentError(f"{path} must not be encrypted: decrypt a copy of it first")


def chunks_of(group: Struct, footer: Footer, path: Path) -> list[Chunk]:
    """The chunks of a row group."""
    try:
        return [_chunk(fields, footer, path) for fields in group[CHUNKS][1][1]]
    except (KeyError, TypeError, IndexError, AttributeError):  # no field, or one of another type
        raise ArgumentError(f"{path} cannot be read: its footer does not say where a column lies") from None


def check_groups(footer: Footer, path: Path) -> None:
    """Refuse row groups at whose metadata pyarrow, which looks at them for the check of a copy, would abort:
    with other columns than the schema, or with counts of levels that the schema does not have."""
    try:
        leaves = footer.leaves()
        sound = all(
            len(group[CHUNKS][1][1]) == len(leaves) and all(map(_has_its_levels, group[CHUNKS][1][1], leaves))
            for group in footer.groups
        )
    except (KeyError, IndexError):  # a group or column without its fields, or a schema without a root
        sound = False
    if not sound:
        raise ArgumentError(f"{path} cannot be read: its footer does not describe its columns")


def _has_its_levels(fields: Struct, leaf: Leaf) -> bool:
    """Whether the statistics of sizes of a chunk, if any, are of as many levels as its column has."""
    sizes = fields[CHUNK][1].get(SIZES, (STRUCT, {}))[1]
    counted = ((REPETITIONS, leaf.repetitions), (DEFINITIONS, leaf.definitions))
    return (BYTES not in sizes or leaf.kind == BYTE_ARRAY) and all(
        len(sizes.get(key, (LIST, (I64, [])))[1][1]) in (0, levels + 1) for key, levels in counted
    )


def _chunk(fields: Struct, footer: Footer, path: Path) -> Chunk:
    """The chunk of an entry."""
    if OTHER_FILE in fields or any(key in fields for key in CRYPTO):
        raise ArgumentError(f"{path} must hold its columns itself, and not encrypted")
    metadata = fields[CHUNK][1]
    pages = [metadata[key][1] for key in (DATA, DICTIONARY) if key in metadata]
    # without rows there may be none
    start = min((page for page in pages if page > 0), default=len(MAGIC))
    length = metadata[COMPRESSED][1]
    if start < len(MAGIC) or length < 0 or start + length > footer.stop:
        raise ArgumentError(f"{path} cannot be read: a column lies outside of it")
    return Chunk(start, length, metadata)


def moved(chunk: Chunk, start: int) -> Struct:
    """The entry of a moved chunk, without indexes of its pages and notes on it."""
    metadata = {key: value for key, value in chunk.metadata.items() if key in OF_CHUNKS}
    for key in (DATA, INDEX, DICTIONARY):
        if key in metadata and metadata[key][1] > 0:
            metadata[key] = I64, metadata[key][1] - chunk.start + start
    return {CHUNK_OFFSET: (I64, 0), CHUNK: (STRUCT, metadata)}


def joined(parts: list[Chunk]) -> Chunk:
    """Chunks of the same column, one after the other, as one; none has a dictionary."""
    if len(parts) == 1:
        return parts[0]
    of_parts = STATISTICS, PAGES_BY_ENCODING, SIZES
    metadata = {key: value for key, value in parts[0].metadata.items() if key not in of_parts}
    for key in (VALUES, SIZE, COMPRESSED):
        metadata[key] = I64, sum(part.metadata[key][1] for part in parts)
    return Chunk(parts[0].start, metadata[COMPRESSED][1], metadata)


def moved_group(group: Struct, entries: list[Struct], start: int, masked: set[int]) -> Struct:
    """The entry of a row group whose chunks have these entries; `masked` are those of masked columns."""
    chunks = [entry[CHUNK][1] for entry in entries]
    sorting = []
    for entry in group.get(SORTING, (LIST, (STRUCT, [])))[1][1]:
        if entry[SORTED_BY][1] in masked:
            break  # rows are no longer in this order, nor in that of what follows
        sorting.append(entry)
    released = {
        **{key: value for key, value in group.items() if key in OF_GROUPS},
        CHUNKS: (LIST, (STRUCT, entries)),
        GROUP_SIZE: (I64, sum(entry[SIZE][1] for entry in chunks)),
        GROUP_OFFSET: (I64, start),
        GROUP_COMPRESSED: (I64, sum(entry[COMPRESSED][1] for entry in chunks)),
        SORTING: (LIST, (STRUCT, sorting)),
    }
    return released if sorting else {key: value for key, value in released.items() if key != SORTING}


def released_entries(
    footer: Footer, types: dict[str, Any], metadata: dict[str, Any], released: bytes, *, nulls: set[str],
    keep: Collection[str],
) -> list[Struct]:  # fmt: skip
    """The metadata of the release, and what is kept of those of the source."""
    texts = {entry[KEY][1]: entry.get(TEXT, (BINARY, b""))[1] for entry in _entries(footer)}
    stored = texts.pop(ARROW_SCHEMA, None)
    texts = {**released_notes(texts, types, keep), METADATA: released}
    if stored is not None:
        with contextlib.suppress(pa.ArrowException, ValueError, OSError):  # readers do without it
            schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))
            schema = released_schema(schema, types, metadata, nulls=nulls, keep=keep)
            texts[ARROW_SCHEMA] = base64.b64encode(schema.serialize().to_pybytes())
    return [{KEY: (BINARY, key), TEXT: (BINARY, text)} for key, text in texts.items()]


def released_footer(
    footer: Footer, groups: list[Struct], elements: dict[int, Struct], entries: list[Struct]
) -> Struct:
    """The footer of a file with these row groups and entries; `elements` of the schema are replaced."""
    of, schema = footer.fields[SCHEMA][1]
    schema = [elements.get(position, element) for position, element in enumerate(schema)]
    return {
        **{key: value for key, value in footer.fields.items() if key in OF_FILES},
        **written_by(footer),
        SCHEMA: (LIST, (of, schema)),
        GROUPS: (LIST, (STRUCT, groups)),
        ENTRIES: (LIST, (STRUCT, entries)),
    }


def written_by(footer: Footer) -> Struct:
    """The field that names the writer of a file, with condmask."""
    return {WRITER: (BINARY, released_writer(footer.fields.get(WRITER, (BINARY, b""))[1]))}


def footer_bytes(fields: Struct) -> bytes:
    """A footer with its length, as at the end of a file."""
    written = write_struct(fields)
    return written + len(written).to_bytes(4, "little") + MAGIC


def runs(chunks: list[Chunk]) -> Iterator[tuple[int, int]]:
    """Start and length of the bytes of chunks; adjacent ones are joined."""
    start = length = 0
    for chunk in chunks:
        if start + length != chunk.start:
            if length:
                yield start, length
            start, length = chunk.start, 0
        length += chunk.length
    if length:
        yield start, length


def _entries(footer: Footer) -> list[Struct]:
    return list(footer.fields.get(ENTRIES, (LIST, (STRUCT, [])))[1][1])
