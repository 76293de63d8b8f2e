"""Records in the order of (pool, row), and the partition of each place in this order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.strata import by_stratum


class Places(NamedTuple):
    """first[s, i]: the place of the first record of pool s in partition i; i has own[s, i] of them."""

    first: np.ndarray
    own: np.ndarray

    def find(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The partitions of the records at these places, and which they are in its order of (pool, row)."""
        # a cell without records begins where the next one does; the last one that begins there has the record
        cell = np.searchsorted(self.first.ravel(), places, side="right") - 1
        offset = (np.cumsum(self.own, axis=0) - self.own - self.first).ravel()
        return (cell % self.first.shape[1]).astype(np.int32), places + offset[cell]


def places_of(counts: Sequence[np.ndarray]) -> Places:
    """The places, from the numbers of records by pool in each partition."""
    own = np.stack(counts, axis=1)
    before = np.cumsum(own.ravel()).reshape(own.shape) - own
    return Places(before, own)


def in_file_order(pool: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Rows of a partition, which are ascending, in the order of (pool, row); without those in no pool."""
    return rows if pool is None else rows[by_stratum(pool[rows])[0]]
