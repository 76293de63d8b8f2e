"""What an attacker who knows every coin learns a record's value from: a table of contents of
ideas.

Each function gives columns of numbers for all records of a sample, the last two the values
themselves. The first two look at columns in clear alone, as do the last; the others at what a
release shows of other records, where the values of kept records are their own but for noise, and
those of swapped records a stranger's; and at what it shows of the record itself. What each is
worth stands in docs/coins.rst.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.correlations import pearson, ranks
from condmask.disclosure.sample import Sample
from condmask.disclosure.units import MIN_LIKENESS, codes_of, period

MAX_ROWS_APART = 8  # rows before and after
UNIT_DISTANCE = 1_000_000_000_000  # between rows of different units
MAX_NUMBERS = 20
MAX_PAIRED_COLUMNS = (
    8  # columns of which more than the values themselves are looked at, and pairs of them
)
MIN_DISTINCT_VALUES = 100
TWINS_BY_PAIR = 8
MAX_TRIED_RECORDS = 1_000  # values of such a column; records alike; records that show what helps
MAX_TERMS = 100
MAX_FACTORS = 12
RECORDS_PER_TERM = 4  # columns; those of which products are added up; records a factor
MIN_COMPLETE_SHARE = 0.9  # of the rows, that have a number
FIT_STEPS = 10  # of least squares about the half of the records that a relation fits best
MAX_ORDERED_GROUP = 64
MIN_GROUP_RECORDS = 4  # records of a group by order, where fewer have the same value
MAX_OPEN_SHARE = 0.5
RELATIVE_RIDGE = (
    1e-10  # of the variance: that groups leave open, at most; of columns that say the same
)
SMALLEST_LOGGED = 1e-4
SMALLEST_SCALE = 1e-300


class AttackerView(NamedTuple):
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
        The records whose released values are taken for their own: those that were kept, or all of
        them where the attacker does not know the coins.
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
        return list(self.sample.clear.numbers.values())[:MAX_NUMBERS]

    @property
    def kept(self) -> np.ndarray:
        """What records show of their own."""
        return np.where(self.own, self.released[:, self.column], np.nan)


def clear_values(look: AttackerView) -> list[np.ndarray]:
    """The columns in clear: numbers, and labels by how their originals would be told apart, by
    codes."""
    clear = look.sample.clear
    labels = [np.where(codes >= 0, codes, np.nan) for codes in clear.labels.values()]
    return [*clear.numbers.values(), *labels]


def clear_beside(look: AttackerView) -> list[np.ndarray]:
    """The columns in clear in the rows before and after: a running total rises by the value in
    question."""
    clear = look.sample.clear
    return [x - clear.beside(x, by) for x in look.numbers for by in (1, -1)]


def of_unit(look: AttackerView) -> list[np.ndarray]:
    """What the others of the unit show: twelve months of one firm say the same, which averages
    noise out."""
    units = look.sample.clear.units.values()
    return [_mean_of_unit(look, codes, z, 0.0) for codes in units for z in look.released.T]


def of_unit_and_itself(look: AttackerView) -> list[np.ndarray]:
    """The mean of all that a unit shows, with the record itself."""
    z = look.released[:, look.column]
    units = look.sample.clear.units.values()
    return [_mean_of_unit(look, codes, z, 1.0) for codes in units]


def of_neighbours(look: AttackerView) -> list[np.ndarray]:
    """The mean of what near rows show that were kept: files come in some order, machines take
    turns, and months follow each other."""
    return [_around(look.kept, key) for key in _orders(look)]


def within_group_trend(look: AttackerView) -> list[np.ndarray]:
    """What a group shows, carried over by what columns in clear tell of differences within it.

    Firms grow at rates in clear, products have a price and currencies a rate by which amounts in
    clear are multiplied, and rows in the order of a sum differ from others near by their parts.
    """
    told = _told_within(look, np.argsort(_orders(look)[-1], kind="stable"))
    columns = list[np.ndarray]()
    with np.errstate(all="ignore"):
        for up, down in ((np.asarray, np.asarray), (np.log, np.exp)):
            u = up(look.x)
            z = up(look.masked[:, look.column])
            found = np.full((2, u.size), np.nan)
            own = look.own & np.isfinite(z)
            for side in (0, 1):
                asked = look.sample.half == side
                fit = (look.sample.half != side) & np.isfinite(u)
                tries = [(*_within(told, codes, u, z, fit, own), codes) for codes in _groups(look)]
                left, factors, codes = min(tries, key=lambda each: each[0])
                if left < MAX_OPEN_SHARE:
                    level = told @ factors
                    there = np.where(np.isfinite(z), codes, -1)
                    for row, counted in zip(found, (0.0, 1.0), strict=True):
                        around = _mean_of_unit(look, there, z - level, counted)
                        row[asked] = (level + around)[asked]
            columns += [look.line(down(row)) for row in found]
    return columns


def _told_within(look: AttackerView, order: np.ndarray) -> np.ndarray:
    """What may tell differences within groups: columns in clear, logarithms of them and of their
    rises, and what they and their growth add up to."""
    numbers = np.nan_to_num(look.numbers[:MAX_PAIRED_COLUMNS]).reshape(-1, order.size)[:, order]
    rises = np.diff(numbers, prepend=0.0)
    growth = np.log1p(np.maximum(numbers, SMALLEST_LOGGED - 1.0))
    logs = np.log(np.maximum(np.vstack((numbers, rises)), SMALLEST_LOGGED))
    summed = np.cumsum(np.vstack((np.ones(order.size), numbers, growth)), axis=1)
    return np.vstack((numbers, logs, summed))[:, np.argsort(order)].T


def _groups(look: AttackerView) -> Iterator[np.ndarray]:
    """Records that columns in clear name alike, or that are near by the order of one or of the
    file."""
    clear = look.sample.clear
    yield from (*clear.units.values(), *list(clear.labels.values())[:MAX_PAIRED_COLUMNS])
    for x in (clear.rows, *look.numbers[:MAX_PAIRED_COLUMNS]):
        codes = codes_of(x)
        yield codes // MAX_ORDERED_GROUP if MIN_GROUP_RECORDS * codes.max() > codes.size else codes


def _within(
    told: np.ndarray,
    codes: np.ndarray,
    u: np.ndarray,
    z: np.ndarray,
    fit: np.ndarray,
    own: np.ndarray,
) -> tuple[float, np.ndarray]:
    """The share of the variance that is left open by least squares within groups and by what
    records of a group show; and the factors of what tells."""
    rows = np.flatnonzero(fit & (codes >= 0))
    known = fit & own
    groups, place = np.unique(codes[rows], return_inverse=True)
    freedom = rows.size - groups.size - told.shape[1]
    if freedom <= MIN_DISTINCT_VALUES or not known.any():
        return np.inf, u
    both = _about_means(np.column_stack((told[rows], u[rows])), place)
    factors = least_squares(both[:, :-1], both[:, -1])
    left = np.sum((both[:, -1] - both[:, :-1] @ factors) ** 2) / freedom
    several = max(own[rows].sum() / groups.size, 1.0)
    return float(
        (left + (left + np.mean((z - u)[known] ** 2)) / several) / np.var(u[rows])
    ), factors


def least_squares(told: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Factors of what tells, in whatever units."""
    scale = np.sqrt((told**2).mean(axis=0)) + SMALLEST_SCALE
    told = told / scale
    square = told.T @ told + RELATIVE_RIDGE * u.size * np.eye(scale.size)
    return np.asarray(np.linalg.solve(square, told.T @ u) / scale)


def _about_means(columns: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Columns less their means over the records of each group."""
    sums = np.column_stack([np.bincount(group, column) for column in columns.T])
    return np.asarray(columns - (sums / np.maximum(np.bincount(group), 1)[:, None])[group])


def of_twin(look: AttackerView) -> list[np.ndarray]:
    """What the nearest records in the columns in clear show: the same person once more, or one
    much alike."""
    return [_mean_of_row(look.kept[twins]) for twins in look.twins]


def of_twin_and_itself(look: AttackerView) -> list[np.ndarray]:
    """The mean of what these and the record itself show."""
    z = look.released[:, look.column]
    return [_mean_of_row(np.column_stack((near, z))) for near in of_twin(look)]


def of_itself(look: AttackerView) -> list[np.ndarray]:
    """What the record shows in all masked columns."""
    return [*look.released.T]


def quotient(look: AttackerView) -> np.ndarray:
    """The quotient of two sums of columns in clear and their products that comes nearest to the
    values, such as what an average and its weights say of a part: x times one sum is the other.
    One may have rises from row to row among its parts, as of values that are smoothed
    exponentially."""
    columns = _mostly_known([*look.sample.clear.numbers.values(), *clear_beside(look)], look)
    # no sum of these is the same in all rows, but for 0
    columns = columns - np.nanmean(columns, axis=0)
    most = min(
        MAX_FACTORS,
        int(np.sqrt(max(look.x.size / RECORDS_PER_TERM - 2 * columns.shape[1], 4.0))) - 2,
    )
    some = columns[:, :most]
    over = np.column_stack(
        (np.ones(look.x.size), columns, *(a * b for a, b in combinations(some.T, 2)))
    )
    terms = np.column_stack((over, look.x[:, None] * some))

    def told(factors: np.ndarray) -> np.ndarray:
        above, below = np.split(factors, [over.shape[1]])
        return np.asarray(over @ above / (1.0 - some @ below))

    return _taught(look, terms, look.x, told)


def powers(look: AttackerView) -> np.ndarray:
    """The product of powers of columns in clear that comes nearest to the values, such as a body
    mass index and a height say of a weight."""
    u, *logarithms = (
        np.log(np.where(x > 0.0, x, np.nan)) for x in (look.x, *look.sample.clear.numbers.values())
    )
    terms = _mostly_known([np.ones(u.size), *logarithms], look)
    return _taught(look, terms, u, lambda factors: np.exp(terms @ factors))


def _mostly_known(columns: list[np.ndarray], look: AttackerView) -> np.ndarray:
    """The first columns that hardly have gaps, of which there are records enough."""
    some = [x for x in columns if np.isfinite(x).mean() > MIN_COMPLETE_SHARE][
        : min(MAX_TERMS, look.x.size // (4 * RECORDS_PER_TERM))
    ]
    return np.array(some).reshape(-1, look.x.size).T


def _taught(
    look: AttackerView, terms: np.ndarray, u: np.ndarray, told: Callable[..., np.ndarray]
) -> np.ndarray:
    """The values that factors tell of each half, by which terms come nearest to numbers in most of
    the other; in the range of all values, with their median in place of gaps."""
    known = np.isfinite(terms.sum(axis=1) + u)
    found = np.full(u.size, np.nan)
    for side in (0, 1):
        fit = known & (look.sample.half != side)
        asked = look.sample.half == side
        if fit.any():
            with np.errstate(all="ignore"):  # where a sum is 0 by which is divided
                found[asked] = told(about_most(terms[fit], u[fit]))[asked]
    middle = np.nanmedian(look.x)
    within = (np.nanmin(look.x), np.nanmax(look.x))
    return np.asarray(np.nan_to_num(np.clip(found, *within), nan=middle))


def about_most(terms: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The factors of a sum that comes nearest to numbers in most records, by least squares about
    those that it fits best."""
    some = np.ones(u.size, dtype=bool)
    for _ in range(FIT_STEPS):
        factors = least_squares(terms[some], u[some])
        apart = np.abs(u - terms @ factors)
        some = apart <= np.median(apart)
    return factors


STANDALONE_GUESSES = (quotient, powers)
FEATURES_OF_CLEAR = (clear_values, clear_beside)
FEATURES_OF_OTHERS = (of_unit, of_neighbours, within_group_trend, of_twin)
FEATURES_OF_ITSELF = (of_itself, of_unit_and_itself, of_twin_and_itself)


def twins(sample: Sample) -> list[np.ndarray]:
    """The numbers of the records most like each: one by ranks in all columns in clear, and some by
    the two columns in which those alike show most, such as coordinates."""
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
    """The nearest others of some records."""
    from scipy.spatial import cKDTree  # takes .1 s to import

    near = cKDTree(places).query(places[asked], k=count + 1)[1]
    # itself comes last
    others = np.argsort(near == asked[:, None], axis=1, kind="stable")[:, :count]
    return np.take_along_axis(near, others, axis=1)


def _orders(look: AttackerView) -> list[np.ndarray]:
    """Numbers of rows in orders in which neighbours may be alike: that of the file, that of
    machines that take turns, and within a unit that of the column in clear in which they are most
    alike."""
    clear = look.sample.clear
    rank = ranks(look.original[:, look.column])
    turn = period(rank, clear.rows)
    best = None
    most = MIN_LIKENESS
    found = [clear.rows] + (
        [clear.rows % turn * UNIT_DISTANCE + clear.rows // turn] if turn else []
    )
    for unit in list(clear.units.values())[:1]:
        for x in look.numbers:
            order = np.lexsort((x, unit))
            same = (unit[order][1:] == unit[order][:-1]) & (unit[order][1:] >= 0)
            alike = pearson(rank[order][1:][same], rank[order][:-1][same]) if same.any() else 0.0
            if alike > most:
                best = np.empty(x.size, dtype=np.int64)
                most = alike
                best[order] = unit[order] * UNIT_DISTANCE + np.arange(x.size)
    return found if best is None else [*found, best]


def _mean_of_unit(look: AttackerView, codes: np.ndarray, z: np.ndarray, own: float) -> np.ndarray:
    """The mean of what the kept records of each unit show, counting the record itself so many
    times."""
    shown = np.where(look.own & (codes >= 0), z, np.nan)
    there = codes + 1
    return _mean(shown, lambda each: np.bincount(there, each)[there] - (1.0 - own) * each)


def _mean_of_row(shown: np.ndarray) -> np.ndarray:
    """The mean of what is there in each row."""
    return _mean(shown, lambda each: each.sum(axis=1))


def _mean(shown: np.ndarray, total: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The total of what is there over its number, NaN where there is nothing."""
    there = ~np.isnan(shown)
    number = total(there.astype(np.float64))
    return np.where(
        number > 0.0, total(np.where(there, shown, 0.0)) / np.maximum(number, 1.0), np.nan
    )


def _around(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean of the values near each row."""
    order = np.argsort(rows, kind="stable")
    first, last = np.searchsorted(
        rows, (rows - MAX_ROWS_APART, rows + MAX_ROWS_APART + 1), sorter=order
    )

    def total(each: np.ndarray) -> np.ndarray:
        sums = np.append(0.0, np.cumsum(each[order]))
        return np.asarray(sums[last] - sums[first] - each)

    return _mean(z, total)
