"""Find the one value that fits, where columns in clear leave few values possible.

Swapped records show the values of strangers. A column in clear may still tell whose a value is: a
tax at one of six rates leaves six amounts possible, of which one alone was shown; a reference ends
as its amount does; and where several columns are masked together, a swapped record shows all of
them of one stranger, whose profit is in clear. No noise helps, as swapped values carry none.

The total of a household is no link: it narrows down what its members can have, all at once.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.insider import Learned
from condmask.disclosure.table.learners import FOLDS
from condmask.disclosure.table.relations import resolution
from condmask.disclosure.table.release import Release
from condmask.disclosure.table.view import MaskedColumn, View

MAX_FACTORS = 8  # numbers in clear, in units of which values may be few
MAX_LEVELS = 150
MAX_FACTOR_LEVELS = 40
LEVEL_CELLS = 4  # side by side, that one level may fill
MIN_LEVEL_RECORDS = 5
MIN_LEVEL_SHARE = 0.004
MIN_COVERED = 0.5  # of the records, that have one of few values
NOT_SHOWN = 5.0  # of the log odds, against a value that nobody was shown with
RESIDUES = (100.0, 1_000.0, 10_000.0)  # of the last digits
MIN_SAME_RESIDUE = 0.3  # of the records
NEAREST = 32  # values that are compared with what a column in clear says
MAX_TOLD_SHARE = 0.1  # of the spread of a column in clear, left when masked ones are known
MAX_LINKING = 30  # columns in clear
TOTAL_SHARE = 0.1  # of the records, in whose unit a total is in clear
MAX_BY_CHANCE = 0.03


def few_values(
    view: View, column: MaskedColumn, release: Release, now: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the likeliest value of each record, if it was swapped, and if it was kept, where the
    values, or those by a column in clear or less it, are few; several guesses of each."""
    x = column.x
    y = np.where(np.isnan(release.keys[column.name]), now, release.keys[column.name])
    values = release.values[column.name]
    strangers = values[~release.kept]
    rows = np.flatnonzero(column.present)
    error = max(float(np.mean((now - column.u)[rows] ** 2)), 1e-12)
    swapped = []
    kept = []
    for possible, counts, slack in _possible(view, column, rows):
        places = column.line.to(possible)
        odds = np.log(counts) - (places - now[:, None]) ** 2 / (2.0 * error)
        # a stranger who was swapped, too, shows the value of a swapped record
        of_strangers = odds - NOT_SHOWN * _unshown(possible, strangers, slack)
        by_own = odds - NOT_SHOWN * _unshown(possible, values, slack)
        by_own -= (places - y[:, None]) ** 2 / (2.0 * release.noise[column.name] ** 2)
        each = np.arange(x.size)
        swapped.append(places[each, np.argmax(of_strangers, axis=1)])
        kept.append(places[each, np.argmax(by_own, axis=1)])
    return swapped, kept


def with_levels(view: View, learned: Sequence[Learned]) -> list[Learned]:
    """Return by masked column what was learned without a release, with the likeliest of the few
    values that are possible, which everybody knows."""
    result = []
    for column, known in zip(view.columns, learned, strict=True):
        rows = np.flatnonzero(column.present)
        error = max(float(np.mean((known.guess - column.u)[rows] ** 2)), 1e-12)
        levels = []
        for possible, counts, _ in _possible(view, column, rows):
            places = column.line.to(possible)
            odds = np.log(counts) - (places - known.guess[:, None]) ** 2 / (2.0 * error)
            levels.append(places[np.arange(column.u.size), np.argmax(odds, axis=1)])
        result.append(known._replace(tries=[*known.tries, *levels]))
    return result


class Possible(NamedTuple):
    """The few values that each record can have.

    Attributes
    ----------
    values : ndarray of shape (m, k)
    counts : ndarray of shape (k,)
        How frequent each is.
    slack : float or ndarray of shape (k,)
        How far off rounding may take it, twice.
    """

    values: np.ndarray
    counts: np.ndarray
    slack: float | np.ndarray


def _possible(view: View, column: MaskedColumn, rows: np.ndarray) -> Iterator[Possible]:
    """Yield the few values that each record can have."""
    x = column.x
    levels = _levels(x[rows], column.step, MAX_LEVELS)
    if levels is not None:
        values = np.broadcast_to(levels.values, (x.size, levels.values.size))
        yield Possible(values, levels.counts, column.step)
        return
    for factor in list(view.encoded.numbers.values())[:MAX_FACTORS]:
        if not np.isfinite(factor).all():
            continue
        step = resolution(factor)
        levels = _levels((x - factor)[rows], column.step + step, MAX_FACTOR_LEVELS)
        if levels is not None:
            values = factor[:, None] + levels.values
            yield Possible(values, levels.counts, column.step + step)
        if (factor != 0.0).all():
            quotient = (x / factor)[rows]
            off = (column.step + np.abs(quotient) * step) / np.abs(factor[rows])
            levels = _levels(quotient, float(np.median(off)), MAX_FACTOR_LEVELS)
            if levels is not None:
                values = factor[:, None] * levels.values
                slack = column.step + step * np.abs(levels.values)
                yield Possible(values, levels.counts, slack)


class Levels(NamedTuple):
    """The values that most of some numbers have, and how many of them have each."""

    values: np.ndarray
    counts: np.ndarray


def _levels(rest: np.ndarray, off: float, most: int) -> Levels | None:
    """Return the levels of numbers that may be so far off; None if these are many."""
    if rest.size < 2 * MIN_LEVEL_RECORDS:
        return None
    cell, place, counts = np.unique(
        np.floor(rest / (2.0 * off)), return_inverse=True, return_counts=True
    )
    often = counts >= max(MIN_LEVEL_RECORDS, MIN_LEVEL_SHARE * rest.size)
    if not 1 < often.sum() <= LEVEL_CELLS * most:
        return None
    if counts[often].sum() < MIN_COVERED * rest.size:
        return None
    sums = np.bincount(place, rest, cell.size)[often]
    number = counts[often]
    # cells side by side hold one level
    level = np.append(0, np.cumsum(np.diff(cell[often]) > 1.5))
    together = np.bincount(level, number)
    if not 1 < together.size <= most:
        return None
    return Levels(np.bincount(level, sums) / together, together)


def _unshown(possible: np.ndarray, shown: np.ndarray, slack: float | np.ndarray) -> np.ndarray:
    """Return which possible values no record was released with."""
    ordered = np.sort(shown[~np.isnan(shown)])
    at = np.searchsorted(ordered, possible).clip(1, ordered.size - 1)
    apart = np.minimum(np.abs(ordered[at] - possible), np.abs(ordered[at - 1] - possible))
    return np.asarray(apart > 0.51 * slack)


def same_residue(
    view: View, column: MaskedColumn, release: Release, now: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the released values that end as a column in clear does and are nearest to ``now``,
    and to the released value of each record, if it was kept."""
    steps = np.rint(column.x / column.step)
    values = release.values[column.name]
    everyone = np.unique(values[~np.isnan(values)])
    strangers = np.unique(values[~np.isnan(values) & ~release.kept])
    y = np.where(np.isnan(release.keys[column.name]), now, release.keys[column.name])
    swapped: list[np.ndarray] = []
    kept: list[np.ndarray] = []
    for residue in RESIDUES:
        for w in view.encoded.numbers.values():
            same = float(np.mean(steps % residue == w % residue))
            if same >= MIN_SAME_RESIDUE and np.unique(w % residue).size > residue / 4.0:
                for guesses, shown, near in ((swapped, strangers, now), (kept, everyone, y)):
                    ends = np.rint(shown / column.step) % residue
                    places = column.line.to(shown)
                    guesses.append(_nearest(places, ends, near, w % residue))
    return swapped, kept


def _nearest(
    places: np.ndarray, ends: np.ndarray, wanted: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """Return by record the place with the same end that is nearest to the wanted one, or this one
    where none has the same end."""
    reach = 4.0 * (float(np.ptp(places)) + 1.0)  # between ends, beyond all places of one
    order = np.lexsort((places, ends))
    line = ends[order] * reach + places[order]
    clipped = np.clip(wanted, places.min(), places.max())
    sought = np.nan_to_num(end, nan=-1.0) * reach + clipped
    at = np.searchsorted(line, sought).clip(1, order.size - 1)
    is_above = np.abs(line[at] - sought) < np.abs(line[at - 1] - sought)
    best = np.where(is_above, at, at - 1)
    fits = np.abs(line[best] - sought) < 0.5 * reach
    return np.where(fits, places[order][best], wanted)


# --- several masked columns ---


def linked(view: View, learned: Sequence[Learned], release: Release) -> list[list[np.ndarray]]:
    """Return by masked column the values of the stranger whose released values, all together, fit
    best what a column in clear says of a record."""
    columns = view.columns
    none: list[list[np.ndarray]] = [[] for _ in columns]
    if len(columns) < 2:
        return none
    originals = np.column_stack([column.x for column in columns])
    complete = np.logical_and.reduce([column.present for column in columns])
    shown = np.column_stack([release.values[column.name] for column in columns])
    strangers = np.flatnonzero(complete & ~release.kept)
    if strangers.size < 2 * NEAREST:
        return none
    of_original = _terms(originals)
    of_shown = _terms(shown[strangers])
    fold = learned[0].fold
    for w in list(view.encoded.numbers.values())[:MAX_LINKING]:
        known = complete & ~np.isnan(w)
        if known.sum() < 4 * of_original.shape[1]:
            continue
        expected, error = _predicted(of_original, w, fold, known, of_shown)
        if error > MAX_TOLD_SHARE * np.std(w[known]):
            continue
        owner = _owners(view, learned, shown[strangers], w, expected, error)
        for k, column in enumerate(columns):
            none[k].append(column.line.to(shown[strangers[owner], k]))
    return none


def _terms(x: np.ndarray) -> np.ndarray:
    """Return masked columns, their logarithms, products and quotients."""
    away = np.where(np.abs(x) > 1e-9, x, 1e-9)
    pairs = [(a * b, a / b, b / a) for a, b in combinations(away.T, 2)]
    terms = [x, np.log(np.abs(away)), *(term for some in pairs for term in some)]
    return np.column_stack((np.ones(len(x)), *terms))


def _predicted(
    terms: np.ndarray, w: np.ndarray, fold: np.ndarray, known: np.ndarray, of_shown: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return by fold what released values make expected of a column in clear, and the error."""
    spread = terms[known].std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    expected = np.empty((FOLDS, len(of_shown)))
    errors = []
    for side in range(FOLDS):
        learn = known & (fold != side)
        factors = np.linalg.lstsq(terms[learn] / spread, w[learn], rcond=1e-10)[0]
        expected[side] = (of_shown / spread) @ factors
        asked = known & (fold == side)
        errors.append(np.abs((terms[asked] / spread) @ factors - w[asked]))
    return expected, max(1.5 * float(np.median(np.concatenate(errors))), 1e-12)


def _owners(
    view: View,
    learned: Sequence[Learned],
    shown: np.ndarray,
    w: np.ndarray,
    expected: np.ndarray,
    error: float,
) -> np.ndarray:
    """Return for each record the stranger who fits best."""
    best = np.zeros(w.size, dtype=np.int64)
    fold = learned[0].fold
    places = [column.line.to(shown[:, k]) for k, column in enumerate(view.columns)]
    spreads = [
        float(np.mean((each.guess - column.u)[column.present] ** 2))
        for each, column in zip(learned, view.columns, strict=True)
    ]
    for side in range(FOLDS):
        rows = np.flatnonzero((fold == side) & ~np.isnan(w))
        order = np.argsort(expected[side], kind="stable")
        ascending = expected[side][order]
        middle = np.searchsorted(ascending, w[rows])
        first = (middle - NEAREST // 2).clip(0, max(order.size - NEAREST, 0))
        near = order[first[:, None] + np.arange(NEAREST)]
        odds = -((expected[side][near] - w[rows, None]) ** 2) / (2.0 * error**2)
        for place, each, spread in zip(places, learned, spreads, strict=True):
            odds -= (place[near] - each.guess[rows, None]) ** 2 / (2.0 * spread)
        best[rows] = near[np.arange(rows.size), np.argmax(odds, axis=1)]
    return best


# --- totals ---


class Total(NamedTuple):
    """A total of each unit that is in clear.

    Attributes
    ----------
    codes : ndarray of int of shape (m,)
        The unit of each record.
    total : ndarray of shape (m,)
        The total of its unit; NaN where none is known.
    """

    codes: np.ndarray
    total: np.ndarray


def totals_of(view: View, column: MaskedColumn) -> list[Total]:
    """Return the totals of a masked column by unit that stand in a column in clear."""
    found = []
    for unit in column.units:
        size = np.bincount(unit.codes)[unit.codes]
        total = np.bincount(unit.codes, column.x)[unit.codes]
        slack = 0.51 * column.step * np.maximum(size, 1)
        for w in view.encoded.numbers.values():
            largest = np.full(unit.codes.max() + 1, -np.inf)
            np.maximum.at(largest, unit.codes, np.where(np.isnan(w), -np.inf, w))
            stated = largest[unit.codes]
            holds = (np.abs(total - stated) <= slack) & (size > 1)
            shifted = np.roll(stated, 1 + stated.size // 3)
            by_chance = np.mean(np.abs(total - shifted) <= slack)
            if holds.mean() > TOTAL_SHARE and by_chance < MAX_BY_CHANCE:
                known = np.isfinite(stated)
                found.append(Total(unit.codes, np.where(known, stated, np.nan)))
                break
    return found


def with_total(
    column: MaskedColumn, total: Total, now: np.ndarray, known: np.ndarray, release: Release
) -> np.ndarray:
    """Return what is known of each record, once the total of its unit is shared out.

    What the total lacks goes to the members of a unit in proportion to how uncertain each is.
    """
    data = column.line.back(now)
    off = np.abs(column.line.back(now + 0.5) - column.line.back(now - 0.5))
    noise = release.noise[column.name]
    left = float(np.std((column.u - now)[column.present & ~known])) or 1.0
    sure = left * noise / np.sqrt(left**2 + noise**2)
    variance = (off * np.where(known, sure, left)) ** 2
    lacking = total.total - np.bincount(total.codes, data)[total.codes]
    share = variance / np.maximum(np.bincount(total.codes, variance)[total.codes], 1e-300)
    corrected = data + share * np.nan_to_num(lacking)
    low = float(column.x.min())
    high = float(column.x.max())
    return column.line.to(np.clip(corrected, low, high))
