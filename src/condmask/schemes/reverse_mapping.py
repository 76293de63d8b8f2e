"""Reverse mapping: the kept records get their own values back, in the order of their values with noise.

Within each donor pool, with S the swapped records and K the kept ones::

    key = x + Y   or, on the log scale,   x exp(Y)
    z[S] = shuffle(x[S]),     z[K[argsort(key[K])]] = sort(x[K])

so a release is the column in another order, and that order is independent of the coins
(docs/reverse_mapping.rst). Coins, words and noise are drawn as for every release (`draws`). The shuffle is
the order of the words of the swapped rows. Ties of keys are broken by words of the kept rows, which stand in
the same lane behind those of the swapped ones; the order of the rows would tell who was kept.

Cost: O(n), by counting sorts; O(n log n) where keys or values lie in a tiny part of their range.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from condmask._blocks import BLOCK, Workers, ordered_map
from condmask._randomness import DONOR, NOISE, Key, words
from condmask.kernels import ordering, sorting
from condmask.law import Law
from condmask.schemes.draws import Release, coins, in_order
from condmask.schemes.pools import Pools
from condmask.strata import index_type


def refuse_with_it(donors: str | None, **grid: Any) -> None:
    """Refuse what has no meaning beside ``reverse_mapping=True``."""
    if donors == "sample":
        raise ValueError(
            "donors must be 'permutation' where reverse_mapping=True, got 'sample': the swapped records take "
            "their values from one another"
        )
    for name, value in grid.items():
        if value is not None and not (name == "step" and value == 0.0):
            raise ValueError(
                f"{name} must be left out where reverse_mapping=True, got {value!r}: released values are "
                "those of the data, and nothing is rounded"
            )


def release_of(
    schemes: Sequence[Any],
    columns: list[np.ndarray],
    key: Key,
    *,
    pools: Pools | None,
    rows: tuple[int, int] | None = None,
    workers: Workers = 1,
) -> Release:
    """Columns on their way to being masked together, by reverse mapping or with the noise as it is."""
    first = schemes[0]
    if not first.reverse_mapping:
        cycle = first.donors == "permutation"
        return Release(columns, [each.law for each in schemes], key, pools=pools, cycle=cycle, rows=rows)
    laws = [Law(each.p, each.noise, each.sigma) for each in schemes]
    scales = [each.scale for each in schemes]
    return RearrangedRelease(columns, laws, scales, key, pools=pools, rows=rows, workers=workers)


class RearrangedRelease(Release):
    """Columns on their way to being masked together by reverse mapping.

    One coin for each record and one order of the swapped for all columns; each column is mapped back by
    itself.

    Parameters
    ----------
    columns : list of ndarray of shape (n,)
        Originals.
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
        tossed = _Tossed(key, self.p, self.n, threads)
        swapped = partial(_shuffled, tossed, pools)
        tasks: list[Callable[[], Any]] = [swapped]
        for number, (x, law, scale) in enumerate(zip(columns, laws, scales, strict=True)):
            there = None if pools is None else ~np.isnan(x[tossed.kept])
            tasks += [
                partial(_by_key, tossed, x, law, scale, number, there, threads),
                partial(_by_value, tossed, x, there),
            ]
        (to, taken), *orders = ordered_map(_call, tasks, threads)
        self.sources = []
        for by_key, by_value in zip(orders[::2], orders[1::2], strict=True):
            source = np.arange(self.n, dtype=tossed.kept.dtype)
            source[to] = taken
            source[_by_pool(by_key, pools)] = _by_pool(by_value, pools)
            self.sources.append(source)

    def block(self, number: int) -> list[np.ndarray]:
        """One block of every column, masked."""
        part = slice(number * BLOCK, (number + 1) * BLOCK)
        return [x[source[part]] for x, source in zip(self.columns, self.sources, strict=True)]


class _Tossed:
    """The swapped rows of a file and the kept ones, with how many of each stand before each block."""

    def __init__(self, key: Key, p: float, n: int, threads: int) -> None:
        kind = index_type(n)
        self.key, self.numbers = key, range(-(-n // BLOCK))

        def toss(block: int) -> tuple[np.ndarray, np.ndarray]:
            start = block * BLOCK
            found = coins(key, p, block, min(BLOCK, n - start))
            return (found[0] + start).astype(kind), (found[1] + start).astype(kind)

        swapped, kept = zip(*ordered_map(toss, self.numbers, threads), strict=True)
        self.swapped, self.kept = np.concatenate(swapped), np.concatenate(kept)
        self.swapped_before, self.kept_before = (
            np.cumsum([0, *(rows.size for rows in each)]) for each in (swapped, kept)
        )

    def words_of_swapped(self) -> np.ndarray:
        """One word for each swapped row."""
        drawn = np.empty(self.swapped.size, dtype=np.uint64)
        for block, size in enumerate(np.diff(self.swapped_before)):
            first = self.swapped_before[block]
            drawn[first : first + size] = words(self.key.stream(block, DONOR), size)
        return drawn

    def words_of_kept(self) -> np.ndarray:
        """One word for each kept row, from behind those of the swapped rows of its block."""
        drawn = []
        for block in self.numbers:
            swapped, kept = (np.diff(each)[block] for each in (self.swapped_before, self.kept_before))
            drawn.append(words(self.key.stream(block, DONOR), swapped + kept)[swapped:])
        return np.concatenate(drawn)


def _call(task: Callable[[], Any]) -> Any:
    return task()


def _shuffled(tossed: _Tossed, pools: Pools | None) -> tuple[np.ndarray, np.ndarray]:
    """The swapped rows by pool, and as many of the same pool in random order."""
    drawn = tossed.words_of_swapped()
    order = [tossed.swapped[places] for places in in_order(drawn)]
    return _by_pool(tossed.swapped, pools), _by_pool(np.concatenate(order), pools)


def _by_key(
    tossed: _Tossed, x: np.ndarray, law: Law, scale: str, column: int, there: np.ndarray | None, threads: int
) -> np.ndarray:
    """The kept rows with a value in the order of their keys, ties in random order."""
    keys = np.empty(tossed.kept.size)

    def make(block: int) -> None:
        first, last = tossed.kept_before[block : block + 2]
        noise = law.draw(tossed.key.stream(block, NOISE, column), last - first)
        ordering.make_keys(x, tossed.kept[first:last], noise, scale == "log", keys[first:last])

    for _ in ordered_map(make, tossed.numbers, threads):
        pass
    if there is not None:
        keys = keys[there]
    order = ascending(keys)
    tied = np.flatnonzero(ordering.tied(keys, order))
    if tied.size:
        drawn, own = tossed.words_of_kept(), order[tied]
        drawn = drawn if there is None else drawn[there]
        order[tied] = own[np.lexsort((drawn[own], keys[own]))]
    return np.asarray((tossed.kept if there is None else tossed.kept[there])[order])


def _by_value(tossed: _Tossed, x: np.ndarray, there: np.ndarray | None) -> np.ndarray:
    """The kept rows with a value in the order of their values."""
    rows = tossed.kept if there is None else tossed.kept[there]
    return np.asarray(rows[ascending(x[rows])])


def _by_pool(rows: np.ndarray, pools: Pools | None) -> np.ndarray:
    """Rows by pool, within a pool in the order they stand in; those in none are left out."""
    if pools is None:
        return rows
    pool = pools.pool[rows]
    counts = np.zeros(pools.size.size, dtype=np.int64)
    sorting.count(pool, counts)
    order = np.empty(int(counts.sum()), dtype=rows.dtype)
    sorting.sort(pool, np.cumsum(counts) - counts, order)
    return rows[order]


def ascending(values: np.ndarray) -> np.ndarray:
    """The places of numbers from the smallest to the largest."""
    order = np.empty(values.size, dtype=np.uint64)
    if values.size and ordering.order_floats(values, order):
        return order
    return np.argsort(values, kind="stable").astype(np.uint64)
