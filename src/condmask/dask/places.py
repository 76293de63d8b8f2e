"""Records in the order of (pool, row), and which partition has the one at a place of this order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.strata import by_stratum


class Places(NamedTuple):
    """first[s, i]: the place of the first record of pool s in partition i; partition i has own[s, i] of them."""

    first: np.ndarray
    own: np.ndarray

    def partition(self, places: np.ndarray) -> np.ndarray:
        """The partitions of the records at these places."""
        # cells without records begin where the next one does, and the last one at a place is meant
        cell = np.searchsorted(self.first.ravel(), places, side="right") - 1
        return np.asarray(cell % self.first.shape[1])

    def within(self, part: int, places: np.ndarray) -> np.ndarray:
        """Which of the records of the partition, in the order of (pool, row), are at these places."""
        first, own = self.first[:, part], self.own[:, part]
        pool = np.searchsorted(first, places, side="right") - 1
        return np.asarray(places - (first - (np.cumsum(own) - own))[pool])


def places_of(counts: Sequence[np.ndarray]) -> Places:
    """The places, from the numbers of records by pool in each partition."""
    own = np.stack(counts, axis=1)
    before = np.cumsum(own.ravel()).reshape(own.shape) - own
    return Places(before, own)


def count_by_pool(pool: np.ndarray | None, rows: np.ndarray | slice, pools: int) -> np.ndarray:
    """How many of the rows of a partition are of each pool."""
    if pool is None:
        return np.array([rows.size])
    some = pool[rows]
    return np.bincount(some[some >= 0], minlength=pools)


def in_file_order(pool: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Rows of a partition in the order of (pool, row), without those in no pool."""
    return rows if pool is None else rows[by_stratum(pool[rows])[0]]
