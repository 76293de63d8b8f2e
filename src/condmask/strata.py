"""Strata: the groups of records among which donors are drawn, by the columns that a scheme names.

Several columns are crossed. Small strata are refused or, where the scheme says so, pooled: *of the records
with one pattern of missing values, all strata of fewer than 10 become one; if that has fewer than 10 still,
the strata of the next size join it, all of that size.* The rule uses only sizes. So anyone who has the
columns, and knows which values are missing, finds the same pools, whatever the labels and the order of the
records. Patterns themselves are never pooled (docs/theory.rst, "Patterns").
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import blocks
from condmask.errors import ArgumentError
from condmask.frames import Labels
from condmask.kernels import counting_sort, range_partition

SMALLEST = 10  # records of a stratum
SMALL_TABLE = 1 << 16  # pairs of labels

Names = str | tuple[str, ...] | None  # of the columns, as a scheme has them


def names_of(strata: Names) -> tuple[str, ...]:
    """The names of the columns, none, one or several."""
    if strata is None:
        return ()
    return (strata,) if isinstance(strata, str) else strata


def not_masked(strata: Names, masked: Collection[str]) -> tuple[str, ...]:
    """The names of the columns, none of which may be masked."""
    names = names_of(strata)
    for name in names:
        if name in masked:
            raise ArgumentError(f"strata must not be a column that is masked, got {name!r}")
    return names


def listed(strata: Names) -> str:
    """The names for a message."""
    return ", ".join(map(repr, names_of(strata)))


def labels_of(values: Any, strata: Names, n: int, of: str, call: str) -> list[Labels]:
    """The columns that a scheme names, from the values passed to a call; both must be given, or neither."""
    names = names_of(strata)
    if values is None and not names:
        return []
    if values is None:
        what = "that column" if len(names) == 1 else "these columns"
        raise ArgumentError(
            f"strata must be given: the scheme names {listed(strata)}, so pass {what} to {call}()"
        )
    if not names:
        raise ArgumentError(
            "strata must be left out where the scheme names none, got values; "
            "ConditionalMasking(..., strata=name) names their column"
        )
    labels = []
    for column in frames.label_columns(values, names, "strata"):
        _checks.same_length(column, "strata", n, of)
        labels.append(Labels(*frames.codes(column, "strata")))
    return labels


def index_type(n: int) -> type[np.signedinteger]:
    """An integer type for the numbers of n records, or of as many labels."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def crossed(parts: Sequence[np.ndarray], n: int) -> np.ndarray:
    """One number for the records that agree in all parts, from 0 on."""
    if not parts:
        return np.zeros(n, dtype=np.int64)
    numbers = [part if part.dtype.kind == "i" else part.view(np.int8) for part in parts]
    code = numbers[0]
    for part in numbers[1:]:
        code = _crossed(code, part, n)
    return code


def _crossed(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """One number for the records that agree in both, in the order of the pairs."""
    times = int(b.max()) + 1
    size = (int(a.max()) + 1) * times  # both count from 0 to less than n, so that it fits
    parts = [slice(start, stop) for start, stop in blocks(n)]
    code = np.empty(n, index_type(n))
    if size > max(SMALL_TABLE, n):
        pairs = np.empty(n, np.int64)
        for part in parts:
            pairs[part] = a[part].astype(np.int64) * times + b[part]
        distinct = _distinct(pairs)
        for part in parts:
            code[part] = np.searchsorted(distinct, a[part].astype(np.int64) * times + b[part])
        return code
    number = np.empty(size, code.dtype)
    number[:] = 0
    for part in parts:
        number[a[part].astype(np.int64) * times + b[part]] = 1
    np.cumsum(number, out=number)
    for part in parts:
        code[part] = number[a[part].astype(np.int64) * times + b[part]] - 1
    return code


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """The distinct ones of some numbers, ascending; these are put in order."""
    numbers.sort()
    first = np.ones(numbers.size, dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def merged(code: np.ndarray, pattern: np.ndarray | None, present: np.ndarray) -> np.ndarray:
    """The pools where small strata are pooled.

    Parameters
    ----------
    code : ndarray of shape (n,)
        Strata, crossed with the patterns.
    pattern : ndarray of shape (n,), optional
        The patterns; None where all records have one.
    present : ndarray of bool
        The records that are in a pool.
    """
    size = np.zeros(int(code.max()) + 1, dtype=np.int64)
    of = np.zeros(size.size, dtype=np.int64)
    for start, stop in blocks(code.size):
        part = code[start:stop]
        counting_sort.count(part[present[start:stop]], size)
        if pattern is not None:
            of[part] = pattern[start:stop]
    pool = pooled(size, of)
    together = np.empty(code.size, index_type(code.size))
    for start, stop in blocks(code.size):
        together[start:stop] = pool[code[start:stop]]
    return together


def pooled(size: np.ndarray, pattern: np.ndarray) -> np.ndarray:
    """The pool of each stratum where small ones are pooled, from their sizes and patterns."""
    pool = np.arange(size.size)
    strata = np.flatnonzero(size)
    strata = strata[np.argsort(pattern[strata], kind="stable")]
    for alike in np.split(strata, np.flatnonzero(np.diff(pattern[strata])) + 1):
        small = size[alike] < SMALLEST
        if small.any() and not small.all() and size[alike[small]].sum() < SMALLEST:
            small |= size[alike] == size[alike[~small]].min()
        pool[alike[small]] = alike[small][:1]
    return pool


def by_stratum(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows by stratum, in each in their order, and how many each has; codes below 0 are none."""
    size = np.zeros(int(code.max(initial=-1)) + 1, dtype=np.int64)
    counting_sort.count(code, size)
    order = np.empty(int(size.sum()), index_type(code.size))
    counting_sort.sort(code, np.cumsum(size) - size, order)
    return order, size


def rows_of(code: np.ndarray) -> dict[int, np.ndarray]:
    """The rows of each stratum that has any."""
    order, size = by_stratum(code)
    parts = np.split(order, np.cumsum(size)[:-1])
    return {k: rows for k, rows in enumerate(parts) if rows.size}


def values_by_pool(x: np.ndarray, pool: np.ndarray | None) -> Iterator[tuple[Any, np.ndarray]]:
    """The rows of each pool that have a value, and these values; without a copy where they are all of x."""
    if pool is None and not np.isnan(x.min()):
        yield slice(None), x
        return
    code = np.empty(x.size, index_type(x.size))
    for start, stop in blocks(x.size):
        part = 0 if pool is None else pool[start:stop]
        code[start:stop] = np.where(np.isnan(x[start:stop]), -1, part)
    members = rows_of(code)
    del code
    for rows in members.values():
        yield rows, taken(x, rows)


def taken(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values of some rows."""
    values = np.empty(rows.size, x.dtype)
    range_partition.take(x, rows, values)
    return values
