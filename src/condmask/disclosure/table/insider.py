"""The insider without a release: knows originals of others, and the columns in clear.

A clerk of the office has the values of other firms or persons, or of some records of each, and
learns from them how the columns in clear tell of the masked one: a price list, a tariff, pay
scales, levels of a district. Then he looks at the columns in clear of a record that he does not
know. Nothing was released yet, so no masking hides what he reaches.

He is tried twice: by unit, where he knows no record of the firm, and by record, where he may know
others of the same firm or article, as everybody knows the price of bread. Content cannot tell a
person from an article, so both figures are reported.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from condmask.correlations import pearson, ranks
from condmask.disclosure.table.learners import FOLDS, best_by_fold, boosted
from condmask.disclosure.table.neighbours import backfitted, shrunk
from condmask.disclosure.table.solved import quotient
from condmask.disclosure.table.view import MaskedColumn, View

ENCODED_KEYS = 6  # groups whose means are given to trees
STEPS_AFTER = 3  # groups that are used after least squares
STEPS_ALONE = 4  # and without
MONOTONE = 0.9  # the rank correlation of a column that gives the order of the values
MAX_MONOTONE_RECORDS = 2_000  # beyond which the other learners find it themselves
MAX_MONOTONE_COLUMNS = 40


class Learned(NamedTuple):
    """What was learned of a masked column without a release.

    Attributes
    ----------
    fold : ndarray of shape (m,)
    tries : list of ndarray of shape (m,)
        Predictions of each record by records of other folds.
    guess : ndarray of shape (m,)
        The one of them that comes nearest in other folds.
    """

    fold: np.ndarray
    tries: list[np.ndarray]
    guess: np.ndarray


def learned(view: View, fold: np.ndarray, distances: Sequence[float]) -> list[Learned]:
    """Return by masked column what records of other folds teach.

    ``distances`` are those within which guesses count, by column.
    """
    targets = [_scales(column) for column in view.columns]
    flat = [target for scales in targets for target in scales]
    teach = np.logical_and.reduce([column.present for column in view.columns])
    predicted = iter(view.design.out_of_fold([values for values, _ in flat], fold, teach * 1.0))
    result = []
    for column, scales, d in zip(view.columns, targets, distances, strict=True):
        ridge = [_on_line(column, next(predicted), back) for _, back in scales]
        tries = [guess for some in ridge for guess in some]
        linear = best_by_fold(tries, column.u, d, fold, teach)
        result.append(_learned(view, column, fold, linear, d))
    return result


def _learned(
    view: View, column: MaskedColumn, fold: np.ndarray, linear: np.ndarray, d: float
) -> Learned:
    """Add to least squares what groups tell, and then trees."""
    u = column.u
    present = column.present
    m = u.size
    after = np.zeros(m)
    alone = np.zeros(m)
    encodings = np.zeros((m, min(ENCODED_KEYS, len(column.groups))))
    middle = np.zeros(m)
    carried = np.full(m, np.nan)
    for side in range(FOLDS):
        known = (fold != side) & present
        teach = np.flatnonzero(known)
        asked = fold == side
        mean = float(u[known].mean()) if teach.size else 0.0
        middle[asked] = float(np.median(u[known])) if teach.size else 0.0
        left = u - linear
        effect = backfitted(column.groups, left, known, left, teach, STEPS_AFTER)
        after[asked] = (linear + effect)[asked]
        plain = backfitted(column.groups, u - mean, known, u - mean, teach, STEPS_ALONE)
        alone[asked] = (mean + plain)[asked]
        if column.chain is not None:
            carried[asked] = column.chain.carried(column.x, known)[asked]
        for k in range(encodings.shape[1]):
            means = shrunk(column.groups[k], u - mean, known, u - mean, teach).mean
            encodings[asked, k] = means[asked]
    solved = [quotient(column.x, view.encoded.numbers, fold, present), carried]
    starts = [linear, after, alone, *_monotone(column, fold)]
    starts += [_computed(column, values, linear) for values in solved]
    start = best_by_fold(starts, u, d, fold, present)
    table = np.column_stack((column.dense, *starts[:3], encodings))
    grown = start + boosted(table, u - start, fold, present)
    guess = best_by_fold([grown, *starts], u, d, fold, present)
    computed = [_computed(column, one.values, grown) for one in column.relations]
    return Learned(fold, [grown, *starts, *computed, middle], guess)


def _computed(column: MaskedColumn, values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Return what a relation predicts on the line, and another prediction where it has none."""
    with np.errstate(all="ignore"):
        on_line = column.line.to(values)
    return np.where(np.isfinite(on_line), on_line, otherwise)


Scale = tuple[np.ndarray, str]  # values to predict, and how predictions return to the line


def _scales(column: MaskedColumn) -> list[Scale]:
    """Return the values to predict: on the line, in units of the data, and as logarithms."""
    x = column.x
    u = column.u
    scales: list[Scale] = [(u, "line")]
    if abs(pearson(u, x)) < 1.0 - 1e-9:
        scales.append((x, "data"))
    if x.min() > 0.0 and abs(pearson(u, np.log(x))) < 1.0 - 1e-9:
        scales.append((np.log(x), "logarithms"))
    return scales


def _on_line(
    column: MaskedColumn, predictions: Sequence[np.ndarray], scale: str
) -> list[np.ndarray]:
    """Return predictions on the line, no lower and no higher than the values."""
    if scale == "line":
        return list(predictions)
    low = column.x.min()
    high = column.x.max()
    data = [np.exp(each) if scale == "logarithms" else each for each in predictions]
    return [column.line.to(np.clip(each, low, high)) for each in data]


def _monotone(column: MaskedColumn, fold: np.ndarray) -> Iterator[np.ndarray]:
    """Yield what columns in the order of the values say between those of other folds, which other
    learners find from many records only."""
    if column.u.size > MAX_MONOTONE_RECORDS:
        return
    rank = ranks(column.u)
    for w in column.dense.T[:MAX_MONOTONE_COLUMNS]:
        known = ~np.isnan(w) & column.present
        if known.sum() < FOLDS or abs(pearson(ranks(w[known]), rank[known])) < MONOTONE:
            continue
        guess = np.full(w.size, float(np.median(column.u)))
        for side in range(FOLDS):
            others = np.flatnonzero(known & (fold != side))
            asked = (fold == side) & ~np.isnan(w)
            if others.size:
                order = others[np.argsort(w[others], kind="stable")]
                guess[asked] = np.interp(w[asked], w[order], column.u[order])
        yield guess
