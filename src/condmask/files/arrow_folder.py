"""Parquet or Arrow files with the same columns, one after the other, as one."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from condmask._blocks import BLOCK
from condmask.errors import ArgumentError
from condmask.files.arrow import ArrowFile
from condmask.files.arrow_types import parts_of, plain, taken
from condmask.files.formats import Part, Sample
from condmask.files.part_files import PartFiles
from condmask.files.sampling import by_piece, cheap_rows
from condmask.files.source_metadata import check_kept


class ArrowFiles:
    """Files that Arrow reads.

    Parameters
    ----------
    path : Path
        As messages call all of them.
    parts : PartFiles
    open_file : callable
        Takes a path, returns an `ArrowFile`.
    """

    def __init__(self, path: Path, parts: PartFiles, open_file: Callable[[Path], ArrowFile]) -> None:
        self.path, self._names = path, parts.names
        self.files = [open_file(file) for file in parts.paths]
        self.schema = self.files[0].schema
        self.names: list[str] = self.files[0].names
        self.kept: tuple[str, ...] = ()
        for name, file in zip(parts.names, self.files, strict=True):
            _check_columns(self.schema, file.schema, path, parts.names[0], name)

    @property
    def description(self) -> dict[str, Any]:
        """Nothing more: everything is in the files."""
        return {}

    @cached_property
    def starts(self) -> list[int]:
        """The first row of each file in the table."""
        sizes = [sizes.sum() for sizes in self._sizes]
        return [0, *np.cumsum(sizes, dtype=np.int64)[:-1].tolist()]

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(sum(sizes.sum() for sizes in self._sizes))

    @cached_property
    def _sizes(self) -> list[np.ndarray]:
        """The rows of each piece of each file."""
        return [file._sizes(self.names[0]).astype(np.int64) for file in self.files]

    def place_of(self, row: int) -> str:
        """The place of a row."""
        k = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"at position {row - self.starts[k]} of {self._names[k]}"

    def notes(self) -> list[str]:
        """The names of notes on any of the files."""
        return list(dict.fromkeys(note for file in self.files for note in file.notes()))

    def keep(self, notes: Collection[str]) -> None:
        """Keep notes of these names in copies of the files that have them."""
        self.kept = check_kept(self.notes(), notes, self.path)

    def metadata_of(self, k: int) -> dict[str, Any] | None:
        """What an earlier masking published in a file."""
        return self.files[k].metadata()

    def part(self, k: int) -> ArrowFile:
        """A file to copy."""
        self.files[k].kept = self.kept
        return self.files[k]

    def batches(self, names: list[str] | None = None, labels: Sequence[str] = ()) -> Iterator[Any]:
        """Record batches of all files."""
        for file in self.files:
            yield from file.batches(names, labels)

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers and labels, batch by batch."""
        return parts_of(self.batches([*names, *labels], labels), names, labels)

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the files; columns that cannot be decoded in one of them are left out."""
        if not names:
            return Sample(rows, {})
        pieces = np.concatenate(self._sizes)
        rows = cheap_rows(rows, pieces, len(names))
        ends = np.cumsum([len(sizes) for sizes in self._sizes])
        by_file: dict[int, list[tuple[int, np.ndarray]]] = {}
        for piece, some in by_piece(rows, pieces):
            k = int(np.searchsorted(ends, piece, side="right"))
            by_file.setdefault(k, []).append((piece - int(ends[k]) + len(self._sizes[k]), some))
        read = [self._columns_of(k, names, some) for k, some in by_file.items()]
        shared = [name for name in names if all(name in columns for columns in read)]
        return Sample(rows, {name: np.concatenate([columns[name] for columns in read]) for name in shared})

    def _columns_of(
        self, k: int, names: Sequence[str], pieces: list[tuple[int, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Columns in some rows of some pieces of a file; a small one is opened once."""
        file, sizes = self.files[k], self._sizes[k]
        if sizes.sum() <= BLOCK:
            starts = np.cumsum(sizes) - sizes
            rows = np.concatenate([starts[piece] + some for piece, some in pieces])
            with suppress(TypeError, ValueError):  # lists, or not decoded: one column by one, then
                table = pa.Table.from_batches(file.batches(list(names)))
                return {name: plain(taken(table.column(name).combine_chunks(), rows), name) for name in names}
        return file.columns_in(names, pieces)


def _check_columns(first: Any, other: Any, path: Path, of_first: str, of_other: str) -> None:
    """Refuse a file whose columns are not those of the first one."""
    for k in range(max(len(first), len(other))):
        a, b = (_column(schema, k) for schema in (first, other))
        if a != b:
            raise ArgumentError(
                f"{path} must hold files with the same columns, got as column {k + 1} {a} in {of_first} and "
                f"{b} in {of_other}"
            )


def _column(schema: Any, k: int) -> str:
    """Name and type of a column, however its values are encoded."""
    if k >= len(schema):
        return "none"
    dtype = schema.field(k).type
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        dtype = pa.string()
    return f"{schema.names[k]!r} ({dtype})"
