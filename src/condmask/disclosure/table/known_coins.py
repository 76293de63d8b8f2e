"""The worst attacker: has a release, all columns in clear, originals of others, and every coin.

She works in the office, or digits and ties show her which records were swapped. A swapped record
shows a stranger's value, so she guesses it from the columns in clear and from what kept records
show of the same firm, household, hour or street, and takes the total of a household into account.
A kept record shows its own value with noise, in each of its masked columns, so she puts these
together with what she would guess of a swapped one. Where few values are possible, or where
columns in clear tell which of the swapped values is whose, she takes the one that fits (`links`).

Any attack on a release is a part of this one, so a release is judged by it: by how much it adds to
what the columns in clear tell.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.insider import Learned
from condmask.disclosure.table.learners import FOLDS, best_by_fold, boosted
from condmask.disclosure.table.links import Total, few_values, linked, same_residue, with_total
from condmask.disclosure.table.neighbours import Neighbours, backfitted, shrunk
from condmask.disclosure.table.release import Release
from condmask.disclosure.table.view import MaskedColumn, View

STEPS = 4  # sets of others that are used one after the other
NEARBY_GROUPS = 5  # whose means are put together
SINGULAR = 1e-8


class Guesses(NamedTuple):
    """Predictions of some records, of which the best in other folds counts.

    Attributes
    ----------
    fold : ndarray of shape (m,)
    some : ndarray of bool of shape (m,)
        The records that are guessed.
    tries : list of ndarray of shape (m,)
    named : list of ndarray of shape (m,)
        Further ones, of values whose owners the columns in clear tell.
    """

    fold: np.ndarray
    some: np.ndarray
    tries: list[np.ndarray]
    named: list[np.ndarray]


def guesses(
    view: View,
    learned: Sequence[Learned],
    release: Release,
    totals: Sequence[Sequence[Total]],
    d: float,
    *,
    trees: bool,
) -> list[list[Guesses]]:
    """Return by masked column the guesses of swapped records, and those of kept ones.

    ``trees`` says whether these learn from the release too, which takes most of the time.
    """
    shown = [
        _from_others(column, learned[k], release, totals[k], d)
        for k, column in enumerate(view.columns)
    ]
    own = np.column_stack(
        [release.keys[column.name] - shown[k].now for k, column in enumerate(view.columns)]
    )
    own = np.where(np.isnan(own), 0.0, own)
    named = linked(view, learned, release)
    result = []
    for k, column in enumerate(view.columns):
        swapped = column.present & ~release.kept
        kept = column.present & release.kept
        plain = _put_together(column, shown[k], np.empty((column.u.size, 0)), swapped, d)
        by_own = _put_together(column, shown[k], own, kept, d)
        fold = shown[k].fold
        if trees:
            by_own.append(_grown(column, shown[k], by_own, own, kept, d))
        few, few_kept = few_values(view, column, release, shown[k].now)
        residue, residue_kept = same_residue(view, column, release, shown[k].now)
        owners = [*few, *residue, *named[k]]
        result.append(
            [
                Guesses(fold, swapped, [*plain, *learned[k].tries], owners),
                Guesses(fold, kept, [*by_own, *few_kept, *residue_kept, *learned[k].tries], []),
            ]
        )
    return result


class Shown(NamedTuple):
    """What others show of a column.

    Attributes
    ----------
    fold : ndarray of shape (m,)
    base : ndarray of shape (m,)
        What is predicted without a release.
    now : ndarray of shape (m,)
        What is predicted from that and from what other kept records show.
    nearby : ndarray of shape (m, k)
        What each set of others shows beyond ``base``, and what totals leave.
    """

    fold: np.ndarray
    base: np.ndarray
    now: np.ndarray
    nearby: np.ndarray


def _from_others(
    column: MaskedColumn,
    learned: Learned,
    release: Release,
    totals: Sequence[Total],
    d: float,
) -> Shown:
    """Return what other kept records show of each record."""
    u = column.u
    y = np.where(np.isnan(release.keys[column.name]), u, release.keys[column.name])
    known = release.kept & column.present
    teach = np.flatnonzero(column.present)
    sets: list[Neighbours] = [*column.groups, *column.windows]
    tries = []
    bases = [learned.guess, np.full(u.size, float(u[column.present].mean()))]
    for base in bases:
        tries.append(base + backfitted(sets, y - base, known, u - base, teach, STEPS))
    own = np.where(known, y, u)
    carried = []
    if column.chain is not None:
        carried.append(_carried(column, column.line.back(own), known, learned.guess))
    now = best_by_fold([*tries, *carried, learned.guess], u, d, learned.fold, column.present)
    nearby = [
        shrunk(near, y - learned.guess, known, u - learned.guess, teach).mean
        for near in [*column.groups[:NEARBY_GROUPS], *column.windows]
    ]
    own = np.where(known, y, now)
    left = [with_total(column, total, own, known, release) - now for total in totals]
    left += [each - learned.guess for each in carried]
    table = np.column_stack((np.empty((u.size, 0)), *nearby, *left))
    return Shown(learned.fold, learned.guess, now, table)


def _carried(
    column: MaskedColumn, data: np.ndarray, known: np.ndarray, otherwise: np.ndarray
) -> np.ndarray:
    """Return what kept records of a chain show of each other, on the line."""
    assert column.chain is not None
    values = column.chain.carried(data, known)
    inside = np.clip(values, column.x.min(), column.x.max())
    return np.where(np.isnan(values), otherwise, column.line.to(np.nan_to_num(inside)))


def _put_together(
    column: MaskedColumn, shown: Shown, own: np.ndarray, some: np.ndarray, d: float
) -> list[np.ndarray]:
    """Return predictions of some records by least squares on what they and others show."""
    columns = np.column_stack((shown.now - shown.base, shown.nearby, own))
    left = column.u - shown.base
    summed = shown.base + _least_squares(columns, left, shown.fold, some)
    alone = shown.now + _least_squares(own, column.u - shown.now, shown.fold, some)
    totals = [shown.now + extra for extra in shown.nearby.T]
    if own.shape[1]:
        totals = [shown.now + extra for extra in (*shown.nearby.T, own[:, 0])]
    return [shown.now, summed, alone, *totals]


def _least_squares(
    columns: np.ndarray, target: np.ndarray, fold: np.ndarray, some: np.ndarray
) -> np.ndarray:
    """Return predictions by the records of other folds."""
    predicted = np.zeros(target.size)
    if not columns.shape[1]:
        return predicted
    table = np.column_stack((np.ones(target.size), columns))
    for side in range(FOLDS):
        others = some & (fold != side)
        if others.sum() > 2 * table.shape[1]:
            factors = np.linalg.lstsq(table[others], target[others], rcond=SINGULAR)[0]
            predicted[fold == side] = table[fold == side] @ factors
    return predicted


def _grown(
    column: MaskedColumn,
    shown: Shown,
    tries: list[np.ndarray],
    own: np.ndarray,
    some: np.ndarray,
    d: float,
) -> np.ndarray:
    """Return what trees predict from all that is known, beyond the best of other predictions."""
    start = best_by_fold(tries, column.u, d, shown.fold, some)
    seen = np.column_stack((column.dense, shown.base, shown.now, start, shown.nearby, own))
    return np.asarray(start + boosted(seen, column.u - start, shown.fold, some))
