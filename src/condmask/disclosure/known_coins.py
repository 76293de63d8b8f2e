"""How near an attacker comes to the values of a table who knows every coin, and all columns in
clear.

For each masked column four attackers name the value of each record:

    constant   knows how the column is distributed, and guesses the same for all
    clear      knows the columns in clear, and no release
    expected   knows these and the release, and not who was swapped
    worst      knows these, the release, and who was swapped

They learn on one half of some records, masked as the release will be, and are tried on the other
half. Each learns by gradient boosting to predict the value, and then names the window of width 2 d
that holds most of the residuals of records with like predictions. A swapped record is guessed from
what others show, a kept one also from its own released values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.correlations import pearson, ranks
from condmask.disclosure.attacker_view import AttackerView
from condmask.disclosure.column.joint_law import JointLaw, fullest
from condmask.disclosure.features import (
    FEATURES_OF_CLEAR,
    FEATURES_OF_ITSELF,
    FEATURES_OF_OTHERS,
    twins,
)
from condmask.disclosure.figures import Figures
from condmask.disclosure.formulas import STANDALONE_GUESSES
from condmask.disclosure.named import NAMED
from condmask.disclosure.sample import Sample, draw, line_of
from condmask.disclosure.unmasked import MAX_EXAMINED_ROWS, Table
from condmask.errors import optional
from condmask.strata import values_by_pool

D = 0.1  # of the spread
OPTIONS: dict[str, Any] = {
    "max_iter": 80,
    "learning_rate": 0.15,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 20,
    "max_bins": 63,
    "early_stopping": True,
    "validation_fraction": 0.2,
    "n_iter_no_change": 5,
    "random_state": 0,
}
RIDGE = 1.0  # records: columns may say the same
MONOTONE = 0.9  # the rank correlation of a column that gives the order of the values
CELLS = 512  # of one column by itself
GROUPS = 10
LIKE = 300
APART = 40
FEWEST = 20  # of like predictions, at most; records and blocks of one


# what is seen of records; who teaches; who is tried; what is guessed before
Group = tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]
Distances = Mapping[str, Sequence[float]] | None  # by column


def alone(table: Table, name: str, scheme: Any, distances: Sequence[float]) -> list[Figures]:
    """The figures of a column with nothing beside it but its donor pools, which all know: by the
    joint law of originals and released values of each.

    At distances in the units of the data, or where none are given at a tenth of the spread on the
    line on which noise is added.
    """
    x = table.values[name]
    found = []
    sizes = []
    line, near = (np.asarray, distances) if distances else (line_of(x, scheme), [D])
    for _, values in values_by_pool(x, table.pool):
        law = JointLaw.of(values[evenly_spaced(values.size, MAX_EXAMINED_ROWS)], scheme, CELLS)
        law = law._replace(values=line(law.values))
        constant = [law.constant(d) for d in near]
        worst = [law.best(d, known_coins=True) for d in near]
        found.append(np.transpose([near, constant, constant, [np.nan] * len(near), worst]))
        sizes.append(values.size)
    return [Figures(*row) for row in np.average(found, axis=0, weights=sizes).tolist()]


def attacked(
    sample: Sample,
    schemes: dict[str, Any],
    number: int = 0,
    at: Distances = None,
    *,
    blind: bool = False,
) -> dict[str, list[Figures]]:
    """The figures of each masked column, on the masking of that number; with `blind` also without
    coins.

    At distances in the units of the data, or as in `alone`. Nobody does worse than with the column
    alone.
    """
    table = sample.table
    values = sample.table.values
    d_of = at or dict.fromkeys(schemes, ())
    found = {name: alone(table, name, of, d_of[name]) for name, of in schemes.items()}
    if sample.alone:
        return found
    masked, swapped = draw(sample, schemes, number)
    lines = {name: line_of(values[name], of) for name, of in schemes.items()}
    released = np.column_stack([lines[name](z) for name, z in masked.items()])
    original, shown = (
        np.column_stack([each[name] for name in schemes]) for each in (values, masked)
    )
    noisy = not next(iter(schemes.values())).reverse_mapping
    like = twins(sample)
    for k, (name, by_law) in enumerate(found.items()):
        line = lines[name]
        d = np.array([row.d for row in by_law])
        scale = np.asarray if at else line
        look = AttackerView(
            sample, released, k, like, ~swapped, original, shown, noisy, line, scale, d
        )
        found[name] = _guessed(look, by_law, blind=blind)
    return found


def _guessed(look: AttackerView, by_law: list[Figures], *, blind: bool) -> list[Figures]:
    """What attackers guess of one column."""
    from condmask.disclosure.related import related  # takes .1 s to import

    u = look.u
    here = ~np.isnan(look.x)
    found = []
    clear = seen(FEATURES_OF_CLEAR, look)
    others = np.hstack((clear, seen(FEATURES_OF_OTHERS, look)))
    itself = np.hstack((others, seen(FEATURES_OF_ITSELF, look)))
    told = [look.scale(idea(look)) for idea in STANDALONE_GUESSES]
    unshown, by_others, by_all = ([look.scale(guess)] for guess in related(look))
    of_clear = both_halves(look, (clear, here, here, told + unshown))
    kept = here & look.own
    groups = [(others, here, here & ~look.own, by_others), (itself, kept, kept, by_all)]
    worst, by_name = _with_names(look, groups)
    unaware = np.full_like(worst, np.nan)
    if blind:
        unsure = look._replace(own=np.ones_like(look.own))
        all_seen = seen((*FEATURES_OF_CLEAR, *FEATURES_OF_OTHERS, *FEATURES_OF_ITSELF), unsure)
        _, unaware = _with_names(unsure, [(all_seen, here, here, [])])
    for k, row in enumerate(by_law):
        constant = best_guess(u[here], row.d)[1]
        known = max(constant, float(of_clear[k, here].mean()))
        expected = float(unaware[k, here].mean())
        # kept records by their law alone, swapped ones by the columns in clear
        by_parts = row.worst + np.where(look.own, 0.0, of_clear[k] - row.constant)[here].mean()
        plain = np.nanmax([known, row.worst, by_parts, worst[k, here].mean()])
        most = float(np.nanmax([plain, by_name[k, here].mean(), expected]))
        gain = (by_name - of_clear)[k, here]
        # which are independent
        of_block = np.bincount(look.sample.block[here], gain - gain.mean())
        error = float(np.sqrt(of_block @ of_block)) / gain.size
        found.append(Figures(row.d, constant, known, expected, most, error, most - float(plain)))
    return found


def _with_names(look: AttackerView, groups: list[Group]) -> tuple[np.ndarray, np.ndarray]:
    """Which records of groups are guessed to within each d: without values that are named, and
    with each idea of these wherever it is right more often."""
    named = [(look.scale(value), features) for value, features in (idea(look) for idea in NAMED)]
    plain = np.sum([both_halves(look, group) for group in groups], axis=0)
    found = plain.copy()
    for (table, _, tried, _), (place, features) in product(groups, named):
        there = tried & ~np.isnan(place)
        if there.any():
            guessed = both_halves(look, (np.hstack((table, features)), there, there, [place]))
            better = (guessed - found)[:, there].sum(axis=1) > 0.0
            found = np.where(better[:, None] & there, guessed, found)
    return plain, found


def seen(
    ideas: Sequence[Callable[[AttackerView], list[np.ndarray]]], look: AttackerView
) -> np.ndarray:
    """Columns of numbers by some ideas, of which there may be none."""
    columns = [column for idea in ideas for column in idea(look)]
    return np.column_stack((np.empty((look.own.size, 0)), *columns))


def both_halves(look: AttackerView, group: Group) -> np.ndarray:
    """Which of a group's tried records are guessed to within each d, as the other half teaches; 0
    for others.

    Of what is predicted, or guessed before, that counts which serves others best.
    """
    (table, taught, tried, guesses) = group
    u = look.u
    half = look.sample.half
    found = np.zeros((look.d.size, u.size))
    for side in (0, 1):
        fit = taught & (half != side)
        asked = np.flatnonzero(tried & (half == side))
        # units beside those that teach say how these err
        check = fit & (look.sample.block % 3 == 0)
        if asked.size and check.any():
            fit = np.flatnonzero(fit & ~check)
            check = np.flatnonzero(check)
            tries = [*predictions(table, u, fit), *guesses]
            right = [best_guess(u[check] - some[check], float(look.d[0]))[1] for some in tries]
            found[:, asked] = _hits(look, tries[int(np.argmax(right))], check, asked)
    return found


def _hits(
    look: AttackerView, predicted: np.ndarray, check: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """Which of some records are guessed to within each d, as others err with like predictions."""
    u = look.u
    apart = np.unique(look.sample.block[check]).size
    groups = max(1, min(GROUPS, check.size // LIKE, apart // APART))
    edges = np.unique(np.quantile(predicted[check], np.arange(1, groups) / groups))
    group = np.digitize(predicted, edges)
    found = np.zeros((look.d.size, asked.size))
    for k in np.unique(group[asked]):
        like = check[group[check] == k]
        like = like if like.size >= FEWEST else check
        own = group[asked] == k
        for row, near in zip(found, look.d.tolist(), strict=True):
            shift, moved = best_guess(u[like] - predicted[like], near)
            fixed, same = best_guess(u[like], near)  # for all, which may serve better
            guess = predicted[asked[own]] + shift if moved >= same else fixed
            row[own] = np.abs(u[asked[own]] - guess) < near
    return found


def best_guess(u: np.ndarray, d: float) -> tuple[float, float]:
    """The middle of the window of width 2 d that holds most of some numbers, and the share nearer
    than d."""
    middle = float(fullest(np.sort(u), np.ones((u.size, 1)), d)[1][0])
    return middle, float(np.mean(np.abs(u - middle) < d))


def predictions(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> list[np.ndarray]:
    """What is predicted for all records, as some teach: by least squares, and with gradient
    boosting of what is left; by columns in the order of the values. One thread is the quickest."""
    with optional("an audit of several columns", "files"):
        # takes a second
        from sklearn import ensemble, impute, linear_model, pipeline, preprocessing
        from threadpoolctl import threadpool_limits
    ordered = list(_by_order(table, u, fit))
    table = table[:, [_varies(column) for column in table[fit].T]]
    if not table.shape[1] or fit.size < 2 * FEWEST:
        return [np.zeros(u.size), *ordered]
    # far ones weigh no more
    clipped = np.clip(table, *np.nanquantile(table[fit], (0.01, 0.99), axis=0))
    filled = impute.SimpleImputer(), preprocessing.StandardScaler()  # with means in place of gaps
    line = pipeline.make_pipeline(*filled, linear_model.Ridge(RIDGE)).fit(clipped[fit], u[fit])
    first = line.predict(clipped)
    table = np.column_stack((table, first))
    with threadpool_limits(1, "openmp"):
        model = ensemble.HistGradientBoostingRegressor(**OPTIONS).fit(table[fit], (u - first)[fit])
        return [first, first + model.predict(table), *ordered]


def _by_order(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> Iterator[np.ndarray]:
    """What columns in the order of the values say between those of records that teach: logarithms,
    ranks and other units, which the others learn from many records only."""
    rank = ranks(u[fit])
    for column in table.T:
        known = ~np.isnan(column[fit])
        there = fit[known]
        if there.size and abs(pearson(ranks(column[there]), rank[known])) > MONOTONE:
            order = there[np.argsort(column[there])]
            yield np.nan_to_num(np.interp(column, column[order], u[order]), nan=u[there].mean())


def _varies(column: np.ndarray) -> bool:
    """Whether enough values differ from the most frequent one: early stopping leaves a fifth of
    them out."""
    _, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return int(counts.sum() - counts.max(initial=0)) >= FEWEST
