"""Records chunk by chunk with the columns that go with them, and sums over all chunks.

A statistic that is linear in the original is a few folds: a step makes a tuple of arrays of one
chunk, and those of all chunks are added. A chunk is a stretch of arrays, or of a part of a file
that is read when its turn comes, so nothing but the columns that are in memory anyway has the
length of the file.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.inference.interval import UndefinedError
from condmask.linear.records import Records

CHUNK = 1 << 13  # records, whose temporary arrays stay in the cache


class Named(NamedTuple):
    """A column of numbers that is read from the file of the records whenever it is needed."""

    name: str


class Chunk(NamedTuple):
    """Some records.

    Attributes
    ----------
    rows : slice or ndarray of shape (m,)
        Their places in the file.
    z : ndarray of shape (m,)
        Their masked values.
    pool : ndarray of shape (m,) or None
        The numbers of their donor pools; None where all are one.
    columns : list of ndarray of shape (m,)
        Other columns, in the order in which they were given, None for None.
    """

    rows: Any
    z: np.ndarray
    pool: np.ndarray | None
    columns: list[Any]

    def of_pool(self, figures: np.ndarray) -> np.ndarray:
        """Figures by pool, record by record; of a single pool they need not be repeated."""
        return taken(figures, self.pool)

    def by_pool(self, values: np.ndarray, pools: int = 0) -> np.ndarray:
        """The sums of values by pool, along the last axis, of at least so many pools."""
        return summed(values, self.pool, pools)


def taken(figures: np.ndarray, code: np.ndarray | None) -> np.ndarray:
    """Figures by code, along the last axis; None is the one code of all."""
    return figures if code is None else figures[..., code]


def summed(values: np.ndarray, code: np.ndarray | None, codes: int = 0) -> np.ndarray:
    """The sums of values by code, along the last axis, of at least so many codes."""
    if code is None:
        return np.asarray(values.sum(axis=-1, keepdims=True))
    leading = values.shape[:-1]
    rows = [np.bincount(code, values[row], codes) for row in np.ndindex(leading)]
    return np.reshape(rows, (*leading, len(rows[0])))


class Chunks:
    """The records that have a value, and miss nothing in other columns; can be gone through
    repeatedly.

    Parameters
    ----------
    records : Records
    *columns : ndarray of shape (n,), Named or None
        Numbers, NaN where one is missing, or codes, below 0 where one is missing; None is no
        column. Of anything else its slices are taken.
    gaps : bool
        Whether records that miss something in other columns stay.
    """

    def __init__(self, records: Records, *columns: Any, gaps: bool = False) -> None:
        self.records = records
        self.columns = columns
        self._needed = 0 if gaps else len(columns)

    def fold(
        self, step: Callable[[Chunk], tuple[Any, ...]], *combined: Any, cells: int = 1
    ) -> Any:
        """The tuples that a step makes of chunks, added up, or combined otherwise one by one.

        `cells` is the size of their arrays, and chunks have as many records at least, where there
        are.
        """
        total: tuple[Any, ...] | None = None
        for chunk in self.of(max(CHUNK, cells)):
            found = step(chunk)
            ways = combined or (np.add,) * len(found)
            pairs = zip(ways, total or found, found, strict=True)
            total = found if total is None else tuple(way(one, two) for way, one, two in pairs)
        if total is None:
            raise UndefinedError(
                "z must have records in which the other columns have values, too, got none"
            )
        return total

    def of(self, size: int) -> Iterator[Chunk]:
        """Chunks of at most so many records."""
        names = [column.name for column in self.columns if isinstance(column, Named)]
        first = 0
        for z, pool, read in self.records.parts(names):
            for start, stop in blocks(z.size, size):
                rows = slice(first + start, first + stop)
                columns = [
                    read[column.name][start:stop]
                    if isinstance(column, Named)
                    else _rows_of(column, rows)
                    for column in self.columns
                ]
                own = slice(start, stop)
                chunk = _complete(Chunk(rows, z[own], _rows_of(pool, own), columns), self._needed)
                if chunk.z.size:
                    yield chunk
            first += z.size


def _complete(chunk: Chunk, needed: int) -> Chunk:
    """The records of a chunk that have a value and miss nothing in so many columns."""
    present = ~np.isnan(chunk.z)
    for column in chunk.columns[:needed]:
        if column is not None:
            present &= column >= 0 if column.dtype.kind == "i" else ~np.isnan(column)
    if present.all():
        return chunk
    pool, *columns = (_rows_of(column, present) for column in (chunk.pool, *chunk.columns))
    return Chunk(np.flatnonzero(present) + chunk.rows.start, chunk.z[present], pool, columns)


def _rows_of(column: Any, rows: slice | np.ndarray) -> Any:
    return None if column is None else column[rows]


def longer(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The sum of figures by pool, of which the one may have more than the other."""
    total = np.zeros((max(len(one), len(two)), *one.shape[1:]))
    total[: len(one)] += one
    total[: len(two)] += two
    return total
