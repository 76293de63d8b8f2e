"""Draw the randomness of a release, block by block: coins (swap status), donors and noise.

The draws of a block depend only on the key, the block and its coins, never on the data, so a block
masked again under its key gets the same noise. Columns masked together share coins and donors and
differ in noise.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask._blocks import BLOCK, ordered_map
from condmask._randomness import COIN, DONOR, NOISE, Key, words
from condmask.kernels import cycle as cycles
from condmask.kernels import masking
from condmask.law import Law
from condmask.strata import Pools, index_type


class Tossed(NamedTuple):
    """The swap status of a file.

    Attributes
    ----------
    swapped, kept : ndarray of int
        Row numbers, ascending.
    swapped_before, kept_before : ndarray of int, shape (blocks + 1,)
        How many of them precede each block; last, how many there are.
    """

    swapped: np.ndarray
    kept: np.ndarray
    swapped_before: np.ndarray
    kept_before: np.ndarray


def coins(key: Key, p: float, block: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the swapped and the kept rows of a block, counted from its start."""
    return split_by_words(words(key.stream(block, COIN), size), p)


def split_by_words(drawn: np.ndarray, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into swapped and kept ones by one random word each."""
    swapped, kept = np.empty((2, drawn.size + 1), dtype=np.int64)
    s, k = masking.toss(drawn, np.uint64(int(p * 2.0**64)), swapped, kept)
    return swapped[:s], kept[:k]


def toss(key: Key, p: float, n: int, threads: int) -> Tossed:
    """Draw the swap status of a file of n records."""

    def of_block(start: int) -> list[np.ndarray]:
        sides = coins(key, p, start // BLOCK, min(BLOCK, n - start))
        return [(rows + start).astype(index_type(n)) for rows in sides]

    sides = list(zip(*ordered_map(of_block, range(0, n, BLOCK), threads), strict=True))
    before = [np.cumsum([0, *(rows.size for rows in side)]) for side in sides]
    return Tossed(*map(np.concatenate, sides), *before)


def words_of_swapped(key: Key, tossed: Tossed) -> np.ndarray:
    """Draw one word for each swapped row."""
    counts = np.diff(tossed.swapped_before).tolist()
    return np.concatenate(
        [words(key.stream(block, DONOR), count) for block, count in enumerate(counts)]
    )


def donors_of(
    drawn: np.ndarray, rows: np.ndarray, n: int, pools: Pools | None, *, cycle: bool
) -> np.ndarray:
    """Choose the donors of all swapped rows by one word each.

    By eq. (1) a donor is drawn uniformly from the other records of the pool. Along a cycle it is
    the next swapped row of the pool in the order of (word, row). A pool with a single swapped row
    keeps its donor by eq. (1); along the cycle it would release its own value.

    Returns
    -------
    ndarray of int
        A row for each of `rows`.
    """
    donors = np.full(rows.size, -1, dtype=rows.dtype)
    by_eq_1: slice | np.ndarray = slice(None)  # the rows with a donor by eq. (1)
    if cycle:
        first, last = np.full((2, 1 if pools is None else pools.size.size), -1)
        cycles.link(
            rows, in_order(drawn), rows[:0] if pools is None else pools.pool, first, last, donors
        )
        cycles.close(rows, first, last, donors)
        by_eq_1 = first[(first == last) & (first >= 0)]
    singles = rows[by_eq_1].astype(np.int64)
    chosen = np.empty_like(singles)
    if pools is None:
        masking.choose_donors(drawn[by_eq_1], singles, 0, n, chosen)
    else:
        masking.choose_pool_donors(drawn[by_eq_1], singles, 0, *pools, chosen)
    donors[by_eq_1] = chosen
    return donors


def in_order(drawn: np.ndarray) -> np.ndarray:
    """Return the positions of words in ascending order of the words."""
    order = np.empty_like(drawn)
    if not cycles.radix_argsort(drawn, order, np.empty_like(drawn)):
        order = np.argsort(drawn, kind="stable").astype(np.uint64)
    return order


def mask_columns(
    laws: Sequence[Law],
    columns: list[np.ndarray],
    key: Key,
    pools: Pools | None,
    workers: int,
    *,
    cycle: bool,
) -> list[np.ndarray]:
    """Mask columns together, with one swap status and one donor per record.

    Parameters
    ----------
    laws : sequence of Law
        One for each column, all with the same p.
    columns : list of ndarray of shape (n,)
        Originals, in whole steps of their grids.
    key : Key
    pools : Pools or None
        Donor pools; None where all records are one.
    workers : int
    cycle : bool
        Whether swapped records pass their values along a cycle; else donors are by eq. (1).

    Returns
    -------
    list of ndarray of shape (n,)
        In the units of the data.
    """
    n = columns[0].size
    p = laws[0].p
    tossed = toss(key, p, n, workers)
    donors = donors_of(words_of_swapped(key, tossed), tossed.swapped, n, pools, cycle=cycle)
    masked = [np.empty(n) for _ in columns]

    def mask_block(number: int) -> None:
        """Mask one block of every column."""
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


def mask_rows(x: np.ndarray, law: Law, stream: np.random.Generator, *, cycle: bool) -> np.ndarray:
    """Mask every row of x on its own from one stream, for studies."""
    (rows, n) = x.shape
    swapped, kept = split_by_words(words(stream, x.size), law.p)
    drawn = words(stream, swapped.size)
    every = np.arange(x.size)
    # the block is one file, in which each row is a pool of its own
    pools = Pools(np.repeat(every[:rows], n), every[::n], np.full(rows, n), every)
    donors = donors_of(drawn, swapped, x.size, pools, cycle=cycle)
    units = law.to_units(x).ravel()
    z = np.empty(x.shape)  # in rows, whatever the order of x
    masking.place(units, swapped, donors, kept, law.draw(stream, kept.size), 0, z.ravel())
    return np.asarray(law.from_units(z))
