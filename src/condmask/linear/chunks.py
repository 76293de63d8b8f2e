"""Goes through records chunk by chunk, with the columns that go with them, and adds up sums.

A statistic that is linear in the original is a few folds: a step computes a tuple of arrays from
one chunk, and the tuples of all chunks are added. A chunk is a slice of arrays, or of a part of a
file that is read when its turn comes, so only columns that are in memory anyway have the length of
the file.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from condmask._blocks import blocks
from condmask.errors import ArgumentError
from condmask.inference.interval import UndefinedError
from condmask.linear.records import ColumnOrName, Named, Records

RECORDS_PER_CHUNK = 1 << 13  # so that temporary arrays stay in the processor's cache

FoldSums = TypeVar("FoldSums", bound=tuple[Any, ...])


class Chunk(NamedTuple):
    """Holds some of the records.

    Attributes
    ----------
    rows : slice or ndarray of shape (m,)
        Their positions in the file.
    z : ndarray of shape (m,)
        Their masked values.
    pool : ndarray of shape (m,) or None
        The numbers of their donor pools; None if there is one pool.
    columns : list of ndarray of shape (m,) or None
        Other columns, in the order in which `Chunks` received them, None for None.
    """

    rows: slice | np.ndarray
    z: np.ndarray
    pool: np.ndarray | None
    columns: list[np.ndarray | None]

    def column(self, place: int) -> np.ndarray:
        """Return one of the columns, which must not be None."""
        column = self.columns[place]
        if column is None:
            raise ArgumentError(f"column {place} must have values, got None")
        return column

    def of_pool(self, figures: np.ndarray) -> np.ndarray:
        """Return, for each record, the figure of its pool; of shape (..., 1) for a single pool."""
        return taken(figures, self.pool)

    def by_pool(self, values: np.ndarray, pools: int = 0) -> np.ndarray:
        """Return the sums of values by pool along the last axis, for at least `pools` pools."""
        return summed(values, self.pool, pools)


def taken(figures: np.ndarray, code: np.ndarray | None) -> np.ndarray:
    """Return figures by code along the last axis; None means that there is one code."""
    return figures if code is None else np.asarray(figures[..., code])


def summed(values: np.ndarray, code: np.ndarray | None, codes: int = 0) -> np.ndarray:
    """Return the sums of values by code along the last axis, for at least `codes` codes."""
    if code is None:
        return np.asarray(values.sum(axis=-1, keepdims=True))
    leading = values.shape[:-1]
    rows = [np.bincount(code, values[row], codes) for row in np.ndindex(leading)]
    return np.reshape(rows, (*leading, len(rows[0])))


class Chunks:
    """Iterates, as often as needed, over records that have a value in z and in other columns.

    Parameters
    ----------
    records : Records
    *columns : ndarray of shape (n,), Named or None
        Numbers, NaN where one is missing, or codes, below 0 where one is missing; None is no
        column.
    gaps : bool
        Whether records that lack a value in other columns are kept.
    """

    def __init__(self, records: Records, *columns: ColumnOrName, gaps: bool = False) -> None:
        self.records = records
        self.columns = columns
        self._complete_columns = 0 if gaps else len(columns)

    def fold(
        self,
        step: Callable[[Chunk], FoldSums],
        *combined: Callable[[Any, Any], Any],
        cells: int = 1,
    ) -> FoldSums:
        """Return the tuples that a step computes from chunks, added up entry by entry.

        Parameters
        ----------
        step : callable
        *combined : callable of two entries
            By which function each entry is combined instead of by addition.
        cells : int
            The size of the step's arrays: chunks have at least as many records, if possible.

        Raises
        ------
        UndefinedError
            If no record has all values.
        """
        total: tuple[Any, ...] | None = None
        for chunk in self.of(max(RECORDS_PER_CHUNK, cells)):
            sums = step(chunk)
            if total is None:
                total = sums
                continue
            ways: tuple[Callable[[Any, Any], Any], ...] = combined or (np.add,) * len(sums)
            entries = zip(ways, total, sums, strict=True)
            total = tuple(way(so_far, of_chunk) for way, so_far, of_chunk in entries)
        if total is None:
            raise UndefinedError(
                "z must have records in which the other columns have values, too, got none"
            )
        return cast("FoldSums", total)

    def of(self, size: int) -> Iterator[Chunk]:
        """Yield chunks of at most `size` records."""
        names = [column.name for column in self.columns if isinstance(column, Named)]
        first = 0
        for z, pool, read in self.records.parts(names):
            for start, stop in blocks(z.size, size):
                of_file = slice(first + start, first + stop)
                of_part = slice(start, stop)
                columns = [
                    read[column.name][of_part]
                    if isinstance(column, Named)
                    else _rows_of(column, of_file)
                    for column in self.columns
                ]
                chunk = Chunk(of_file, z[of_part], _rows_of(pool, of_part), columns)
                chunk = _complete_records(chunk, of_file.start, self._complete_columns)
                if chunk.z.size:
                    yield chunk
            first += z.size


def _complete_records(chunk: Chunk, start: int, columns: int) -> Chunk:
    """Return the records of a chunk, from row `start` on, that have values in z and in the first
    `columns` columns."""
    present = ~np.isnan(chunk.z)
    for column in chunk.columns[:columns]:
        if column is not None:
            present &= column >= 0 if column.dtype.kind == "i" else ~np.isnan(column)
    if present.all():
        return chunk
    kept = [_rows_of(column, present) for column in chunk.columns]
    rows = np.flatnonzero(present) + start
    return Chunk(rows, chunk.z[present], _rows_of(chunk.pool, present), kept)


def _rows_of(column: np.ndarray | None, rows: slice | np.ndarray) -> np.ndarray | None:
    return None if column is None else np.asarray(column[rows])


def add_padded(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sum of two arrays of figures by pool, the shorter one padded with zeros."""
    total = np.zeros((max(len(a), len(b)), *a.shape[1:]))
    total[: len(a)] += a
    total[: len(b)] += b
    return total
