"""Donor pools: the records among which a swapped record finds its donor.

A pool is a stratum; records whose value is missing belong to none. Within a pool the donors are
counted in file order.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask import _checks
from condmask.strata import SMALLEST, Labels, by_stratum, crossed, index_type, merged


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
        return np.asarray(first[self.pool])


def make_pools(code: np.ndarray, there: np.ndarray | None) -> Pools:
    """Pools of the rows that are ``there`` (None: all), by stratum code."""
    kind = index_type(code.size)
    pool = code.astype(kind, copy=False)
    if there is not None:
        pool = np.where(there, pool, kind(-1))
    order, size = by_stratum(pool)
    return Pools(pool, np.cumsum(size) - size, size, order)


def pools_of(
    columns: list[np.ndarray], strata: Sequence[Labels], nan_policy: str, names: list[str], *, merge: bool
) -> tuple[Pools | None, tuple[str, ...]]:
    """Donor pools by stratum and by which of the columns are missing; None where all rows are one pool.

    And the columns whose pattern of missing values parts the pools, none where it does not. Small strata are
    pooled under ``merge``, else refused.
    """
    n = columns[0].size
    there = [_checks.present(x, name, nan_policy) for x, name in zip(columns, names, strict=True)]
    if not strata and all(mask is None for mask in there):
        return None, ()
    every = np.ones(n, dtype=bool)
    masks = [every if mask is None else mask for mask in there]
    known = np.logical_or.reduce(masks)
    pattern = None
    if not all(np.array_equal(mask, known) for mask in masks):
        pattern = crossed(masks, n)
    code = crossed([*(labels.code for labels in strata), *([] if pattern is None else [pattern])], n)
    if merge:
        code = merged(code, pattern, known)
    pools = make_pools(code, None if known.all() else known)
    if strata or pattern is not None:
        _refuse_small(pools, strata, pattern, masks, names, merge=merge)
    return pools, () if pattern is None else tuple(names)


def _refuse_small(
    pools: Pools,
    strata: Sequence[Labels],
    pattern: np.ndarray | None,
    masks: list[np.ndarray],
    names: list[str],
    *,
    merge: bool,
) -> None:
    """Refuse pools of too few records, by name, with what can be done."""
    small = np.flatnonzero((pools.size > 0) & (pools.size < SMALLEST))
    if not small.size:
        return
    row = int(pools.order[pools.first[small[0]]])
    missing = [name for name, mask in zip(names, masks, strict=True) if not mask[row]]
    gaps = "" if pattern is None else f" without {', '.join(missing)}" if missing else " without a gap"
    if pattern is not None:
        count = np.bincount(pattern[pools.pool >= 0])[pattern[row]]
        if count < SMALLEST:
            raise ValueError(
                f"patterns of missing values must have at least {SMALLEST} records each, got {count}{gaps}; "
                "a donor has what the record has, so mask the columns one by one or leave these records out"
            )
    if merge:
        raise ValueError(f"strata must have at least {SMALLEST} records together, got {pools.size.max()}")
    label = tuple(labels.distinct[labels.code[row]] for labels in strata)
    more = "" if small.size == 1 else f" ({small.size} strata are too small)"
    raise ValueError(
        f"strata must have at least {SMALLEST} records each, got {pools.size[small[0]]} in stratum "
        f'{label[0] if len(label) == 1 else label!r}{gaps}{more}; small_strata="merge" makes one of them'
    )
