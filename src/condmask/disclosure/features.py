"""Compute the features from which an attacker who knows every coin learns a record's value.

Each function gives columns of numbers for all records of a sample, the last two the values
themselves. The first two look at columns in clear alone, as do the last; the others at what a
release shows of other records, where the values of kept records are their own but for noise, and
those of swapped records a stranger's; and at what it shows of the record itself. What each is
worth stands in docs/coins.rst.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.correlations import pearson, ranks
from condmask.disclosure.attacker_view import MAX_NUMBERS, AttackerView
from condmask.disclosure.sample import Sample
from condmask.disclosure.units import MIN_LIKENESS, codes_of, period

MAX_ROWS_APART = 8  # rows before and after
UNIT_DISTANCE = 1_000_000_000_000  # between rows of different units
MAX_PAIRED_COLUMNS = 8  # columns used in pairs, and by their logarithms, rises and sums
MIN_DISTINCT_VALUES = 100  # of a column that is used in pairs
TWINS_BY_PAIR = 8  # records that are most like another in a pair of columns
MAX_TRIED_RECORDS = 1_000  # on which pairs of columns are compared
MAX_ORDERED_GROUP = 64  # records of a group of neighbours in some order
MIN_GROUP_RECORDS = 4  # records of a group by order, where fewer have the same value
MAX_OPEN_SHARE = 0.5  # of the variance, which a trend within groups leaves unexplained
RELATIVE_RIDGE = 1e-10  # of the variance, for columns that say the same
SMALLEST_LOGGED = 1e-4  # smaller numbers count as this before logarithms are taken
SMALLEST_SCALE = 1e-300  # of a column, so that none is divided by 0


def clear_values(view: AttackerView) -> list[np.ndarray]:
    """Return the columns in clear: numbers, and labels as codes, NaN where they are missing."""
    clear = view.sample.clear
    labels = [np.where(codes >= 0, codes, np.nan) for codes in clear.labels.values()]
    return [*clear.numbers.values(), *labels]


def clear_beside(view: AttackerView) -> list[np.ndarray]:
    """Return how columns in clear differ from the rows before and after.

    A running total rises by the value that is guessed.
    """
    clear = view.sample.clear
    return [x - clear.beside(x, by) for x in view.numbers for by in (1, -1)]


def of_unit(view: AttackerView) -> list[np.ndarray]:
    """Return the mean of the values that the other records of the unit show.

    Twelve months of one firm say the same, which averages noise out.
    """
    units = view.sample.clear.units.values()
    return [_mean_of_unit(view, codes, z, 0.0) for codes in units for z in view.released.T]


def of_unit_and_itself(view: AttackerView) -> list[np.ndarray]:
    """Return the mean of the values that all records of the unit show, the record included."""
    z = view.released[:, view.column]
    units = view.sample.clear.units.values()
    return [_mean_of_unit(view, codes, z, 1.0) for codes in units]


def of_neighbours(view: AttackerView) -> list[np.ndarray]:
    """Return the mean of the values that near rows show which were kept, for each order.

    Files come in some order, machines take turns, and months follow each other.
    """
    return [_around(view.kept, key) for key in _orders(view)]


def within_group_trend(view: AttackerView) -> list[np.ndarray]:
    """Carry the values that a group shows over to a record, by a trend within groups.

    The trend is fitted to columns in clear, which tell the differences within a group.

    Firms grow at rates in clear, products have a price and currencies a rate by which amounts in
    clear are multiplied, and rows in the order of a sum differ from others near by their parts.
    """
    predictors = _predictors_within(view, np.argsort(_orders(view)[-1], kind="stable"))
    columns = list[np.ndarray]()
    with np.errstate(all="ignore"):
        for up, down in ((np.asarray, np.asarray), (np.log, np.exp)):
            u = up(view.x)
            z = up(view.masked[:, view.column])
            found = np.full((2, u.size), np.nan)
            own = view.own & np.isfinite(z)
            for side in (0, 1):
                asked = view.sample.half == side
                fit = (view.sample.half != side) & np.isfinite(u)
                tries = [
                    (*_within(predictors, codes, u, z, fit, own), codes) for codes in _groups(view)
                ]
                left, factors, codes = min(tries, key=lambda each: each[0])
                if left < MAX_OPEN_SHARE:
                    level = predictors @ factors
                    there = np.where(np.isfinite(z), codes, -1)
                    for row, counted in zip(found, (0.0, 1.0), strict=True):
                        around = _mean_of_unit(view, there, z - level, counted)
                        row[asked] = (level + around)[asked]
            columns += [view.line(down(row)) for row in found]
    return columns


def _predictors_within(view: AttackerView, order: np.ndarray) -> np.ndarray:
    """Return predictors of differences within groups, one a column.

    They are columns in clear, logarithms of them and of their rises, and running sums of them and
    of their growth.
    """
    numbers = np.nan_to_num(view.numbers[:MAX_PAIRED_COLUMNS]).reshape(-1, order.size)[:, order]
    rises = np.diff(numbers, prepend=0.0)
    growth = np.log1p(np.maximum(numbers, SMALLEST_LOGGED - 1.0))
    logs = np.log(np.maximum(np.vstack((numbers, rises)), SMALLEST_LOGGED))
    summed = np.cumsum(np.vstack((np.ones(order.size), numbers, growth)), axis=1)
    return np.vstack((numbers, logs, summed))[:, np.argsort(order)].T


def _groups(view: AttackerView) -> Iterator[np.ndarray]:
    """Yield groupings of the records, as codes: by equal columns in clear, or by nearness in the
    order of a column or of the file."""
    clear = view.sample.clear
    yield from (*clear.units.values(), *list(clear.labels.values())[:MAX_PAIRED_COLUMNS])
    for x in (clear.rows, *view.numbers[:MAX_PAIRED_COLUMNS]):
        codes = codes_of(x)
        yield codes // MAX_ORDERED_GROUP if MIN_GROUP_RECORDS * codes.max() > codes.size else codes


def _within(
    predictors: np.ndarray,
    codes: np.ndarray,
    u: np.ndarray,
    z: np.ndarray,
    fit: np.ndarray,
    own: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return the share of the variance that a trend within groups leaves open, and its factors.

    The share counts the noise in the values that the records of a group show.
    """
    rows = np.flatnonzero(fit & (codes >= 0))
    known = fit & own
    groups, place = np.unique(codes[rows], return_inverse=True)
    freedom = rows.size - groups.size - predictors.shape[1]
    if freedom <= MIN_DISTINCT_VALUES or not known.any():
        return np.inf, u
    both = _about_means(np.column_stack((predictors[rows], u[rows])), place)
    factors = least_squares(both[:, :-1], both[:, -1])
    left = np.sum((both[:, -1] - both[:, :-1] @ factors) ** 2) / freedom
    several = max(own[rows].sum() / groups.size, 1.0)
    return float(
        (left + (left + np.mean((z - u)[known] ** 2)) / several) / np.var(u[rows])
    ), factors


def least_squares(predictors: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the least-squares factors of predictors, which may have any units."""
    scale = np.sqrt((predictors**2).mean(axis=0)) + SMALLEST_SCALE
    predictors = predictors / scale
    square = predictors.T @ predictors + RELATIVE_RIDGE * u.size * np.eye(scale.size)
    return np.asarray(np.linalg.solve(square, predictors.T @ u) / scale)


def _about_means(columns: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return columns less their means over the records of each group."""
    sums = np.column_stack([np.bincount(group, column) for column in columns.T])
    return np.asarray(columns - (sums / np.maximum(np.bincount(group), 1)[:, None])[group])


def of_twin(view: AttackerView) -> list[np.ndarray]:
    """Return the mean of the values that the nearest records in the columns in clear show.

    They may be the same person once more, or one much alike.
    """
    return [_mean_of_row(view.kept[twins]) for twins in view.twins]


def of_twin_and_itself(view: AttackerView) -> list[np.ndarray]:
    """Return the mean of the values that these and the record itself show."""
    z = view.released[:, view.column]
    return [_mean_of_row(np.column_stack((near, z))) for near in of_twin(view)]


def of_itself(view: AttackerView) -> list[np.ndarray]:
    """Return the values that the record shows in all masked columns."""
    return [*view.released.T]


FEATURES_OF_CLEAR = (clear_values, clear_beside)
FEATURES_OF_OTHERS = (of_unit, of_neighbours, within_group_trend, of_twin)
FEATURES_OF_ITSELF = (of_itself, of_unit_and_itself, of_twin_and_itself)


def twins(sample: Sample) -> list[np.ndarray]:
    """Return the positions of the records most like each record.

    One is nearest by ranks in all columns in clear; some are nearest in the pair of columns, such
    as coordinates, in which near records are most alike in the masked columns.
    """
    numbers = list(sample.clear.numbers.values())[:MAX_NUMBERS]
    if not numbers:
        return []
    places = [np.where(np.isnan(x), 0.5 * x.size, np.argsort(np.argsort(x))) for x in numbers]
    masked = [ranks(x) for x in sample.table.values.values()]
    varied = [
        place
        for place, x in zip(places, numbers, strict=True)
        if np.unique(x).size >= MIN_DISTINCT_VALUES
    ]
    everyone = np.arange(sample.half.size)
    best = None
    most = MIN_LIKENESS
    some = evenly_spaced(everyone.size, MAX_TRIED_RECORDS)
    for pair in map(np.column_stack, combinations(varied[:MAX_PAIRED_COLUMNS], 2)):
        near = _nearest(pair, some, TWINS_BY_PAIR)
        alike = max(pearson(x[some], x[near].mean(axis=1)) for x in masked)
        if alike > most:
            best = pair
            most = alike
    found = [_nearest(np.column_stack(places), everyone, 1)]
    return found if best is None else [*found, _nearest(best, everyone, TWINS_BY_PAIR)]


def _nearest(places: np.ndarray, asked: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` nearest other records of some records."""
    from scipy.spatial import cKDTree  # takes .1 s to import

    near = cKDTree(places).query(places[asked], k=count + 1)[1]
    # itself comes last
    others = np.argsort(near == asked[:, None], axis=1, kind="stable")[:, :count]
    return np.take_along_axis(near, others, axis=1)


def _orders(view: AttackerView) -> list[np.ndarray]:
    """Return the places of the rows in each order in which neighbours may be alike.

    The orders are that of the file, that of machines that take turns, and within units that of the
    column in clear in which neighbours are most alike.
    """
    clear = view.sample.clear
    rank = ranks(view.original[:, view.column])
    turn = period(rank, clear.rows)
    best = None
    most = MIN_LIKENESS
    found = [clear.rows] + (
        [clear.rows % turn * UNIT_DISTANCE + clear.rows // turn] if turn else []
    )
    for unit in list(clear.units.values())[:1]:
        for x in view.numbers:
            order = np.lexsort((x, unit))
            same = (unit[order][1:] == unit[order][:-1]) & (unit[order][1:] >= 0)
            alike = pearson(rank[order][1:][same], rank[order][:-1][same]) if same.any() else 0.0
            if alike > most:
                best = np.empty(x.size, dtype=np.int64)
                most = alike
                best[order] = unit[order] * UNIT_DISTANCE + np.arange(x.size)
    return found if best is None else [*found, best]


def _mean_of_unit(view: AttackerView, codes: np.ndarray, z: np.ndarray, own: float) -> np.ndarray:
    """Return the mean of the values that the kept records of each unit show; the record itself
    counts with the weight `own`."""
    shown = np.where(view.own & (codes >= 0), z, np.nan)
    there = codes + 1
    return _mean(shown, lambda each: np.bincount(there, each)[there] - (1.0 - own) * each)


def _mean_of_row(shown: np.ndarray) -> np.ndarray:
    """Return the mean of each row without its gaps."""
    return _mean(shown, lambda each: each.sum(axis=1))


def _mean(shown: np.ndarray, total: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return totals of values without gaps over their numbers, NaN where all are missing."""
    there = ~np.isnan(shown)
    number = total(there.astype(np.float64))
    return np.where(
        number > 0.0, total(np.where(there, shown, 0.0)) / np.maximum(number, 1.0), np.nan
    )


def _around(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the values within `MAX_ROWS_APART` rows of each row."""
    order = np.argsort(rows, kind="stable")
    first, last = np.searchsorted(
        rows, (rows - MAX_ROWS_APART, rows + MAX_ROWS_APART + 1), sorter=order
    )

    def total(each: np.ndarray) -> np.ndarray:
        sums = np.append(0.0, np.cumsum(each[order]))
        return np.asarray(sums[last] - sums[first] - each)

    return _mean(z, total)
