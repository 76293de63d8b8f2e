"""The draws of the rows of one partition, the same as on one machine.

A block of 65,536 rows, counted from the first of the table, has its streams of random words. A partition
draws the blocks that it overlaps whole, and takes what is of its own rows.
"""

from typing import NamedTuple

import numpy as np

from condmask._blocks import BLOCK
from condmask._randomness import DONOR, NOISE, Key, words
from condmask.draws import coins
from condmask.law import Law


class Span(NamedTuple):
    """The rows start <= r < stop of a table of n."""

    start: int
    stop: int
    n: int


class _Block(NamedTuple):
    """A block, the numbers of its swapped and kept rows, and which of these are in the partition."""

    number: int
    swapped: int
    kept: int
    own_swapped: slice
    own_kept: slice


class PartDraws:
    """Swap status, words and noise of the rows of a partition.

    Attributes
    ----------
    swapped, kept : ndarray of int64
        Their places in the partition, ascending.
    """

    def __init__(self, key: Key, p: float, span: Span) -> None:
        self._key = key
        self._blocks: list[_Block] = []
        swapped, kept = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number in range(span.start // BLOCK, -(-span.stop // BLOCK) if span.start < span.stop else 0):
            first = number * BLOCK
            rows = coins(key, p, number, min(BLOCK, span.n - first))
            own = [slice(*np.searchsorted(part, [span.start - first, span.stop - first])) for part in rows]
            self._blocks.append(_Block(number, rows[0].size, rows[1].size, *own))
            swapped.append(rows[0][own[0]] + (first - span.start))
            kept.append(rows[1][own[1]] + (first - span.start))
        self.swapped, self.kept = np.concatenate(swapped), np.concatenate(kept)

    def words_of_swapped(self) -> np.ndarray:
        """One word for each swapped row."""
        drawn = [words(self._key.stream(b.number, DONOR), b.swapped)[b.own_swapped] for b in self._blocks]
        return np.concatenate([np.empty(0, np.uint64), *drawn])

    def words_of_kept(self) -> np.ndarray:
        """One word for each kept row, from behind those of the swapped rows of its block."""
        drawn = [
            words(self._key.stream(b.number, DONOR), b.swapped + b.kept)[b.swapped :][b.own_kept]
            for b in self._blocks
        ]
        return np.concatenate([np.empty(0, np.uint64), *drawn])

    def noise(self, law: Law, column: int) -> np.ndarray:
        """The noise of each kept row, in steps of the grid if there is one."""
        drawn = [
            law.draw(self._key.stream(b.number, NOISE, column), b.kept)[b.own_kept] for b in self._blocks
        ]
        return np.concatenate([np.empty(0), *drawn])
