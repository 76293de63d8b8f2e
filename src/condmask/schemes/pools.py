"""Donor pools: the records among which a swapped record finds its donor.

A pool is a stratum; records whose value is missing belong to none. Within a pool the donors are
counted in file order.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.frames import codes


class Pools(NamedTuple):
    """Row r is the rank[r]-th of pool[r]; the rows of pool s are order[first[s] : first[s] + size[s]].

    pool[r] is -1 for a record that can neither give nor take a value.
    """

    pool: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    size: np.ndarray
    order: np.ndarray

    def leaders(self) -> np.ndarray:
        """The first row of each record's pool, whatever the pools are called; -1 for a record in none."""
        first = np.append(self.order[np.minimum(self.first, self.order.size - 1)], -1)
        return np.asarray(first[self.pool])


class Coded(NamedTuple):
    """Stratum labels that `codes` has been through already."""

    code: np.ndarray
    distinct: list[Any]


def make_pools(code: np.ndarray, there: np.ndarray | None) -> Pools:
    """Pools of the rows that are ``there`` (None: all), by stratum code."""
    pool = code if there is None else np.where(there, code, -1)
    order = np.argsort(pool, kind="stable")
    order = order[np.searchsorted(pool[order], 0) :]  # the missing come first
    size = np.bincount(pool[order], minlength=int(code.max()) + 1)
    first = np.concatenate(([0], np.cumsum(size)[:-1]))
    rank = np.zeros(pool.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - first[pool[order]]
    return Pools(pool, rank, first, size, order)


def pools_of(
    columns: list[np.ndarray], strata: Any, nan_policy: str, names: list[str]
) -> tuple[Pools | None, tuple[str, ...]]:
    """Donor pools by stratum and by which of the columns are missing; None where all rows are one pool.

    And the columns whose pattern of missing values parts the pools, none where it does not.
    """
    n = columns[0].size
    there = [_checks.present(x, name, nan_policy) for x, name in zip(columns, names, strict=True)]
    if strata is None and all(mask is None for mask in there):
        return None, ()
    if strata is None:
        code, distinct = np.zeros(n, dtype=np.int64), ["all"]
    elif isinstance(strata, Coded):
        code, distinct = strata
    else:
        stratum = frames.labels(strata)
        _checks.same_length(stratum, "strata", n, names[0])
        code, distinct = codes(stratum)
    masks = [np.ones(n, dtype=bool) if mask is None else mask for mask in there]
    known = np.logical_or.reduce(masks)
    patterned = not all(np.array_equal(mask, known) for mask in masks)
    if patterned:
        code, distinct = _by_pattern(code, distinct, masks, names)
    pools = make_pools(code, known)
    used = np.flatnonzero(pools.size)
    if strata is not None or used.size > 1:
        _checks.stratum_sizes([distinct[s] for s in used], pools.size[used])
    return pools, tuple(names) if patterned else ()


def _by_pattern(
    code: np.ndarray, distinct: list[Any], masks: list[np.ndarray], names: list[str]
) -> tuple[np.ndarray, list[Any]]:
    """Strata crossed with the pattern of missing values, each labelled by the columns it misses."""
    crossed = code
    for mask in masks:
        _, example, crossed = np.unique(2 * crossed + mask, return_index=True, return_inverse=True)
    labels = []
    for row in example:
        missing = [name for name, mask in zip(names, masks, strict=True) if not mask[row]]
        stratum = distinct[code[row]]
        labels.append(f"{stratum} without {', '.join(missing)}" if missing else stratum)
    return crossed, labels
