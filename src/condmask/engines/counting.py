"""Masked values counted by grid point: all that their distribution, moments and quantiles depend on.

A window of the grid is counted in one pass over the records, without sorting; what lies outside it is
counted in windows of its own, and what is left after a few of these is sorted.
"""

from collections.abc import Iterable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.grid import ULPS, Grid
from condmask.kernels.counting import count_distinct, count_window, take_distinct

SAMPLE = 1 << 10  # records that suggest a window
SMALLEST, POINTS_PER_RECORD = 1 << 16, 4  # points of a window: at least, and for each record
WINDOWS = 8
ROOM = 1 << 20  # points of the window of all parts
MERGED, MOST_POINTS = 1 << 18, 1 << 22  # points: that are held unmerged, and that are counted in memory
FEW = 1 << 12  # records that are sorted sooner than counted
SHARED, BLOCK = 1 << 17, 1 << 18  # points of which each block of records keeps counts of its own
SLACK = ULPS * 2.0**-52


class TooManyPointsError(ValueError):
    """Records lie on more points than are counted in memory."""


class _ValueCounts(NamedTuple):
    values: np.ndarray
    counts: np.ndarray


class ValueCounts(_ValueCounts):
    """Distinct values in whole steps of a grid, ascending, and how many records have each."""

    @cached_property
    def n(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def below(self) -> np.ndarray:
        """The number of records before each value, and in all."""
        below = np.empty(self.counts.size + 1, np.int64)
        below[0] = 0
        np.cumsum(self.counts, out=below[1:])
        return below

    def records(self) -> np.ndarray:
        """One value for each record, ascending."""
        return np.repeat(self.values, self.counts)


def by_value(ascending: np.ndarray) -> ValueCounts:
    """The counts of ascending values as they are; zero has no sign. The values take the place of the given
    ones, which are overwritten."""
    below = np.empty(count_distinct(ascending) + 1, np.int64)
    take_distinct(ascending, below)
    counts = np.empty(below.size - 1, np.int64)
    np.subtract(below[1:], below[:-1], out=counts)
    values = ascending[: counts.size]
    counted = ValueCounts(values if 2 * values.size > ascending.size else values.copy(), counts)
    counted.below = below
    return counted


EMPTY = ValueCounts(np.empty(0), np.empty(0, dtype=np.int64))


class Tally:
    """Counts of records that come part by part, in a window of the grid that the first of them suggest.

    Parameters
    ----------
    grid : Grid
    """

    def __init__(self, grid: Grid) -> None:
        self._grid, self._per_step = grid, grid.denominator / grid.numerator
        self._first, self._counts = 0.0, np.zeros(1, dtype=np.int64)  # the last one of what lies outside
        self._parts: list[ValueCounts] = []
        self._held, self._most = 0, MERGED

    def add(self, z: np.ndarray) -> np.ndarray:
        """Count records that lie in the window; returns the others."""
        if self._counts.size == 1:
            first, points = _window(z, self._grid)
            margin = max(0, ROOM - points) // 2 if points else 0  # for what comes later
            self._first = first - margin
            self._counts = np.zeros(points + 2 * margin + 1, dtype=np.int64)
        return _count_rows(z, self._per_step, self._first, (0, z.size), self._counts)

    def add_counts(self, counts: ValueCounts) -> None:
        """Add records that were counted already; refused where all lie on too many points."""
        self._parts.append(counts)
        self._held += counts.values.size
        if self._held > self._most:
            self._parts = [merged(self._parts)]
            self._held = self._parts[0].values.size
            self._most = max(MERGED, 2 * self._held)
            if self._held > MOST_POINTS:
                raise TooManyPointsError

    def counts(self) -> ValueCounts:
        """All that were added."""
        occupied = np.flatnonzero(self._counts[:-1])
        return merged([ValueCounts(occupied + self._first, self._counts[occupied]), *self._parts])


def count(z: np.ndarray, grid: Grid, workers: Workers = 1) -> tuple[ValueCounts, np.ndarray]:
    """The counts of records on the grid, and the values that are not on it (NaN among them)."""
    per_step = grid.denominator / grid.numerator
    rest, off = z, np.empty(0)
    parts: list[ValueCounts] = []
    while rest.size > FEW and len(parts) < WINDOWS:
        first, points = _window(rest, grid)
        if points == 0:
            break
        counted, rest = _counted(rest, per_step, first, points, workers)
        there = np.flatnonzero(counted)
        parts.append(ValueCounts(there + first, counted[there]))
    if rest.size or not parts:
        with np.errstate(over="ignore", invalid="ignore"):
            units = grid.units(rest)
            on = np.abs(rest * per_step - units) <= SLACK * np.abs(units)
        off = rest[~on]
        ascending = units[on]
        ascending.sort()
        parts.append(by_value(ascending))
    return (parts[0] if len(parts) == 1 else merged(parts)), off


def merged(parts: list[ValueCounts]) -> ValueCounts:
    """All counts together."""
    values = np.concatenate([part.values for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    first = np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)
    return ValueCounts(values[first], np.add.reduceat(counts, first) if first.size else counts)


def distinct(parts: Iterable[np.ndarray], kind: type) -> np.ndarray:
    """The distinct ones, ascending, of numbers of one kind that come part by part."""
    found: list[np.ndarray] = [np.empty(0, dtype=kind)]
    for part in parts:
        found = with_distinct(found, part)
    return np.unique(np.concatenate(found))


def with_distinct(found: list[np.ndarray], part: np.ndarray) -> list[np.ndarray]:
    """The distinct ones of earlier parts, and of each later one; with those of another part."""
    found.append(np.unique(part))
    if sum(some.size for some in found[1:]) > found[0].size + MERGED:
        return [np.unique(np.concatenate(found))]
    return found


def _window(z: np.ndarray, grid: Grid) -> tuple[float, int]:
    """The window of the grid, not too long for the data, that holds most of a sample, if any does."""
    most = max(SMALLEST, POINTS_PER_RECORD * z.size)
    sample = z[:: max(1, z.size // SAMPLE)]
    with np.errstate(over="ignore"):
        sample = np.sort(grid.units(sample[np.isfinite(sample)]))
    ends = np.searchsorted(sample, sample + 0.5 * most, side="right")
    held = ends - np.arange(sample.size)
    if sample.size == 0 or 4 * held.max() < sample.size:  # or all are missing
        return 0.0, 0
    best = int(np.argmax(held))
    low, high = float(sample[best]), float(sample[ends[best] - 1])
    margin = np.floor(min(0.25 * most, 0.5 * (high - low) + 64.0))
    return low - margin, int(high - low + 2.0 * margin) + 1


def _counted(
    z: np.ndarray, per_step: float, first: float, points: int, workers: Workers
) -> tuple[np.ndarray, np.ndarray]:
    """The counts of a window, and the records outside it."""
    split = (
        blocks(z.size, BLOCK)
        if points <= SHARED and isinstance(workers, int) and workers > 1
        else [(0, z.size)]
    )
    total, left = np.zeros(points, dtype=np.int64), []
    for counts, outside in ordered_map(
        partial(_block, z, per_step, first, points), split, workers if len(split) > 1 else 1
    ):
        total += counts
        left.append(outside)
    return total, left[0] if len(left) == 1 else np.concatenate(left)


def _block(
    z: np.ndarray, per_step: float, first: float, points: int, rows: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    counts = np.zeros(points + 1, dtype=np.int64)
    outside = _count_rows(z, per_step, first, rows, counts)
    return counts[:-1], outside


def _count_rows(
    z: np.ndarray, per_step: float, first: float, rows: tuple[int, int], counts: np.ndarray
) -> np.ndarray:
    """Count some records in a window; returns the others."""
    begin, size = rows[0], rows[1] - rows[0]
    outside, left = np.empty(size + 1), 0
    for start, stop in blocks(size, BLOCK):
        left += count_window(z, per_step, SLACK, first, begin + start, begin + stop, counts, outside[left:])
    return outside[:left].copy()
