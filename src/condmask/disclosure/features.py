"""What an attacker who knows every coin learns a record's value from: a table of contents of ideas.

Each function gives columns of numbers for all records of a sample. The first three look at columns in clear
alone; the others at what a release shows of other records, where the values of kept records are their own but
for noise, and those of swapped records a stranger's; the last at what it shows of the record itself. What
each is worth stands in docs/coins.rst.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample

FARTHEST = 8  # rows before and after
LINKED = 16  # records of which one may be who is looked for
EXACT, FOLLOWS, TINY = 1e-4, 0.95, 1e-300  # of a spread: errors of formulas, and of columns that follow
MOST = 20  # columns of which more than the values themselves are looked at


class Look(NamedTuple):
    """What an attacker has.

    Attributes
    ----------
    sample : Sample
    released : ndarray of shape (m, masked columns)
        On the lines on which noise is added.
    column : int
        The masked column whose values are guessed.
    twin : ndarray of shape (m,) or None
        The record most like each in the columns in clear; None where there are no numbers.
    own : ndarray of bool of shape (m,)
        The records whose released values are taken for their own: those that were kept, or all of them where
        the attacker does not know the coins.
    original, masked : ndarray of shape (m, masked columns)
        In the units of the data; originals are known of the other half.
    """

    sample: Sample
    released: np.ndarray
    column: int
    twin: np.ndarray | None
    own: np.ndarray
    original: np.ndarray
    masked: np.ndarray


def clear_values(look: Look) -> np.ndarray:
    """The columns in clear: numbers, and labels by how their originals would be told apart, by codes."""
    clear = look.sample.clear
    labels = [np.where(codes >= 0, codes, np.nan) for codes in clear.labels.values()]
    return _columns(look, [*clear.numbers.values(), *labels])


def clear_beside(look: Look) -> np.ndarray:
    """The columns in clear in the rows before and after: a running total rises by the value in question."""
    clear = look.sample.clear
    numbers = list(clear.numbers.values())[:MOST]
    return _columns(look, [x - clear.beside(x, by) for x in numbers for by in (1, -1)])


def of_unit(look: Look) -> np.ndarray:
    """What the others of the unit show: twelve months of one firm say the same, which averages noise out."""
    units = look.sample.clear.units.values()
    return _columns(look, [_mean_of_unit(look, codes, z, 0.0) for codes in units for z in look.released.T])


def of_unit_and_itself(look: Look) -> np.ndarray:
    """The mean of all that a unit shows, with the record itself."""
    z, units = look.released[:, look.column], look.sample.clear.units.values()
    return _columns(look, [_mean_of_unit(look, codes, z, 1.0) for codes in units])


def of_neighbours(look: Look) -> np.ndarray:
    """What the nearest rows before and after show that were kept: files come in some order."""
    z, rows = np.where(look.own, look.released[:, look.column], np.nan), look.sample.clear.rows
    before, after = _last(z, rows), _last(z[::-1], -rows[::-1])[::-1]
    return _columns(look, [before, after, _mean(before, after)])


def of_twin(look: Look) -> np.ndarray:
    """What the nearest record in the columns in clear shows: the same person once more, or one much alike."""
    return _columns(look, [] if look.twin is None else [_of_twin(look, look.twin)])


def of_twin_and_itself(look: Look) -> np.ndarray:
    """The mean of what this record and the record itself show."""
    if look.twin is None:
        return _columns(look, [])
    return _columns(look, [_mean(_of_twin(look, look.twin), look.released[:, look.column])])


def linked(look: Look) -> tuple[np.ndarray, np.ndarray]:
    """The record that shows what fits each best, -1 for none, and what it and those near it show.

    A swapped record shows all masked values of one person, who stands in no other row, and whose columns in
    clear tell who it is where they follow from several masked ones.
    """
    numbers, near = list(look.sample.clear.numbers.values())[:MOST], np.full(look.own.size, -1)
    if look.released.shape[1] < 2 or not numbers:
        return near, _columns(look, [])
    told = _with_logarithms(np.column_stack((*numbers, *clear_beside(look).T)))
    known, shown = _with_logarithms(look.original), _with_logarithms(look.original, look.masked)
    others = np.flatnonzero(~np.isnan(shown).any(axis=1) & ~(look.own & ~look.own.all()))
    found = np.full((look.own.size, 4), np.nan)
    for side in (0, 1):
        fit = (look.sample.half != side) & ~np.isnan(known).any(axis=1)
        asked = np.flatnonzero((look.sample.half == side) & ~np.isnan(told).any(axis=1))
        places = _follow(known[fit], told[fit], shown[others], told[asked])
        if places is not None and asked.size and others.size >= LINKED:
            nearest, found[asked] = _nearest(*places, look.released[others, look.column])
            near[asked] = others[nearest]
    return near, found


def of_itself(look: Look) -> np.ndarray:
    """What the record shows in all masked columns."""
    return look.released


CLEAR = (clear_values, clear_beside)
OTHERS = (of_unit, of_neighbours, of_twin)
ITSELF = (of_itself, of_unit_and_itself, of_twin_and_itself)


def twins(sample: Sample) -> np.ndarray | None:
    """The number of the record most like each in the columns in clear, by ranks."""
    numbers = list(sample.clear.numbers.values())[:MOST]
    if not numbers:
        return None
    from scipy.spatial import cKDTree  # takes .1 s to import

    ranks = [np.where(np.isnan(x), 0.5 * x.size, np.argsort(np.argsort(x))) for x in numbers]
    table, itself = np.column_stack(ranks), np.arange(sample.half.size)
    near = cKDTree(table).query(table, k=2)[1]
    return np.asarray(np.where(near[:, 0] == itself, near[:, 1], near[:, 0]))


def _with_logarithms(known: np.ndarray, shown: np.ndarray | None = None) -> np.ndarray:
    """Columns and, of those that are positive as far as is known, the logarithms."""
    shown, positive = known if shown is None else shown, ~(known <= 0.0).any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.column_stack((shown, np.log(shown[:, positive])))


def _follow(
    known: np.ndarray, told: np.ndarray, shown: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Columns in clear of those asked about, and as they follow from what others show, in errors of this."""
    known, told = known[~np.isnan(told).any(axis=1)], told[~np.isnan(told).any(axis=1)]
    if len(known) < LINKED + known.shape[1]:
        return None
    scale, spread = np.abs(known).mean(axis=0) + TINY, told.std(axis=0) + TINY
    design, of_shown = (np.column_stack((np.ones(len(each)), each / scale)) for each in (known, shown))
    factors = np.linalg.lstsq(design, told, rcond=None)[0]
    left = told - design @ factors
    error = left.std(axis=0) + EXACT * spread
    some = (error < FOLLOWS * spread) & (spread > EXACT**2 * np.abs(told).max(axis=0, initial=TINY))
    if not some.any():
        return None
    among = np.cov(left[:, some] / error[some], rowvar=False) + EXACT * np.eye(int(some.sum()))
    white = np.linalg.cholesky(np.linalg.inv(among)) / error[some, None]
    return asked[:, some] @ white, (of_shown @ factors)[:, some] @ white


def _nearest(asked: np.ndarray, others: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest others, and of those near the value, the mean by weight, the greatest weight and the
    distance."""
    from scipy.spatial import cKDTree  # takes .1 s to import

    far, near = cKDTree(others).query(asked, k=LINKED)
    weight = np.exp(-0.5 * (far**2 - far[:, :1] ** 2))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = (weight * values[near]).sum(axis=1)
    return near[:, 0], np.column_stack((values[near[:, 0]], mean, weight[:, 0], np.log1p(far[:, 0])))


def _columns(look: Look, columns: list[np.ndarray]) -> np.ndarray:
    return np.column_stack(columns) if columns else np.empty((look.own.size, 0))


def _mean_of_unit(look: Look, codes: np.ndarray, z: np.ndarray, own: float) -> np.ndarray:
    """The mean of what the kept records of each unit show, counting the record itself so many times."""
    there = look.own & ~np.isnan(z) & (codes >= 0)
    shown = np.where(there, z, 0.0)
    total, number = (np.bincount(codes + 1, each)[codes + 1] - (1.0 - own) * each for each in (shown, there))
    return np.where(number > 0.0, total / np.maximum(number, 1.0), np.nan)


def _of_twin(look: Look, twin: np.ndarray) -> np.ndarray:
    return np.where(look.own[twin], look.released[twin, look.column], np.nan)


def _last(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The last value before each row, NaN where it is too far off."""
    last = np.maximum.accumulate(np.where(np.isnan(z), -1, np.arange(z.size)))
    before = np.append(-1, last[:-1])
    return np.where((before >= 0) & (rows - rows[before] <= FARTHEST), z[before], np.nan)


def _mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The mean of what is there."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, 0.5 * (a + b)))
