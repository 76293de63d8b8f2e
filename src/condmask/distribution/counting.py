"""Masked values counted by grid point: all that their distribution, moments and quantiles depend
on.

A window of the grid is counted in one pass over the records, without sorting; what lies outside it
is counted in windows of its own, and what is left after a few of these is sorted.

Theorems 2.1 to 2.3 are sums over these counts.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from condmask._blocks import ordered_map
from condmask.errors import ArgumentError
from condmask.grid import ULPS, Grid
from condmask.kernels.counting import count_window

SAMPLE = 1 << 10  # records that suggest a window
SMALLEST = 1 << 16
POINTS_PER_RECORD = 4  # points of a window: at least, and for each record
WINDOWS = 4
HELD = 1 << 18  # points of counts that are not merged
FEW = 1 << 12  # records that are sorted sooner than counted
SLACK = ULPS * 2.0**-52


class _Counted(NamedTuple):
    values: np.ndarray
    counts: np.ndarray
    unit: float = 1.0


class Counted(_Counted):
    """Distinct values, ascending, and how many records have each.

    Attributes
    ----------
    values : ndarray of shape (v,)
        In whole steps where there is a grid.
    counts : ndarray of int64 of shape (v,)
    unit : float
        What the noise's sigma is in the units of the values.
    below : ndarray of int64 of shape (v + 1,)
        The number of records before each value, and in all.
    n : int
    """

    @cached_property
    def n(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def below(self) -> np.ndarray:
        return np.append(0, np.cumsum(self.counts))

    def records(self) -> np.ndarray:
        """One value for each record, ascending."""
        return np.repeat(self.values, self.counts)


EMPTY = Counted(np.empty(0), np.empty(0, dtype=np.int64))


def by_value(records: np.ndarray) -> Counted:
    """The counts of values as they are; zero has no sign."""
    ascending = np.sort(records)
    first = np.flatnonzero(np.diff(ascending, prepend=np.nan))
    return Counted(ascending[first] + 0.0, np.diff(first, append=ascending.size))


def merged(parts: list[Counted]) -> Counted:
    """All counts together, in the units of the first."""
    values, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    order = np.argsort(values, kind="stable")  # which finds what is in order
    values = values[order]
    counts = counts[order]
    first = np.flatnonzero(np.diff(values, prepend=np.nan))
    return Counted(
        values[first], np.add.reduceat(counts, first) if first.size else counts, parts[0].unit
    )


def count(z: np.ndarray, grid: Grid) -> tuple[Counted, np.ndarray]:
    """The counts of records on the grid, and the values that are not on it (NaN among them)."""
    per_step = grid.denominator / grid.numerator
    rest = z
    off = np.empty(0)
    parts: list[Counted] = []
    while rest.size > FEW and len(parts) < WINDOWS:
        first, points = _window(rest, grid)
        counted = np.zeros(points + 1, dtype=np.int64)
        outside = np.empty(rest.size + 1)
        left = count_window(rest, per_step, SLACK, first, 0, rest.size, counted, outside)
        there = np.flatnonzero(counted[:-1])
        rest = outside[:left].copy()
        parts.append(Counted(there + first, counted[there]))
    if rest.size or not parts:
        with np.errstate(over="ignore", invalid="ignore"):
            units = grid.units(rest)
            on = np.abs(rest * per_step - units) <= SLACK * np.abs(units)
        off = rest[~on]
        parts.append(by_value(units[on]))
    return (parts[0] if len(parts) == 1 else merged(parts)), off


def counted_parts(
    parts: Iterable[tuple[np.ndarray, str]], grid: Grid, workers: int = 1
) -> Counted:
    """The counts of masked values that come part by part, each with its kind; refused off their
    grid.

    Missing ones are left out.
    """
    held: list[Counted] = []
    for counts in ordered_map(lambda part: _counted_part(grid, *part), parts, workers):
        held.append(counts)
        if sum(each.values.size for each in held[1:]) > held[0].values.size + HELD:
            held = [merged(held)]
    return held[0] if len(held) == 1 else merged(held or [EMPTY])


def _counted_part(grid: Grid, z: np.ndarray, kind: str) -> Counted:
    """The counts of a part."""
    counts, off = count(z, grid)
    off = off[~np.isnan(off)]
    if off.size and kind == "float32":  # decimals miss their grid by more in single precision
        near = grid.values(grid.units(off))
        on = np.abs(off - near) <= 4.0 * np.spacing(np.abs(near).astype(np.float32))
        counts = merged([counts, count(near[on], grid)[0]])
        off = off[~on]
    if off.size:
        raise ArgumentError(
            f"z must lie on the grid of its scheme, multiples of {grid.step:g}, got {float(off[0])!r} "
            f"({off.size} such values); data without a grid have a scheme of step=0"
        )
    return counts


def _window(z: np.ndarray, grid: Grid) -> tuple[float, int]:
    """The window of the grid, not too long for the data, that holds most of a sample and some
    beside it."""
    most = max(SMALLEST, POINTS_PER_RECORD * z.size)
    sample = grid.units(z[:: z.size // SAMPLE])
    sample = np.sort(np.append(sample[np.isfinite(sample)], 0.0))  # or all may be missing
    ends = np.searchsorted(sample, sample + 0.5 * most, side="right")
    best = np.argmax(ends - np.arange(sample.size))
    low = sample[best]
    high = sample[ends[best] - 1]
    margin = np.floor(0.5 * (high - low)) + 64.0
    return float(low - margin), int(high - low + 2.0 * margin) + 1
