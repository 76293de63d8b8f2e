"""Columns of a file read part by part, and sums by code that parts are added to.

Sums over records are formed within parts and then over parts, so that no temporary array has the length of
the file, and temporaries stay in the cache. Columns may be memory-mapped. Parts begin at fixed rows, so sums
are the same bits wherever the columns are.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.engines.counting import with_distinct
from condmask.strata import index_type

CHUNK = 1 << 15  # records of a part
FEW = 4  # codes for each record of a part, up to which all sums are gone through for a part


class Rows(NamedTuple):
    """Rows of a file: a range, and which of it are used; None where all are."""

    range: slice
    used: np.ndarray | None

    @property
    def size(self) -> int:
        """The number of rows that are used."""
        return self.range.stop - self.range.start if self.used is None else int(np.count_nonzero(self.used))

    def of(self, column: np.ndarray) -> np.ndarray:
        """A column in these rows."""
        part = column[self.range]
        return part if self.used is None else part[self.used]


class CompleteRows:
    """The rows without missing values in some columns, part by part; can be iterated repeatedly.

    Parameters
    ----------
    *columns : ndarray of shape (n,) or None
        Numbers, where missing NaN, or codes, where missing below 0; None is no column.
    """

    def __init__(self, *columns: np.ndarray | None) -> None:
        self._columns = [column for column in columns if column is not None]
        self._blocks = blocks(self._columns[0].size, CHUNK)
        self._whole: set[int] = set()  # parts that were seen to miss nothing

    @property
    def single(self) -> bool:
        """Whether all are one part."""
        return len(self._blocks) == 1

    def __iter__(self) -> Iterator[Rows]:
        for start, stop in self._blocks:
            rows, used = slice(start, stop), None
            if start not in self._whole:
                for column in self._columns:
                    present = _present(column[rows])
                    if present is not None:
                        used = present if used is None else used & present
                if used is None:
                    self._whole.add(start)
                elif not used.any():
                    continue
            yield Rows(rows, used)


def _present(part: np.ndarray) -> np.ndarray | None:
    """Where a part of a column has values; None where all are, for which a look at the least serves."""
    least = part.min()
    if part.dtype.kind == "i":
        return None if least >= 0 else part >= 0
    return ~np.isnan(part) if np.isnan(least) else None


def frame_of(column: np.ndarray, present: CompleteRows) -> tuple[float, float, int]:
    """A value of a column, the largest distance from it, 1 if that is 0, and how many values there are."""
    origin, low, high, n = np.nan, np.inf, -np.inf, 0
    for rows in present:
        part = rows.of(column)
        if n == 0:
            origin = float(part[0])
        low, high, n = min(low, float(part.min())), max(high, float(part.max())), n + part.size
    return origin, max(high - origin, origin - low) or 1.0, n


def add(sums: np.ndarray, code: np.ndarray, values: np.ndarray | None = None) -> None:
    """sums[..., code] += values, or 1, along the last axis."""
    size = sums.shape[-1]
    if sums.ndim > 1:
        for row, own in zip(sums, np.broadcast_to(values, (len(sums), code.size)), strict=True):  # type: ignore[arg-type]
            add(row, code, own)
    elif size <= FEW * code.size:
        sums += np.bincount(code, values, size)
    else:
        np.add.at(sums, code, 1 if values is None else values)


def numbered(
    rows: CompleteRows, codes: Callable[[Rows], np.ndarray], most: int, n: int
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The codes below `most` that occur in rows, and a function that gives the number of each.

    They are sorted only where they are few. `n` is about the number of the records.
    """
    if most > 2 * n:
        found = [np.empty(0, dtype=np.int64)]
        for part in rows:
            found = with_distinct(found, codes(part))
        distinct = np.unique(np.concatenate(found))
        return distinct, distinct.searchsorted
    occurs = np.zeros(most, dtype=bool)
    for part in rows:
        occurs[codes(part)] = True
    distinct = np.flatnonzero(occurs)
    number: Any = np.empty(most, index_type(most))
    number[distinct] = np.arange(distinct.size)
    return distinct, number.take
