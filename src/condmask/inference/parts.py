"""Columns of a file read part by part, and sums by code that parts are added to.

Sums over records are formed within parts and then over parts, so that no temporary array has the length of
the file, and temporaries stay in the cache. Columns may be memory-mapped. Parts begin at fixed rows, so sums
are the same bits wherever the columns are.

Each computation is a *fold*: a start, a step that adds a part, and a function that combines two results. In
memory one step follows another. For columns elsewhere (a Dask frame) the same steps run there, each from the
same start, and the results are combined.
"""

import operator
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from condmask._blocks import blocks
from condmask.engines.counting import with_distinct
from condmask.frames import RemoteColumn
from condmask.strata import index_type

CHUNK = 1 << 15  # records of a part
FEW = 4  # codes for each record of a part, up to which all sums are gone through for a part

Step = Callable[[Any, Any], Any]  # of what was gathered, and a part; it may change the former
Combine = Callable[[Any, Any], Any]  # of what was gathered from earlier parts and from later ones


def summed(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Two tuples of sums, added up; the first may be changed."""
    return tuple(operator.iadd(a, b) for a, b in zip(one, other, strict=True))


class Gathered:
    """Sums that belong together and are gathered part by part; ``+=`` adds those of other parts."""

    sums: ClassVar[tuple[str, ...]]  # the names of the attributes that are added up

    def __iadd__(self, other: Self) -> Self:
        for name in self.sums:
            setattr(self, name, operator.iadd(getattr(self, name), getattr(other, name)))
        return self


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

    `longest_table` is the largest number of entries by code that a step should look up in a table.

    Parameters
    ----------
    *columns : ndarray of shape (n,) or None
        Numbers, where missing NaN, or codes, where missing below 0; None is no column.
    """

    longest_table = inf

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

    def fold(self, step: Step, start: Any, combine: Combine = summed) -> Any:
        """The result over all parts in their order.

        Parameters
        ----------
        step : callable (gathered, rows)
            Gives what is gathered with these `Rows`.
        start : Any
            What is gathered from none.
        combine : callable (gathered, gathered)
            Gives what is gathered from both, where that happens in several places.
        """
        gathered = start
        for rows in self:
            gathered = step(gathered, rows)
        return gathered


def complete_rows(*columns: Any) -> Any:
    """The rows without missing values in some columns, wherever these are; None is no column."""
    given = [column for column in columns if column is not None]
    return given[0].complete(given) if isinstance(given[0], RemoteColumn) else CompleteRows(*given)


def _present(part: np.ndarray) -> np.ndarray | None:
    """Where a part of a column has values; None where all are, for which a look at the least serves."""
    least = part.min()
    if part.dtype.kind == "i":
        return None if least >= 0 else part >= 0
    return ~np.isnan(part) if np.isnan(least) else None


class _Ends(NamedTuple):
    first: float = np.nan
    low: float = np.inf
    high: float = -np.inf
    n: int = 0

    def with_later(self, other: "_Ends") -> "_Ends":
        """Those of all."""
        first = self.first if self.n else other.first
        return _Ends(first, min(self.low, other.low), max(self.high, other.high), self.n + other.n)


def frame_of(column: Any, present: CompleteRows) -> tuple[float, float, int]:
    """A value of a column, the largest distance from it, 1 if that is 0, and how many values there are."""
    origin, low, high, n = present.fold(partial(_ends, column), _Ends(), _Ends.with_later)
    return origin, max(high - origin, origin - low) or 1.0, n


def _ends(column: Any, found: _Ends, rows: Rows) -> _Ends:
    part = rows.of(column)
    return found.with_later(_Ends(float(part[0]), float(part.min()), float(part.max()), part.size))


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
    if most > min(2 * n, rows.longest_table):
        found = rows.fold(partial(_distinct, codes), [np.empty(0, dtype=np.int64)], operator.add)
        distinct = np.unique(np.concatenate(found))
        return distinct, partial(_ranks, distinct)
    (occurs,) = rows.fold(partial(_occurring, codes), (np.zeros(most, dtype=bool),))
    distinct = np.flatnonzero(occurs)
    number: Any = np.empty(most, index_type(most))
    number[distinct] = np.arange(distinct.size)
    return distinct, partial(_looked_up, number)


def _occurring(
    codes: Callable[[Rows], np.ndarray], found: tuple[np.ndarray], rows: Rows
) -> tuple[np.ndarray]:
    found[0][codes(rows)] = True
    return found


def _distinct(codes: Callable[[Rows], np.ndarray], found: list[np.ndarray], rows: Rows) -> list[np.ndarray]:
    return with_distinct(found, codes(rows))


def _ranks(distinct: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.searchsorted(distinct, codes)


def _looked_up(number: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.asarray(number[codes])
