"""The draws of a release: coins (swap status), donors and noise, block by block.

The draws of a block depend only on the key, the block and its coins, never on the data, so a block
masked again under its key gets the same noise. Columns masked together share coins and donors and
differ in noise.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from condmask._blocks import BLOCK, Workers, blocks, ordered_map
from condmask._randomness import COIN, DONOR, NOISE, Key, words
from condmask.donor_pools import Pools
from condmask.kernels import cycle as cycles
from condmask.kernels import masking
from condmask.law import Law
from condmask.strata import index_type

LONG, TOP_BITS = 1 << 20, 4  # words that are ordered at once, else by so many bits


def coins(key: Key, p: float, block: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The swapped rows of a block and the kept ones, counted from its start."""
    swapped, kept = np.empty((2, size + 1), dtype=np.int64)
    threshold = np.uint64(int(p * 2.0**64))
    s, k = masking.toss(words(key.stream(block, COIN), size), threshold, swapped, kept)
    return swapped[:s], kept[:k]


def sample_donors(key: Key, swapped: np.ndarray, block: int, n: int, pools: Pools | None) -> np.ndarray:
    """Donors of the swapped rows of a block by eq. (1), in the order of the rows."""
    return _donors(words(key.stream(block, DONOR), swapped.size), swapped, block * BLOCK, n, pools)


def _donors(drawn: np.ndarray, swapped: np.ndarray, start: int, n: int, pools: Pools | None) -> np.ndarray:
    donors = np.empty(swapped.size, dtype=np.int64)
    if pools is None:
        masking.choose_donors(drawn, swapped, start, n, donors)
    else:
        pool, first, size, order = pools
        masking.choose_pool_donors(drawn, swapped, start, pool, first, size, order, donors)
    return donors


def permutation_donors(key: Key, p: float, n: int, pools: Pools | None) -> tuple[np.ndarray, np.ndarray]:
    """Donors of all swapped rows of the file: the next one of the pool in the order of (word, row).

    And the number of swapped rows before each block.

    A pool with a single swapped row keeps its donor by eq. (1): its own value would be the release.
    """
    kind = index_type(n)
    rows, drawn, m = np.empty(n, kind), np.empty(n, np.uint64), 0
    before = np.empty(-(-n // BLOCK), dtype=np.int64)
    for block in range(before.size):
        start, before[block] = block * BLOCK, m
        swapped, _ = coins(key, p, block, min(BLOCK, n - start))
        part = slice(m, m := m + swapped.size)
        rows[part] = swapped + start
        drawn[part] = words(key.stream(block, DONOR), swapped.size)
    rows, drawn = rows[:m], drawn[:m]
    donors = np.empty(m, kind)
    donors[:] = -1
    first, last = np.full((2, 1 if pools is None else pools.size.size), -1)
    for order in in_order(drawn):
        cycles.link(rows, order, rows[:0] if pools is None else pools.pool, first, last, donors)
    cycles.close(rows, first, last, donors)
    alone = first[(first == last) & (first >= 0)]
    donors[alone] = _donors(drawn[alone], rows[alone].astype(np.int64), 0, n, pools)
    return donors, before


def in_order(drawn: np.ndarray) -> Iterator[np.ndarray]:
    """The places of words from the smallest to the largest, those of a long list in parts by top bits."""
    bits = TOP_BITS if drawn.size > LONG else 0
    for top in range(1 << bits):
        places, some = None, drawn
        if bits:
            held = [
                np.flatnonzero(drawn[a:b] >> np.uint64(64 - bits) == top) + a for a, b in blocks(drawn.size)
            ]
            places = np.concatenate(held)
            some = drawn[places] << np.uint64(bits)
        order = np.empty_like(some)
        if not cycles.radix_argsort(some, order, np.empty_like(some)):
            order = np.argsort(some, kind="stable").astype(np.uint64)
        yield order if places is None else places[order].astype(np.uint64)


class MaskedBlocks:
    """Columns on their way to being masked together: one coin and one donor per record.

    Parameters
    ----------
    columns : list of ndarray of shape (n,)
        Originals, in whole steps of their grids.
    laws : list of Law
        One for each column; p is the same.
    key : Key
    pools : Pools, optional
        Donor pools; None where all records are one.
    cycle : bool
        Whether the swapped records pass their values along one cycle, instead of by eq. (1).
    rows : (int, int), optional
        Only these rows are wanted.
    """

    def __init__(
        self,
        columns: list[np.ndarray],
        laws: list[Law],
        key: Key,
        *,
        pools: Pools | None = None,
        cycle: bool = False,
        rows: tuple[int, int] | None = None,
    ) -> None:
        self.columns, self.laws, self.pools = columns, laws, pools
        self.p, self.n = laws[0].p, columns[0].size
        self.key = key.transport()
        self.rows = (0, self.n) if rows is None else rows
        self.donors, self.before = None, np.zeros(-(-self.n // BLOCK), dtype=np.int64)
        if cycle:
            self.donors, self.before = permutation_donors(key, self.p, self.n, pools)

    def block(self, number: int) -> list[np.ndarray]:
        """One block of every column, masked, in the units of the data."""
        key = self.key.open()
        start = number * BLOCK
        size = min(BLOCK, self.n - start)
        swapped, kept = coins(key, self.p, number, size)
        if self.donors is None:
            donors = sample_donors(key, swapped, number, self.n, self.pools)
        else:
            donors = self.donors[self.before[number] :][: swapped.size].astype(np.int64)
        masked = []
        for column, (x, law) in enumerate(zip(self.columns, self.laws, strict=True)):
            noise = law.draw(key.stream(number, NOISE, column), kept.size)
            z = np.empty(size)
            masking.place(x, swapped, donors, kept, noise, start, z)
            masked.append(law.from_units(z))
        return masked

    def blocks(self, workers: Workers) -> Iterator[list[np.ndarray]]:
        """The blocks that cover the wanted rows, one after the other."""
        yield from ordered_map(self.block, self._numbers(), workers)

    def masked(self, workers: Workers) -> list[np.ndarray]:
        """The masked values of the wanted rows, whole, for every column."""
        first, last = self.rows
        masked = [np.empty(last - first) for _ in self.columns]

        def insert(number: int, parts: list[np.ndarray]) -> None:
            offset = number * BLOCK
            start, stop = max(first, offset), min(last, offset + BLOCK)
            for z, part in zip(masked, parts, strict=True):
                z[start - first : stop - first] = part[start - offset : stop - offset]

        if isinstance(workers, int):
            # threads put their blocks in place themselves, while they are in the cache
            for _ in ordered_map(lambda b: insert(b, self.block(b)), self._numbers(), workers):
                pass
        else:
            for number, parts in zip(self._numbers(), workers(self.block, self._numbers()), strict=True):
                insert(number, parts)
        return masked

    def _numbers(self) -> range:
        return range(self.rows[0] // BLOCK, -(-self.rows[1] // BLOCK))


def mask_rows(x: np.ndarray, law: Law, stream: np.random.Generator, *, cycle: bool) -> np.ndarray:
    """Every row of x masked on its own from one stream, in whole steps of the grid where there is one."""
    rows, n = x.shape
    swapped, kept = np.empty((2, x.size + 1), dtype=np.int64)
    threshold = np.uint64(int(law.p * 2.0**64))
    s, k = masking.toss(words(stream, x.size), threshold, swapped, kept)
    swapped, kept = swapped[:s], kept[:k]
    drawn, donors = words(stream, s), np.empty(s, dtype=np.int64)
    every = np.arange(x.size)  # of the block as one file, in which each row is a pool of its own
    row = np.repeat(every[:rows], n)
    masking.choose_pool_donors(drawn, swapped, 0, row, every[::n], np.full(rows, n), every, donors)
    if cycle:
        edges = np.searchsorted(swapped, n * np.arange(rows + 1))
        for first, last in pairwise(edges):
            if last - first > 1:
                order = first + np.argsort(drawn[first:last], kind="stable")
                donors[order] = swapped[np.roll(order, -1)]
    z = np.empty(x.shape, dtype=x.dtype)  # in rows, whatever the order of x
    masking.place(x.ravel(), swapped, donors, kept, law.draw(stream, k), 0, z.ravel())
    return z
