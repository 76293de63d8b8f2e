"""Donor pools: the records among which a swapped record finds its donor.

A pool is a stratum; records whose value is missing belong to none. Within a pool the donors are
counted in file order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.errors import ArgumentError
from condmask.frames import Labels
from condmask.strata import SMALLEST, by_stratum, crossed, index_type, merged


class Pools(NamedTuple):
    """Row r is of pool[r]; the rows of pool s are order[first[s] : first[s] + size[s]], in ascending order.

    pool[r] is -1 for a record that can neither give nor take a value.
    """

    pool: np.ndarray
    first: np.ndarray
    size: np.ndarray
    order: np.ndarray

    def leaders(self) -> np.ndarray:
        """The first row of each record's pool, whatever the pools are called; -1 for a record in none."""
        first = np.append(self.order[np.minimum(self.first, self.order.size - 1)].astype(np.int64), -1)
        leaders = np.empty(self.pool.size, np.int64)
        for start, stop in blocks(leaders.size):
            leaders[start:stop] = first[self.pool[start:stop]]
        return leaders


def make_pools(code: np.ndarray, present: np.ndarray | None) -> Pools:
    """Pools of the ``present`` rows (None: all), by stratum code."""
    kind = index_type(code.size)
    pool = code.astype(kind, copy=False) if present is None else of_present(code, present)
    order, size = by_stratum(pool)
    return Pools(pool, np.cumsum(size) - size, size, order)


def of_present(code: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The numbers of the ``present`` rows, -1 for others."""
    kind = index_type(code.size)
    numbers = np.empty(code.size, kind)
    for start, stop in blocks(code.size):
        numbers[start:stop] = np.where(present[start:stop], code[start:stop].astype(kind), kind(-1))
    return numbers


def donor_pools(
    scheme: Any, labels: Sequence[Labels], patterns: Sequence[np.ndarray], present: np.ndarray
) -> np.ndarray | None:
    """The pool of each record, as a number from 0 on; None where all records are one.

    Parameters
    ----------
    scheme : scheme
        Says what to do with small strata.
    labels : sequence of Labels
        The columns that the scheme names as strata.
    patterns : sequence of ndarray of bool
        Where columns that were masked together have values; empty if this does not split the donors.
    present : ndarray of bool, shape (n,)
        The records that are in a pool; numbers of others mean nothing.
    """
    if not labels and not patterns:
        return None
    pattern = crossed(patterns, present.size) if patterns else None
    parts = [column.code for column in labels]
    code = crossed(parts if pattern is None else [*parts, pattern], present.size)
    return merged(code, pattern, present) if scheme.small_strata == "merge" else code


def present_values(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Where records have a value in any column; and where in each, if that differs and parts the donors."""
    present, *masks = (np.empty(columns[0].size, bool) for _ in range(1 + len(columns)))
    alike = True
    for start, stop in blocks(present.size):
        for column, mask in zip(columns, masks, strict=True):
            mask[start:stop] = ~np.isnan(column[start:stop])
        parts = [mask[start:stop] for mask in masks]
        present[start:stop] = np.logical_or.reduce(parts)
        alike &= bool(np.logical_and.reduce(parts).sum() == present[start:stop].sum())
    return present, [] if alike else masks


def pools_of(
    scheme: Any, columns: Mapping[str, np.ndarray], strata: Sequence[Labels], nan_policy: str
) -> tuple[Pools | None, tuple[str, ...]]:
    """Donor pools of columns that are masked together; None where all rows are one pool.

    And the columns whose pattern of missing values parts the pools, none where it does not. Small strata are
    pooled where the scheme says so, else refused.
    """
    gaps = [_checks.has_gaps(x, name, nan_policy) for name, x in columns.items()]
    if not strata and not any(gaps):
        return None, ()
    present, patterns = present_values(list(columns.values()))
    code = donor_pools(scheme, strata, patterns, present)
    if code is None:
        code = np.broadcast_to(np.int32(0), present.size)
    pools = make_pools(code, None if present.all() else present)
    if strata or patterns:
        _refuse_small(pools, strata, patterns, list(columns), merge=scheme.small_strata == "merge")
    return pools, tuple(columns) if patterns else ()


def _refuse_small(
    pools: Pools,
    strata: Sequence[Labels],
    patterns: Sequence[np.ndarray],
    names: list[str],
    *,
    merge: bool,
) -> None:
    """Refuse pools of too few records, by name, and say what can be done."""

    def stratum(pool: int) -> Stratum:
        row = int(pools.order[pools.first[pool]])
        label = tuple(labels.distinct[labels.code[row]] for labels in strata)
        if not patterns:
            return Stratum(label, None, 0)
        pattern = crossed(patterns, pools.pool.size)
        alike = np.count_nonzero((pattern == pattern[row]) & (pools.pool >= 0))
        missing = [name for name, mask in zip(names, patterns, strict=True) if not mask[row]]
        return Stratum(label, missing, int(alike))

    refuse_small(pools.size, stratum, merge=merge)


class Stratum(NamedTuple):
    """What a refusal says of a pool: its labels, the columns that it misses, None where patterns part
    nothing, and how many records miss the same."""

    label: tuple[Any, ...]
    missing: list[str] | None
    alike: int


def refuse_small(size: np.ndarray, stratum: Callable[[int], Stratum], *, merge: bool) -> None:
    """Refuse pools of too few records, by the name of the first one, and say what can be done."""
    small = np.flatnonzero((size > 0) & (size < SMALLEST))
    if not small.size:
        return
    label, missing, alike = stratum(int(small[0]))
    gaps = "" if missing is None else f" without {', '.join(missing)}" if missing else " without a gap"
    if missing is not None and alike < SMALLEST:
        raise ArgumentError(
            f"patterns of missing values must have at least {SMALLEST} records each, got {alike}{gaps}; "
            "a donor must have the same gaps, so mask the columns one by one or leave these records out"
        )
    if merge:
        raise ArgumentError(f"strata must have at least {SMALLEST} records together, got {size.max()}")
    more = "" if small.size == 1 else f" ({small.size} strata are too small)"
    raise ArgumentError(
        f"strata must have at least {SMALLEST} records each, got {size[small[0]]} in stratum "
        f'{label[0] if len(label) == 1 else label!r}{gaps}{more}; small_strata="merge" pools them'
    )
