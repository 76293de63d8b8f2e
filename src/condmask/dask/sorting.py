"""A sort of records by (pool, word, tie, row) in many buckets: which takes a record, and the order in each.

Words are of 64 bits: random ones, or numbers turned into words in the same order (`words_of`).
"""

from typing import NamedTuple

import numpy as np

from condmask.kernels import buckets, range_partition
from condmask.kernels.cycle import order_by
from condmask.strata import by_stratum

NO_POOLS, NO_TIES = np.empty(0, np.int64), np.empty(0, np.uint64)
SIGN = np.uint64(1 << 63)


class Splitters(NamedTuple):
    """Records that separate the buckets of a sort; `pool` and `tie` are empty if these are all the same."""

    pool: np.ndarray
    word: np.ndarray
    tie: np.ndarray


def even_splitters(sizes: np.ndarray, count: int) -> Splitters:
    """Bounds of buckets of about equal size for random words, with pools of these sizes."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(1, count) * (before[-1] / count)
    pool = np.minimum(np.searchsorted(before, at, side="right") - 1, sizes.size - 1)
    word = np.minimum((at - before[pool]) / np.maximum(sizes[pool], 1), 1.0 - 2.0**-53) * 2.0**64
    return Splitters(pool, word.astype(np.uint64), NO_TIES)


def bucket_of(
    splitters: Splitters, words: np.ndarray, pool: np.ndarray | None, ties: np.ndarray
) -> np.ndarray:
    """The number of each record's bucket."""
    to = np.empty(words.size, np.int32)
    pools = NO_POOLS if pool is None else pool
    buckets.assign(pools, words, ties, splitters.pool, splitters.word, splitters.tie, to)
    return to


def order_of(
    words: np.ndarray, rows: np.ndarray, pool: np.ndarray | None, ties: np.ndarray | None = None
) -> np.ndarray:
    """The places of records in the order of (pool, word, tie, row), whatever order they are in."""
    order, alike = _ascending(words)
    if alike:
        by_row = np.argsort(rows, kind="stable")
        again, _ = _ascending(words[by_row])
        if ties is not None:
            words, ties = words[by_row], ties[by_row]
            most = range_partition.most_tied(words, again)
            range_partition.break_ties(words, again, ties, *(np.empty(most, np.uint64) for _ in range(3)))
        order = by_row[again.astype(np.int64)]
    if pool is not None and pool.size:
        pool = pool[order]
        order = order[by_stratum(pool - pool.min())[0]]
    return order


def _ascending(words: np.ndarray) -> tuple[np.ndarray, bool]:
    """The places of words from the smallest to the largest, stably sorted, and whether some are equal."""
    if words.size < 2:
        return np.zeros(words.size, np.uint64), False
    least = words.min()
    up = np.uint64(64 - max(1, int(words.max() - least).bit_length()))
    order = np.empty_like(words)
    distinct = order_by((words - least) << up, range_partition.PARTING, order, np.empty_like(words))
    if not distinct:
        order = np.argsort(words, kind="stable").astype(np.uint64)
        ascending = words[order]
        return order, bool((ascending[1:] == ascending[:-1]).any())
    return order, distinct != 1


def words_of(numbers: np.ndarray) -> np.ndarray:
    """Words in the order of numbers."""
    bits = numbers.view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | SIGN)


def numbers_of(words: np.ndarray) -> np.ndarray:
    """The inverse of the function above."""
    return np.where(words >> np.uint64(63), words ^ SIGN, ~words).view(np.float64)


def splitters_of(samples: list[Splitters], count: int) -> Splitters:
    """Bounds of buckets of about equal size for records such as these."""
    pool, word, tie = (np.concatenate(some) for some in zip(*samples, strict=True))
    order = np.lexsort((tie, word, pool) if pool.size else (tie, word))
    at = order[np.arange(1, count) * order.size // count] if order.size else order
    return Splitters(pool[at] if pool.size else pool, word[at], tie[at])
