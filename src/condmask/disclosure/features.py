"""What an attacker who knows every coin learns a record's value from: a table of contents of ideas.

Each function gives columns of numbers for all records of a sample. The first three look at columns in clear
alone; the others at what a release shows of other records, where the values of kept records are their own but
for noise, and those of swapped records a stranger's; the last at what it shows of the record itself. What
each is worth stands in docs/coins.rst.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure.sample import Sample

NEAREST = 4  # twins
BESIDE, FARTHEST = 3, 8  # kept rows before and after, and within how many
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
    near : ndarray of shape (m, 4)
        The nearest records in the columns in clear; empty where there are none.
    own : ndarray of bool of shape (m,)
        The records whose released values are taken for their own: those that were kept, or all of them where
        the attacker does not know the coins.
    """

    sample: Sample
    released: np.ndarray
    column: int
    near: np.ndarray
    own: np.ndarray


def clear_values(look: Look) -> np.ndarray:
    """The columns in clear: numbers, and labels by how their originals would be told apart, by codes."""
    clear = look.sample.clear
    labels = [np.where(codes >= 0, codes, np.nan) for codes in clear.labels.values()]
    return _columns(look, [*clear.numbers.values(), *labels])


def clear_beside(look: Look) -> np.ndarray:
    """The columns in clear in the rows before and after: a running total rises by the value in question."""
    numbers = list(look.sample.clear.numbers.values())[:MOST]
    return _columns(look, [x - _shifted(look, x, by) for x in numbers for by in (1, -1)])


def size_of_unit(look: Look) -> np.ndarray:
    """How many records a unit has."""
    units = look.sample.clear.units.values()
    return _columns(look, [_per_unit(codes, np.ones(codes.size)) for codes in units])


def of_unit(look: Look) -> np.ndarray:
    """What the others of the unit show: twelve months of one firm say the same, which averages noise out."""
    found = []
    for codes in look.sample.clear.units.values():
        for z in look.released.T:
            there = look.own & ~np.isnan(z)
            shown = np.where(there, z, 0.0)
            number = _per_unit(codes, there) - there
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = (_per_unit(codes, shown) - shown) / number
            found += [np.where(number > 0, mean, np.nan), number]
    return _columns(look, found)


def of_unit_and_itself(look: Look) -> np.ndarray:
    """The mean of all that a unit shows, with the record itself."""
    found = []
    for codes in look.sample.clear.units.values():
        there = look.own & ~np.isnan(look.released[:, look.column])
        shown, number = np.where(there, look.released[:, look.column], 0.0), _per_unit(codes, there)
        found.append(np.where(number > 0, _per_unit(codes, shown) / np.maximum(number, 1), np.nan))
    return _columns(look, found)


def of_twin_and_itself(look: Look) -> np.ndarray:
    """The mean of what the nearest record shows, if it was kept, and the record itself."""
    return _columns(
        look, [_mean([of_twins(look)[:, 0], look.released[:, look.column]])] if look.near.size else []
    )


def of_neighbours(look: Look) -> np.ndarray:
    """What the nearest rows before and after show that were kept: files come in some order."""
    z = np.where(look.own, look.released[:, look.column], np.nan)
    before, after = (np.array([_nearest(look, z, way, k) for k in range(BESIDE)]) for way in (1, -1))
    both = np.vstack((before, after))
    with np.errstate(invalid="ignore"):
        apart = before[0] - after[0]
    return _columns(look, [before[0], after[0], apart, _mean([before[0], after[0]]), *_middle(both)])


def of_twins(look: Look) -> np.ndarray:
    """What the nearest records in the columns in clear show: the same person once more, or one much alike."""
    if not look.near.size:
        return _columns(look, [])
    shown = np.where(look.own[look.near], look.released[:, look.column][look.near], np.nan)
    return _columns(look, [shown[:, 0], _mean(list(shown.T))])


def of_itself(look: Look) -> np.ndarray:
    """What the record shows in all masked columns."""
    return look.released


CLEAR = (clear_values, clear_beside, size_of_unit)
OTHERS = (of_unit, of_neighbours, of_twins)
ITSELF = (of_itself, of_unit_and_itself, of_twin_and_itself)


def nearest(sample: Sample) -> np.ndarray:
    """The numbers of the records most like each in the columns in clear, itself left out."""
    numbers = list(sample.clear.numbers.values())[:MOST]
    if not numbers:
        return np.empty((sample.half.size, 0), dtype=np.int64)
    from scipy.spatial import cKDTree  # takes .1 s to import

    table = np.nan_to_num(np.column_stack([_standard(x) for x in numbers]))
    return np.asarray(cKDTree(table).query(table, k=min(NEAREST + 1, len(table)))[1][:, 1:])


def _columns(look: Look, columns: list[np.ndarray]) -> np.ndarray:
    return np.column_stack(columns) if columns else np.empty((look.own.size, 0))


def _per_unit(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A sum over the records of each unit, at each of its records."""
    sums = np.bincount(codes + 1, weights, int(codes.max(initial=0)) + 2)
    return np.where(codes >= 0, sums[codes + 1], weights)


def _shifted(look: Look, x: np.ndarray, by: int) -> np.ndarray:
    """What stands so many rows before (after, if below 0), NaN where that row is not in the sample."""
    rows = look.sample.clear.rows
    moved = np.roll(x, by)
    moved[rows - np.roll(rows, by) != by] = np.nan
    return moved


def _nearest(look: Look, z: np.ndarray, way: int, k: int) -> np.ndarray:
    """The value of the kth row before (or after) that has one, NaN where it is too far off."""
    there = np.flatnonzero(~np.isnan(z))
    rows, places = look.sample.clear.rows, np.arange(z.size)
    at = np.searchsorted(there, places) - 1 - k if way > 0 else np.searchsorted(there, places, "right") + k
    inside = (at >= 0) & (at < there.size)
    found = there[np.clip(at, 0, there.size - 1)] if there.size else places
    near = inside & (np.abs(rows[found] - rows) <= FARTHEST)
    return np.where(near, z[found], np.nan)


def _middle(columns: np.ndarray) -> list[np.ndarray]:
    """The median of what is there, and how far it lies apart."""
    ordered, number = np.sort(columns, axis=0), (~np.isnan(columns)).sum(axis=0)
    middle = ordered[np.maximum(number - 1, 0) // 2, np.arange(columns.shape[1])]
    last = ordered[np.maximum(number - 1, 0), np.arange(columns.shape[1])]
    return [middle, last - ordered[0]]


def _mean(columns: list[np.ndarray]) -> np.ndarray:
    """The mean of what is there."""
    table = np.array(columns)
    number = (~np.isnan(table)).sum(axis=0)
    return np.where(number > 0, np.nansum(table, axis=0) / np.maximum(number, 1), np.nan)


def _standard(x: np.ndarray) -> np.ndarray:
    """A column in ranks, from -1 to 1."""
    order = np.argsort(np.argsort(x)) if x.size else x
    return np.where(np.isnan(x), np.nan, 2.0 * order / max(x.size - 1, 1) - 1.0)
