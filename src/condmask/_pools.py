"""Donor pools: the records among which a swapped record finds its donor.

A pool is a stratum; records whose value is missing belong to none. Within a pool the donors are
counted in file order.
"""

from typing import Any, NamedTuple

import numpy as np


class Pools(NamedTuple):
    """Row r is the rank[r]-th of pool[r]; the rows of pool s are order[first[s] : first[s] + size[s]].

    pool[r] is -1 for a record that can neither give nor take a value.
    """

    pool: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    size: np.ndarray
    order: np.ndarray


class Coded(NamedTuple):
    """Stratum labels that `codes` has been through already."""

    code: np.ndarray
    distinct: list[Any]


def codes(labels: Any) -> tuple[np.ndarray, list[Any]]:
    """Stratum labels as whole numbers, in the sorted order of the labels."""
    values = np.asarray(labels)
    if values.dtype.kind == "O":
        values = values.astype(str)
    distinct, code = np.unique(values, return_inverse=True)
    return code.astype(np.int64), distinct.tolist()


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
