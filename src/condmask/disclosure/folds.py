"""Which rows an attack looks at, the folds they are in, and values counted by fold.

No record is attacked with its own value: a file is split into folds by row, and the values of a fold are
attacked with those of the others.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask.law import Law

MOST_FOLDS, RECORDS_FOR_TWO = 10, 20_000
GOLDEN = 0.6180339887498949  # whose multiples are spread evenly modulo 1


def kronecker(rows: int | np.ndarray) -> np.ndarray:
    """Kronecker's sequence, in some rows or the first n: numbers between 0 and 1, spread evenly over all
    rows, and over those of any period."""
    turns = (np.arange(rows) if isinstance(rows, int) else rows) * GOLDEN
    return np.asarray(turns - np.floor(turns))


def systematic_sample(cumulated: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A number of places evenly spread over cumulated weights: the entry of each, and how far into it."""
    goal = (np.arange(most) + kronecker(most)) / most * cumulated[-1]
    index = np.minimum(np.searchsorted(cumulated, goal, side="right"), cumulated.size - 1)
    size = np.diff(cumulated, prepend=0.0)[index]
    part = (goal - cumulated[index] + size) / np.maximum(size, 1e-300)
    return index, np.clip(part, 0.0, np.nextafter(1.0, 0.0))


class FoldedRows(NamedTuple):
    """The rows that are attacked, the fold of each, and how many folds there are."""

    rows: np.ndarray
    fold: np.ndarray
    folds: int

    def folds_of(self, rows: np.ndarray) -> np.ndarray:
        """The fold of each of some rows; a row that is not among these may be attacked with all folds."""
        place = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        return np.where(self.rows[place] == rows, self.fold[place], 0)


def folded_rows(n: int, most: int, folds: int = 0) -> FoldedRows:
    """Evenly spaced rows of n in the given number of folds; if that is 0, it follows from the rows."""
    rows = evenly_spaced(n, most)
    folds = folds or folds_for(rows.size)
    return FoldedRows(rows, fold_of(rows.size, folds), folds)


def fold_of(rows: int | np.ndarray, folds: int) -> np.ndarray:
    """The fold of each row, or of so many, such that folds are alike even if rows are ordered by their
    values."""
    return np.asarray((kronecker(rows) * folds).astype(np.int64))


def folds_for(n: int) -> int:
    """How many folds n records are split into: two for many, ten for few."""
    return int(min(MOST_FOLDS, max(2, ceil(RECORDS_FOR_TWO / max(n, 1)))))


class FoldCounts(NamedTuple):
    """Whole numbers to which noise of one law is added, counted by fold."""

    values: np.ndarray
    table: np.ndarray  # (folds, values)
    law: Law

    @property
    def counts(self) -> np.ndarray:
        """The records of all folds at each value."""
        return np.asarray(self.table.sum(axis=0))

    def counts_at(self, points: np.ndarray) -> np.ndarray:
        """The records that show each point where no noise is added."""
        place = np.minimum(np.searchsorted(self.values, points), self.values.size - 1)
        return np.where(self.values[place] == points, self.counts[place], 0)

    @property
    def n(self) -> int:
        return int(self.table.sum())

    @property
    def sigma(self) -> float:
        """In whole steps."""
        return self.law.sigma / self.law.step


def count_by_fold(units: np.ndarray, fold: np.ndarray, folds: int, law: Law) -> FoldCounts:
    """Whole numbers, counted by fold."""
    low, high = int(units.min()), int(units.max())
    if high - low <= 4 * units.size + (1 << 16):
        size = high - low + 1
        table = np.zeros((folds, size), dtype=np.int64)
        for start, stop in blocks(units.size):
            np.add.at(table, (fold[start:stop], units[start:stop] - low), 1)
        occupied = np.flatnonzero(table.any(axis=0))
        return FoldCounts(occupied + low, table[:, occupied], law)
    values, place = np.unique(units, return_inverse=True)
    table = np.bincount(fold * values.size + place, minlength=folds * values.size)
    return FoldCounts(values, table.reshape(folds, values.size), law)
