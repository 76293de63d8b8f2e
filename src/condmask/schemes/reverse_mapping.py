"""Reverse mapping: the kept records get their own values back, in the order of their values with noise.

Within each donor pool, with S the swapped records and K the kept ones::

    key = x + Y   or, on the log scale,   x exp(Y)
    z[S] = shuffle(x[S]),     z[K[argsort(key[K])]] = sort(x[K])

so a release is the column in another order, and that order is independent of the swap status
(docs/reverse_mapping.rst). Swap status (coins), words and noise are drawn as for every release (`draws`). The
shuffle is the order of the words of the swapped rows. Ties of keys are broken by words of the kept rows,
which stand in the same lane behind those of the swapped ones; the order of the rows would reveal who was
kept.

Cost: O(n), by counting sorts; O(n log n) where keys or values lie in a tiny part of their range.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from condmask._blocks import BLOCK, Workers, blocks, ordered_map
from condmask._randomness import DONOR, NOISE, Key, words
from condmask.disclosure.aggregated_ends import aggregate
from condmask.donor_pools import Pools
from condmask.draws import MaskedBlocks, coins, in_order
from condmask.kernels import masking, range_partition, reverse_mapping_rows
from condmask.law import Law
from condmask.strata import by_stratum, index_type, taken


def blocks_of(
    schemes: Sequence[Any],
    columns: list[np.ndarray],
    key: Key,
    *,
    pools: Pools | None,
    rows: tuple[int, int] | None = None,
    workers: Workers = 1,
) -> MaskedBlocks:
    """Columns on their way to being masked together, by reverse mapping or with the noise as it is."""
    first = schemes[0]
    if not first.reverse_mapping:
        cycle = first.donors == "permutation"
        return MaskedBlocks(
            columns, [scheme.law for scheme in schemes], key, pools=pools, cycle=cycle, rows=rows
        )
    laws = [Law(scheme.p, scheme.noise, scheme.sigma) for scheme in schemes]
    scales = [scheme.scale for scheme in schemes]
    made = RearrangedBlocks(columns, laws, scales, key, pools=pools, rows=rows, workers=workers)
    for x, scheme in zip(columns, schemes, strict=True):
        if scheme.aggregate_ends:
            aggregate(x, None if pools is None else pools.pool, scheme.aggregate_ends)
    return made


def mask_rows(x: np.ndarray, scheme: Any, stream: np.random.Generator) -> np.ndarray:
    """Every row of x masked on its own from one stream, for studies."""
    swapped, kept = np.empty((2, x.size + 1), dtype=np.int64)
    s, k = masking.toss(words(stream, x.size), np.uint64(int(scheme.p * 2.0**64)), swapped, kept)
    noise = Law(scheme.p, scheme.noise, scheme.sigma).draw(stream, k)
    z = np.empty(x.shape)
    reverse_mapping_rows.rearrange(
        np.ascontiguousarray(x), swapped[:s], kept[:k], words(stream, s), noise, words(stream, k),
        scheme.scale == "log", z,
    )  # fmt: skip
    if scheme.aggregate_ends:
        for row in z:
            aggregate(row, None, scheme.aggregate_ends)
    return z


class RearrangedBlocks(MaskedBlocks):
    """Columns masked together by reverse mapping, in their places: the originals are gone.

    One swap status per record and one order of the swapped records for all columns; each column is mapped
    back by itself.

    Parameters
    ----------
    columns : list of ndarray of shape (n,)
        Originals, which the release replaces.
    laws : list of Law
        The noise of each column, without a grid; p is the same.
    scales : list of {"linear", "log"}
        Whether noise is added to a value, or its exponential multiplied with it.
    key : Key
    pools : Pools, optional
        Donor pools; None where all records are one.
    rows : (int, int), optional
        Only these rows are wanted.
    workers : int or map-like callable
        Threads that put records in order; nothing depends on it.
    """

    def __init__(
        self,
        columns: list[np.ndarray],
        laws: list[Law],
        scales: Sequence[str],
        key: Key,
        *,
        pools: Pools | None = None,
        rows: tuple[int, int] | None = None,
        workers: Workers = 1,
    ) -> None:
        super().__init__(columns, laws, key, pools=pools, rows=rows)
        threads = workers if isinstance(workers, int) else 1
        rearrange(columns, laws, scales, Tossed(key, self.p, self.n, threads), pools, threads)

    def block(self, number: int) -> list[np.ndarray]:
        """One block of every column, masked."""
        return [x[number * BLOCK : (number + 1) * BLOCK] for x in self.columns]

    def blocks(self, workers: Workers) -> Iterator[list[np.ndarray]]:
        """The blocks that cover the wanted rows; nothing is left to do to them, so no column travels."""
        return map(self.block, self._numbers())

    def masked(self, workers: Workers) -> list[np.ndarray]:
        """The masked values of the wanted rows, whole, for every column."""
        return [x[slice(*self.rows)] for x in self.columns]


def rearrange(
    columns: list[np.ndarray],
    laws: list[Law],
    scales: Sequence[str],
    tossed: "Tossed",
    pools: Pools | None,
    threads: int,
) -> None:
    """Put columns of originals into the order in which they are released."""
    pool = None if pools is None else pools.pool
    shuffled = cache(partial(_shuffled, tossed, pool))  # once, for all columns

    def place_swapped(x: np.ndarray) -> None:
        range_partition.place(tossed.swapped, *shuffled(), taken(x, tossed.swapped), x)

    for number, (x, law, scale) in enumerate(zip(columns, laws, scales, strict=True)):
        # at the same time: neither looks at the rows of the other
        place_kept = partial(_place_kept, tossed, x, law, scale, number, pool, threads)
        for _ in ordered_map(_call, [partial(place_swapped, x), place_kept], threads):
            pass


class Tossed:
    """The swapped rows of a file and the kept ones, and how many of each stand before each block."""

    def __init__(self, key: Key, p: float, n: int, threads: int) -> None:
        kind = index_type(n)
        self.key, self.numbers = key, range(-(-n // BLOCK))

        def toss(block: int) -> tuple[np.ndarray, np.ndarray]:
            start = block * BLOCK
            rows_of_coins = coins(key, p, block, min(BLOCK, n - start))
            swapped, kept = (np.add(rows, start, dtype=kind, casting="unsafe") for rows in rows_of_coins)
            return swapped, kept

        # the swapped from the front, the kept from the back
        rows, first, last = np.empty(n, kind), 0, n
        self.swapped_before, self.kept_before = [0], [0]
        for swapped, kept in ordered_map(toss, self.numbers, threads):
            rows[first : first + swapped.size] = swapped
            rows[last - kept.size : last] = kept[::-1]
            first, last = first + swapped.size, last - kept.size
            self.swapped_before.append(first)
            self.kept_before.append(n - last)
        self.swapped, self.kept = rows[:first], rows[first:]
        _turn(self.kept)

    def words_of_swapped(self) -> np.ndarray:
        """One word for each swapped row."""
        drawn = np.empty(self.swapped.size, np.uint64)
        for block, (first, last) in enumerate(pairwise(self.swapped_before)):
            drawn[first:last] = words(self.key.stream(block, DONOR), last - first)
        return drawn

    def words_of_kept(self) -> np.ndarray:
        """One word for each kept row, from behind those of the swapped rows of its block."""
        drawn = np.empty(self.kept.size, np.uint64)
        swapped = np.diff(self.swapped_before).tolist()
        for block, (first, last) in enumerate(pairwise(self.kept_before)):
            both = words(self.key.stream(block, DONOR), swapped[block] + last - first)
            drawn[first:last] = both[swapped[block] :]
        return drawn


def _turn(rows: np.ndarray) -> None:
    """Put rows into the opposite order."""
    for start, stop in blocks(rows.size // 2):
        front, back = rows[start:stop], rows[rows.size - stop : rows.size - start]
        front[:], back[:] = back[::-1].copy(), front[::-1].copy()


def _call(task: Callable[[], Any]) -> Any:
    return task()


def _shuffled(tossed: Tossed, pool: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The places of the swapped rows by pool, and as many of the same pool in random order."""
    order, last = np.empty(tossed.swapped.size, tossed.swapped.dtype), 0
    for part in in_order(tossed.words_of_swapped()):  # a long list comes in parts
        order[last : last + part.size] = part
        last += part.size
    return _by_pool(None, tossed.swapped, pool), _by_pool(order, tossed.swapped, pool)


def _place_kept(
    tossed: Tossed, x: np.ndarray, law: Law, scale: str, column: int, pool: np.ndarray | None, threads: int
) -> None:
    """Give the kept rows of a column their values back, in the order of their keys."""
    rows, order = _in_order_of_keys(tossed, x, law, scale, column, pool, threads)
    by_key = _by_pool(order, rows, pool)
    del order
    values = taken(x, rows)
    if pool is None:
        by_value = rows[:0]
        spare = np.empty(values.size, np.uint64)
        if values.size and not range_partition.sort_floats_beside(values, spare):
            values.sort()
    else:
        by_value = _by_pool(ascending(values)[0], rows, pool)
        range_partition.take(x, rows, values)
    range_partition.place(rows, by_key, by_value, values, x)


def _in_order_of_keys(
    tossed: Tossed, x: np.ndarray, law: Law, scale: str, column: int, pool: np.ndarray | None, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The kept rows with a value, and their places in the order of keys, ties in random order."""
    keys, rows = np.empty(tossed.kept.size), tossed.kept

    def make(block: int) -> None:
        first, last = tossed.kept_before[block : block + 2]
        noise = law.draw(tossed.key.stream(block, NOISE, column), last - first)
        range_partition.make_keys(x, rows[first:last], noise, scale == "log", keys[first:last])

    for _ in ordered_map(make, tossed.numbers, threads):
        pass
    has_key = None
    if pool is not None and keys.size and np.isnan(keys.min()):
        has_key = np.isnan(keys, out=np.empty(keys.size, bool))
        np.logical_not(has_key, out=has_key)
        keys, rows = keys[has_key], rows[has_key]
    order, alike = ascending(keys)
    most = range_partition.most_tied(keys.view(np.uint64), order) if alike else 1
    if most > 1:
        ties = tossed.words_of_kept()
        ties = ties if has_key is None else ties[has_key]
        room = [np.empty(most, np.uint64) for _ in range(3)]
        range_partition.break_ties(keys.view(np.uint64), order, ties, *room)
    return rows, order


def _by_pool(places: np.ndarray | None, rows: np.ndarray, pool: np.ndarray | None) -> np.ndarray:
    """Places in a list of rows by the pools of these, in a pool in their order; rows in none are left out."""
    if pool is None:
        return rows[:0] if places is None else places
    pools = taken(pool, rows if places is None else taken(rows, places))
    order, _ = by_stratum(pools)
    if places is not None:
        range_partition.take(places, order, order)
    return order


def ascending(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """The places of numbers from the smallest to the largest, and whether some may be equal.

    The numbers are overwritten.
    """
    order, spare = (np.empty(values.size, np.uint64) for _ in range(2))
    distinct_keys = range_partition.order_floats(values, order, spare) if values.size else 1
    if not distinct_keys:
        order[:] = np.argsort(values.view(np.uint64), kind="stable")
    places = np.empty(order.size, index_type(order.size))
    places[:] = order
    return places, distinct_keys != 1
