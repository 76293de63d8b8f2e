"""The draws of a release: coins (swap status), donors and noise, block by block.

The draws of a block depend only on the key, the block and its coins, never on the data, so a block
masked again under its key gets the same noise. Columns masked together share coins and donors and
differ in noise.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import BLOCK, ordered_map
from condmask._randomness import COIN, DONOR, NOISE, Key, words
from condmask.kernels import cycle as cycles
from condmask.kernels import masking
from condmask.strata import Pools, index_type


class Tossed(NamedTuple):
    """The swapped rows of a file and the kept ones, and how many stand before each block and in
    all."""

    swapped: np.ndarray
    kept: np.ndarray
    swapped_before: np.ndarray
    kept_before: np.ndarray


def coins(key: Key, p: float, block: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The swapped rows of a block and the kept ones, counted from its start."""
    return split(words(key.stream(block, COIN), size), p)


def split(drawn: np.ndarray, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The swapped rows and the kept ones, by a word each."""
    swapped, kept = np.empty((2, drawn.size + 1), dtype=np.int64)
    s, k = masking.toss(drawn, np.uint64(int(p * 2.0**64)), swapped, kept)
    return swapped[:s], kept[:k]


def toss(key: Key, p: float, n: int, threads: int) -> Tossed:
    """The coins of a file of n records."""

    def of_block(start: int) -> list[np.ndarray]:
        sides = coins(key, p, start // BLOCK, min(BLOCK, n - start))
        return [(rows + start).astype(index_type(n)) for rows in sides]

    sides = list(zip(*ordered_map(of_block, range(0, n, BLOCK), threads), strict=True))
    before = [np.cumsum([0, *(rows.size for rows in side)]) for side in sides]
    return Tossed(*map(np.concatenate, sides), *before)


def words_of_swapped(key: Key, tossed: Tossed) -> np.ndarray:
    """One word for each swapped row."""
    counts = np.diff(tossed.swapped_before).tolist()
    return np.concatenate(
        [words(key.stream(block, DONOR), count) for block, count in enumerate(counts)]
    )


def donors_of(
    drawn: np.ndarray, rows: np.ndarray, n: int, pools: Pools | None, *, cycle: bool
) -> np.ndarray:
    """Donors of all swapped rows by one word each: by eq. (1), uniformly from the others of the
    pool.

    Along a cycle it is the next one of the pool in the order of (word, row). A pool with a single
    swapped row keeps its donor by eq. (1): its own value would be the release.
    """
    donors = np.full(rows.size, -1, dtype=rows.dtype)
    rest: Any = slice(None)  # the rows that eq. (1) is for
    if cycle:
        first, last = np.full((2, 1 if pools is None else pools.size.size), -1)
        cycles.link(
            rows, in_order(drawn), rows[:0] if pools is None else pools.pool, first, last, donors
        )
        cycles.close(rows, first, last, donors)
        rest = first[(first == last) & (first >= 0)]
    own = rows[rest].astype(np.int64)
    found = np.empty_like(own)
    if pools is None:
        masking.choose_donors(drawn[rest], own, 0, n, found)
    else:
        masking.choose_pool_donors(drawn[rest], own, 0, *pools, found)
    donors[rest] = found
    return donors


def in_order(drawn: np.ndarray) -> np.ndarray:
    """The places of words from the smallest to the largest."""
    order = np.empty_like(drawn)
    if not cycles.radix_argsort(drawn, order, np.empty_like(drawn)):
        order = np.argsort(drawn, kind="stable").astype(np.uint64)
    return order


def mask_columns(
    schemes: Sequence[Any], columns: list[np.ndarray], key: Key, pools: Pools | None, workers: int
) -> list[np.ndarray]:
    """Columns masked together, in the units of the data: one coin and one donor per record.

    Parameters
    ----------
    schemes : sequence of ConditionalMasking
        One for each column; p and how donors are chosen are the same.
    columns : list of ndarray of shape (n,)
        Originals, in whole steps of their grids.
    key : Key
    pools : Pools or None
        Donor pools; None where all records are one.
    workers : int
    """
    n = columns[0].size
    p = schemes[0].p
    cycle = schemes[0].donors == "permutation"
    tossed = toss(key, p, n, workers)
    donors = donors_of(words_of_swapped(key, tossed), tossed.swapped, n, pools, cycle=cycle)
    masked = [np.empty(n) for _ in columns]
    laws = [scheme.law for scheme in schemes]

    def mask_block(number: int) -> None:
        """One block of every column, in the units of the data."""
        start = number * BLOCK
        size = min(BLOCK, n - number * BLOCK)
        swapped, kept = coins(key, p, number, size)
        first, last = tossed.swapped_before[number : number + 2]
        chosen = donors[first:last].astype(np.int64)
        for column, (x, law) in enumerate(zip(columns, laws, strict=True)):
            noise = law.draw(key.stream(number, NOISE, column), kept.size)
            z = np.empty(size)
            masking.place(x, swapped, chosen, kept, noise, start, z)
            masked[column][start : start + size] = law.from_units(z)

    for _ in ordered_map(mask_block, range(-(-n // BLOCK)), workers):
        pass
    return masked


def mask_rows(x: np.ndarray, scheme: Any, stream: np.random.Generator) -> np.ndarray:
    """Every row of x masked on its own from one stream, for studies."""
    law = scheme.law
    (rows, n) = x.shape
    swapped, kept = split(words(stream, x.size), law.p)
    drawn = words(stream, swapped.size)
    every = np.arange(x.size)
    # the block is one file, in which each row is a pool of its own
    pools = Pools(np.repeat(every[:rows], n), every[::n], np.full(rows, n), every)
    donors = donors_of(drawn, swapped, x.size, pools, cycle=scheme.donors == "permutation")
    units = law.to_units(x).ravel()
    z = np.empty(x.shape)  # in rows, whatever the order of x
    masking.place(units, swapped, donors, kept, law.draw(stream, kept.size), 0, z.ravel())
    return np.asarray(law.from_units(z))
