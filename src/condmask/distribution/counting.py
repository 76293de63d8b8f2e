"""Counts masked values by grid point; distribution, moments and quantiles depend on these alone.

A window of the grid is counted in one pass over the records, without sorting. Records outside it
are counted in further windows, and those left after a few of these are sorted.

Theorems 2.1 to 2.3 are sums over these counts.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from condmask._blocks import ordered_map
from condmask.errors import ArgumentError
from condmask.grid import MAX_ULPS_OFF, Grid
from condmask.kernels.counting import count_window

SAMPLED_RECORDS = 1 << 10  # records from which the place of a window is chosen
MIN_WINDOW_POINTS = 1 << 16
WINDOW_POINTS_PER_RECORD = 4
MAX_WINDOWS = 4
MAX_UNMERGED_POINTS = 1 << 18  # points in counts of parts, more than the merged ones have
MAX_SORTED_RECORDS = 1 << 12  # so few are sorted sooner than counted
RELATIVE_SLACK = MAX_ULPS_OFF * 2.0**-52  # by which a value may miss its grid point


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
        Sigma of the noise, in the units of the values.
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
        """Return the value of each record, ascending, of shape (n,)."""
        return np.repeat(self.values, self.counts)


EMPTY = Counted(np.empty(0), np.empty(0, dtype=np.int64))


def by_value(records: np.ndarray) -> Counted:
    """Count records by value; zero loses its sign."""
    ascending = np.sort(records)
    first = np.flatnonzero(np.diff(ascending, prepend=np.nan))
    return Counted(ascending[first] + 0.0, np.diff(first, append=ascending.size))


def merged(parts: list[Counted]) -> Counted:
    """Add up counts of parts, in the units of the first."""
    values, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    order = np.argsort(values, kind="stable")  # fast where parts are in order
    values = values[order]
    counts = counts[order]
    first = np.flatnonzero(np.diff(values, prepend=np.nan))
    return Counted(
        values[first], np.add.reduceat(counts, first) if first.size else counts, parts[0].unit
    )


def count(z: np.ndarray, grid: Grid) -> tuple[Counted, np.ndarray]:
    """Return the counts of records on the grid, and the values off the grid, including NaN."""
    per_step = grid.denominator / grid.numerator
    rest = z
    off = np.empty(0)
    parts: list[Counted] = []
    while rest.size > MAX_SORTED_RECORDS and len(parts) < MAX_WINDOWS:
        first, points = _window(rest, grid)
        counted = np.zeros(points + 1, dtype=np.int64)
        outside = np.empty(rest.size + 1)
        left = count_window(rest, per_step, RELATIVE_SLACK, first, 0, rest.size, counted, outside)
        occupied = np.flatnonzero(counted[:-1])
        rest = outside[:left].copy()
        parts.append(Counted(occupied + first, counted[occupied]))
    if rest.size or not parts:
        with np.errstate(over="ignore", invalid="ignore"):
            units = grid.units(rest)
            on = np.abs(rest * per_step - units) <= RELATIVE_SLACK * np.abs(units)
        off = rest[~on]
        parts.append(by_value(units[on]))
    return (parts[0] if len(parts) == 1 else merged(parts)), off


def counted_parts(
    parts: Iterable[tuple[np.ndarray, str]], grid: Grid, workers: int = 1
) -> Counted:
    """Count masked values that come part by part, each with the name of its type.

    Missing values are left out. Raises ArgumentError if values are not on the grid.
    """
    held: list[Counted] = []
    for counts in ordered_map(lambda part: _counted_part(grid, *part), parts, workers):
        held.append(counts)
        if sum(each.values.size for each in held[1:]) > held[0].values.size + MAX_UNMERGED_POINTS:
            held = [merged(held)]
    return held[0] if len(held) == 1 else merged(held or [EMPTY])


def _counted_part(grid: Grid, z: np.ndarray, kind: str) -> Counted:
    """Count one part; decimals in float32 may miss the grid by more than those in float64."""
    counts, off = count(z, grid)
    off = off[~np.isnan(off)]
    if off.size and kind == "float32":
        near = grid.values(grid.units(off))
        on = np.abs(off - near) <= 4.0 * np.spacing(np.abs(near).astype(np.float32))
        counts = merged([counts, count(near[on], grid)[0]])
        off = off[~on]
    if off.size:
        raise ArgumentError(
            f"z must lie on the grid of its scheme, multiples of {grid.step:g}, got "
            f"{float(off[0])!r} ({off.size} such values); data without a grid have a scheme "
            "of step=0"
        )
    return counts


def _window(z: np.ndarray, grid: Grid) -> tuple[float, int]:
    """Return the first grid point and the number of points of a window: of those not too long for
    the data, the one that holds most of a sample, with a margin."""
    most = max(MIN_WINDOW_POINTS, WINDOW_POINTS_PER_RECORD * z.size)
    sample = grid.units(z[:: z.size // SAMPLED_RECORDS])
    sample = np.sort(np.append(sample[np.isfinite(sample)], 0.0))  # 0, since all may be missing
    ends = np.searchsorted(sample, sample + 0.5 * most, side="right")
    best = np.argmax(ends - np.arange(sample.size))
    low = sample[best]
    high = sample[ends[best] - 1]
    margin = np.floor(0.5 * (high - low)) + 64.0
    return float(low - margin), int(high - low + 2.0 * margin) + 1
