"""What an attacker who knows every coin learns a record's value from: a table of contents of ideas.

Each function gives columns of numbers for all records of a sample. The first two look at columns in clear
alone; the others at what a release shows of other records, where the values of kept records are their own but
for noise, and those of swapped records a stranger's; the last at what it shows of the record itself. What
each is worth stands in docs/coins.rst.
"""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.correlations import pearson, ranks
from condmask.disclosure.sample import Sample
from condmask.disclosure.units import ALIKE, period

FARTHEST = 8  # rows before and after
FAR = 1_000_000_000_000  # between rows of different units
MOST, PAIRED = 20, 8  # columns of which more than the values themselves are looked at, and pairs of them
VARIED, SEVERAL, TRIED = 100, 8, 1_000  # values of such a column; records alike; records that show what helps
TOLD = 0.1  # of the variance of rises, that columns in clear leave open
TINIEST, TINY = 1e-4, 1e-300


class Look(NamedTuple):
    """What an attacker has.

    Attributes
    ----------
    sample : Sample
    released : ndarray of shape (m, masked columns)
        On the lines on which noise is added.
    column : int
        The masked column whose values are guessed.
    twins : list of ndarray of shape (m, k)
        The k records most like each, in the columns in clear and in two of them.
    own : ndarray of bool of shape (m,)
        The records whose released values are taken for their own: those that were kept, or all of them where
        the attacker does not know the coins.
    original, masked : ndarray of shape (m, masked columns)
        In the units of the data; originals are known of the other half.
    noisy : bool
        Whether kept records show their values with noise, and not values of other kept ones.
    line : callable
        What takes values of the column to the line on which noise is added.
    scale : callable
        What takes them to that on which guesses must be near: the same, or the units of the data.
    d : ndarray of shape (distances,)
        How near.
    """

    sample: Sample
    released: np.ndarray
    column: int
    twins: list[np.ndarray]
    own: np.ndarray
    original: np.ndarray
    masked: np.ndarray
    noisy: bool
    line: Callable[[np.ndarray], np.ndarray]
    scale: Callable[[np.ndarray], np.ndarray]
    d: np.ndarray

    @property
    def x(self) -> np.ndarray:
        """The originals of the column."""
        return self.original[:, self.column]

    @property
    def u(self) -> np.ndarray:
        """The originals of the column where guesses must be near."""
        return self.scale(self.x)

    @property
    def numbers(self) -> list[np.ndarray]:
        """The first columns of numbers in clear."""
        return list(self.sample.clear.numbers.values())[:MOST]

    @property
    def kept(self) -> np.ndarray:
        """What records show of their own."""
        return np.where(self.own, self.released[:, self.column], np.nan)


def clear_values(look: Look) -> list[np.ndarray]:
    """The columns in clear: numbers, and labels by how their originals would be told apart, by codes."""
    clear = look.sample.clear
    labels = [np.where(codes >= 0, codes, np.nan) for codes in clear.labels.values()]
    return [*clear.numbers.values(), *labels]


def clear_beside(look: Look) -> list[np.ndarray]:
    """The columns in clear in the rows before and after: a running total rises by the value in question."""
    clear = look.sample.clear
    return [x - clear.beside(x, by) for x in look.numbers for by in (1, -1)]


def of_unit(look: Look) -> list[np.ndarray]:
    """What the others of the unit show: twelve months of one firm say the same, which averages noise out."""
    units = look.sample.clear.units.values()
    return [_mean_of_unit(look, codes, z, 0.0) for codes in units for z in look.released.T]


def of_unit_and_itself(look: Look) -> list[np.ndarray]:
    """The mean of all that a unit shows, with the record itself."""
    z, units = look.released[:, look.column], look.sample.clear.units.values()
    return [_mean_of_unit(look, codes, z, 1.0) for codes in units]


def of_neighbours(look: Look) -> list[np.ndarray]:
    """What the nearest rows before and after show that were kept, and all near ones: files come in some
    order, machines take turns, and months follow each other."""
    columns = []
    for key in _orders(look):
        order = np.argsort(key, kind="stable")
        z, near = look.kept[order], np.empty((4, key.size))
        near[0, order], near[1, order[::-1]] = _last(z, key[order]), _last(z[::-1], -key[order][::-1])
        near[2], near[3, order] = _mean_of_row(near[:2].T), _around(z, key[order])
        columns += list(near)
    return columns


def of_course(look: Look) -> list[np.ndarray]:
    """What a unit shows, carried on by rises from row to row that columns in clear tell: rates of growth."""
    key = _orders(look)[-1]
    order, u = np.argsort(key, kind="stable"), look.line(look.x)
    unit, level = np.unique(key // FAR, return_inverse=True)[1], np.full(key.size, np.nan)
    goes_on = np.append(False, np.diff(unit[order]) == 0)
    rise = np.where(goes_on, np.diff(u[order], prepend=np.nan), np.nan)
    told = [each for x in np.nan_to_num(look.numbers) for each in (x, np.log1p(np.maximum(x, TINIEST - 1.0)))]
    design = np.column_stack((np.ones(key.size), *told))[order]
    design /= np.abs(design).mean(axis=0) + TINY
    for side in (0, 1):
        asked, fit = look.sample.half[order] == side, ~np.isnan(rise)
        fit &= ~asked
        if fit.sum() <= VARIED:
            continue
        predicted = design @ np.linalg.lstsq(design[fit], rise[fit])[0]
        if np.var((rise - predicted)[fit]) < TOLD * np.var(rise[fit]):
            level[order[asked]] = np.cumsum(np.where(goes_on, predicted, 0.0))[asked]
    z, known = look.released[:, look.column] - level, np.where(np.isnan(level), -1, unit)
    return [level + _mean_of_unit(look, known, z, own) for own in (0.0, 1.0)]


def of_twin(look: Look) -> list[np.ndarray]:
    """What the nearest records in the columns in clear show: the same person once more, or one much alike."""
    return [_mean_of_row(look.kept[twins]) for twins in look.twins]


def of_twin_and_itself(look: Look) -> list[np.ndarray]:
    """The mean of what these and the record itself show."""
    z = look.released[:, look.column]
    return [_mean_of_row(np.column_stack((near, z))) for near in of_twin(look)]


def of_itself(look: Look) -> list[np.ndarray]:
    """What the record shows in all masked columns."""
    return [*look.released.T]


CLEAR = (clear_values, clear_beside)
OTHERS = (of_unit, of_neighbours, of_course, of_twin)
ITSELF = (of_itself, of_unit_and_itself, of_twin_and_itself)


def twins(sample: Sample) -> list[np.ndarray]:
    """The numbers of the records most like each: one by ranks in all columns in clear, and some by the two
    columns in which those alike show most, such as coordinates."""
    numbers = list(sample.clear.numbers.values())[:MOST]
    if not numbers:
        return []
    places = [np.where(np.isnan(x), 0.5 * x.size, np.argsort(np.argsort(x))) for x in numbers]
    masked = [ranks(x) for x in sample.table.values.values()]
    varied = [place for place, x in zip(places, numbers, strict=True) if np.unique(x).size >= VARIED]
    everyone, best, most = np.arange(sample.half.size), None, ALIKE
    some = evenly_spaced(everyone.size, TRIED)
    for pair in map(np.column_stack, combinations(varied[:PAIRED], 2)):
        near = _nearest(pair, some, SEVERAL)
        alike = max(pearson(x[some], x[near].mean(axis=1)) for x in masked)
        if alike > most:
            best, most = pair, alike
    found = [_nearest(np.column_stack(places), everyone, 1)]
    return found if best is None else [*found, _nearest(best, everyone, SEVERAL)]


def _nearest(places: np.ndarray, asked: np.ndarray, count: int) -> np.ndarray:
    """The nearest others of some records."""
    from scipy.spatial import cKDTree  # takes .1 s to import

    near = cKDTree(places).query(places[asked], k=count + 1)[1]
    others = np.argsort(near == asked[:, None], axis=1, kind="stable")[:, :count]  # itself comes last
    return np.take_along_axis(near, others, axis=1)


def _orders(look: Look) -> list[np.ndarray]:
    """Numbers of rows in orders in which neighbours may be alike: that of the file, that of machines that
    take turns, and within a unit that of the column in clear in which they are most alike."""
    clear, rank = look.sample.clear, ranks(look.original[:, look.column])
    turn, best, most = period(rank, clear.rows), None, ALIKE
    found = [clear.rows] + ([clear.rows % turn * FAR + clear.rows // turn] if turn else [])
    for unit in list(clear.units.values())[:1]:
        for x in look.numbers:
            order = np.lexsort((x, unit))
            same = (unit[order][1:] == unit[order][:-1]) & (unit[order][1:] >= 0)
            alike = pearson(rank[order][1:][same], rank[order][:-1][same]) if same.any() else 0.0
            if alike > most:
                best, most = np.empty(x.size, dtype=np.int64), alike
                best[order] = unit[order] * FAR + np.arange(x.size)
    return found if best is None else [*found, best]


def _mean_of_unit(look: Look, codes: np.ndarray, z: np.ndarray, own: float) -> np.ndarray:
    """The mean of what the kept records of each unit show, counting the record itself so many times."""
    shown, there = np.where(look.own & (codes >= 0), z, np.nan), codes + 1
    return _mean(shown, lambda each: np.bincount(there, each)[there] - (1.0 - own) * each)


def _mean_of_row(shown: np.ndarray) -> np.ndarray:
    """The mean of what is there in each row."""
    return _mean(shown, lambda each: each.sum(axis=1))


def _mean(shown: np.ndarray, total: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The total of what is there over its number, NaN where there is nothing."""
    there = ~np.isnan(shown)
    number = total(there.astype(np.float64))
    return np.where(number > 0.0, total(np.where(there, shown, 0.0)) / np.maximum(number, 1.0), np.nan)


def _last(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The last value before each row, NaN where it is too far off."""
    before = np.append(-1, np.maximum.accumulate(np.where(np.isnan(z), -1, np.arange(z.size)))[:-1])
    return np.where((before >= 0) & (rows - rows[before] <= FARTHEST), z[before], np.nan)


def _around(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean of the values near each row."""
    first, last = np.searchsorted(rows, (rows - FARTHEST, rows + FARTHEST + 1))

    def total(each: np.ndarray) -> np.ndarray:
        sums = np.append(0.0, np.cumsum(each))
        return np.asarray(sums[last] - sums[first] - each)

    return _mean(z, total)
