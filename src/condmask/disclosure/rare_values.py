"""Rare values under reverse mapping: how often records get them back, or values near them.

They are looked for in cells of a sigma: records among few neighbours are candidates. What becomes of these is
simulated, with the same draws in every run.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.disclosure.aggregated_ends import ends_of
from condmask.disclosure.simulated_maps import MAPS, kept_maps
from condmask.engines.counting import distinct
from condmask.kernels import counting_sort

RARE = 0.01  # the share of a value that is no longer rare
NEIGHBOURS = 12.0  # kept ones in three cells: so many bring the chance of the own value below a tenth
MOST, AROUND = 1 << 8, 300  # cells, the loneliest; records on both sides of one
CROWDED = 1 << 20  # records of a cell, of which only those at its ends are looked at
REACH = 8  # cells: records farther away hardly ever come between
NONE = np.empty(0, dtype=np.int64)
FARTHEST = 800.0  # from 0: the logarithms of numbers
WIDEST = 1 << 22  # cells, beyond which they are sorted instead
EQUAL = np.array([np.finfo(np.float64).tiny])  # nearer than this lie equal values alone


class RareChances(NamedTuple):
    """What becomes of distinct originals with few neighbours, by simulation.

    Attributes
    ----------
    at : ndarray of shape (m,)
        Their positions among the distinct originals.
    rows : ndarray of shape (m, distances)
        The chance that the record is kept and gets a value nearer than d.
    columns : ndarray of shape (m, distances)
        The chance that its value is released for a kept record nearer than d.
    """

    at: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


def own_value(x: np.ndarray, scheme: Any) -> np.ndarray:
    """The chance of each record of one pool with few neighbours and a rare value to get that value back."""
    values, candidates, some = around_rare(x, scheme)
    chances = np.full(values.size, np.nan)
    (hits, _), _ = _simulated(values[some], scheme, EQUAL)
    chances[some] = hits[:, 0] / MAPS + scheme.p / x.size
    return np.asarray(chances[candidates])


def near_values(x: np.ndarray, places: np.ndarray, scheme: Any, near: np.ndarray) -> RareChances:
    """The chances of rare values of one pool, whose distinct ones stand at ascending places.

    `near` holds how far apart two values must not be, for each distance.
    """
    values, candidates, some = around_rare(x, scheme)
    values, rows = values[some], np.searchsorted(some, candidates)
    hits, kept = _simulated(values, scheme, near)
    hits *= (1.0 - scheme.p) / np.maximum(kept[:, None], 1.0)  # of those that were kept
    at, which, times = np.unique(
        np.searchsorted(places, values[rows]), return_inverse=True, return_counts=True
    )
    means = np.zeros((2, at.size, near.size))
    for mean, chances in zip(means, hits, strict=True):  # over records with the same value
        np.add.at(mean, which, chances[rows])
    return RareChances(at, *(means / times[:, None]))


def _simulated(values: np.ndarray, scheme: Any, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In how many maps of ascending values each record is kept; and gets a value, or its value goes to a
    record, that is nearer than each distance."""
    hits, kept = np.zeros((2, values.size, near.size)), np.zeros(values.size)
    for record, value in kept_maps(values, scheme):
        kept += np.bincount(value, minlength=values.size)
        away = np.abs(values[record] - values[value])
        for k, hit in enumerate(away < distance for distance in near):
            for total, index in zip(hits, (record, value), strict=True):
                total[:, k] += np.bincount(index[hit], minlength=values.size)
    return hits, kept


def around_rare(x: np.ndarray, scheme: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of one pool around records with few neighbours and a rare value, ascending.

    And the places of such records among them, and of all that may come between.
    """
    cells = _cells(x, scheme)
    counts = np.zeros(cells.cells, dtype=np.int64)
    for start, stop in blocks(x.size):
        counting_sort.count(cells.of(x[start:stop]), counts)
    padded = np.concatenate(([0], counts, [0]))
    beside = padded[:-2] + counts + padded[2:]
    alone = np.flatnonzero((counts > 0) & (beside < NEIGHBOURS / (1.0 - scheme.p)))
    if alone.size == 0:
        return np.empty(0), NONE, NONE
    alone = np.sort(alone[np.argsort(beside[alone], kind="stable")[:MOST]])
    near = _cells_around(alone, counts)
    crowded = near & (counts > CROWDED)
    crowded[alone] = False
    values = np.sort(_values_in(x, cells, near & ~crowded, np.flatnonzero(crowded)))
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    cell = cells.of(values)
    rare = np.isin(cell, alone) & (times[place] < max(2.0, RARE * x.size))
    if scheme.aggregate_ends:
        least, most = ends_of(x, scheme.aggregate_ends)
        rare &= (values > least) & (values < most)
    candidates = np.flatnonzero(rare)
    if candidates.size == 0:
        return np.empty(0), NONE, NONE
    first = np.maximum(candidates - AROUND, np.searchsorted(cell, cell[candidates] - REACH))
    last = np.minimum(candidates + AROUND + 1, np.searchsorted(cell, cell[candidates] + REACH, side="right"))
    among = np.zeros(values.size + 1, dtype=np.int64)
    np.add.at(among, first, 1)
    np.add.at(among, last, -1)
    return values, candidates, np.flatnonzero(np.cumsum(among[:-1]) > 0)


def _cells_around(lonely: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which cells hold so many records on both sides of lonely ones as may come between."""
    before = np.concatenate(([0], np.cumsum(counts)))
    first = np.searchsorted(before, before[lonely] - AROUND, side="right") - 1
    last = np.searchsorted(before, before[lonely + 1] + AROUND, side="left")
    near = np.zeros(counts.size + 1, dtype=np.int64)
    np.add.at(near, np.maximum(first, np.maximum(lonely - REACH, 0)), 1)
    np.add.at(near, np.minimum(last, np.minimum(lonely + REACH + 1, counts.size)), -1)
    return np.asarray(np.cumsum(near[:-1]) > 0)


def _values_in(x: np.ndarray, cells: "_Cells", near: np.ndarray, crowded: np.ndarray) -> np.ndarray:
    """The values of cells that are near, and of crowded ones as many at either end as may come between."""
    parts, ends = [], {cell: np.empty(0) for cell in crowded.tolist()}
    for start, stop in blocks(x.size):
        part = x[start:stop]
        cell = cells.of(part)
        parts.append(part[near[cell]])
        for number, held in ends.items():
            held = np.sort(np.append(held, part[cell == number]))
            if held.size > 2 * AROUND:
                held = np.append(held[:AROUND], held[-AROUND:])
            ends[number] = held
    return np.concatenate([*parts, *ends.values()])


class _Cells(NamedTuple):
    """Values by whole sigmas, on the log scale those of the logarithm: there signs are apart, zero alone.

    Counted from the smallest; where there are too many, the occupied ones alone, with a gap between others.
    """

    scale: str
    sigma: float
    low: float
    cells: int
    occupied: np.ndarray | None = None
    number: np.ndarray | None = None

    def units(self, x: np.ndarray) -> np.ndarray:
        if self.scale == "linear":
            return np.asarray(x / self.sigma)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(np.abs(x)) / self.sigma
            return np.where(x == 0.0, 0.0, np.sign(x) * (size + FARTHEST / self.sigma + 2.0))

    def of(self, x: np.ndarray) -> np.ndarray:
        if self.occupied is None or self.number is None:
            return np.asarray(self.units(x) - self.low).astype(np.int64)
        return np.asarray(self.number[np.searchsorted(self.occupied, np.floor(self.units(x)))])


def _cells(x: np.ndarray, scheme: Any) -> _Cells:
    cells = _Cells(scheme.scale, scheme.sigma, 0.0, 0)
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    ranges = [(float(units.min()), float(units.max())) for units in map(cells.units, parts)]
    low, high = min(first for first, _ in ranges), max(last for _, last in ranges)
    if high - low < WIDEST:
        return cells._replace(low=low, cells=int(high - low) + 1)
    occupied = distinct((np.floor(cells.units(part)) for part in parts), np.float64)
    number = np.cumsum(np.concatenate(([0.0], np.minimum(np.diff(occupied), 2.0)))).astype(np.int64)
    return cells._replace(cells=int(number[-1]) + 1, occupied=occupied, number=number)
