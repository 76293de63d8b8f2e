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
    """

    sample: Sample
    released: np.ndarray
    column: int
    twin: np.ndarray | None
    own: np.ndarray


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
