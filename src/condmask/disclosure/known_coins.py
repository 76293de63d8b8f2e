"""How near an attacker comes to the values of a table who knows every coin, and all columns in clear.

For each masked column four attackers name the value of each record:

    constant   knows how the column is distributed, and guesses the same for all
    clear      knows the columns in clear, and no release
    expected   knows these and the release, and not who was swapped
    worst      knows these, the release, and who was swapped

They learn on one half of some records, masked as the release will be, and are tried on the other half. Each
learns by gradient boosting to predict the value, and then names the window of width 2 d that holds most of
the residuals of records with like predictions. A swapped record is guessed from what others show, a kept one
also from its own released values.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure.features import CLEAR, ITSELF, OTHERS, Look, twins
from condmask.disclosure.joint_law import JointLaw, fullest
from condmask.disclosure.named import NAMED, Named
from condmask.disclosure.sample import Sample, draw, line_of
from condmask.disclosure.table import ROWS
from condmask.errors import optional
from condmask.strata import values_by_pool

D = 0.1  # of the spread
OPTIONS: dict[str, Any] = {
    "max_iter": 80, "learning_rate": 0.15, "max_leaf_nodes": 15, "min_samples_leaf": 20, "max_bins": 63,
    "early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 5, "random_state": 0,
}  # fmt: skip
RIDGE = 1.0  # records: columns may say the same
CELLS = 1 << 9  # of one column by itself
GROUPS, LIKE, APART, FEWEST = 10, 300, 40, 20  # of like predictions, at most; records and blocks of one


class Figures(NamedTuple):
    """Shares of records whose value is guessed to within d, for one column.

    Attributes
    ----------
    d : float
        In spreads of the column on the line on which noise is added, or in the units of the data.
    constant, clear, expected, worst : float
        By attacker; NaN for one that was not tried.
    error : float
        The standard error of ``worst - clear``, by unit.
    linked : float
        What of ``worst`` comes of swapped values whose owner the columns in clear tell.
    """

    d: float
    constant: float
    clear: float
    expected: float
    worst: float
    error: float = 0.0
    linked: float = 0.0

    @property
    def given(self) -> float:
        """What the columns in clear tell without any release."""
        return self.clear - self.constant

    @property
    def lift(self) -> float:
        """What a release adds for an attacker who knows every coin."""
        return self.worst - self.clear


def alone(
    x: np.ndarray, scheme: Any, distances: Sequence[float] | None = None, pool: np.ndarray | None = None,
    *, blind: bool = False,
) -> list[Figures]:  # fmt: skip
    """The figures of a column with nothing beside it but its donor pools, which all know: by the joint law of
    originals and released values of each.

    At distances in the units of the data, or at a tenth of the spread on the line on which noise is added;
    with `blind` also without coins.
    """
    line = line_of(x, scheme) if distances is None else None
    found, sizes = [], []
    for _, values in values_by_pool(x, pool):
        law = JointLaw.of(values[evenly_spaced(values.size, ROWS)], scheme, CELLS)
        if line is not None:
            law = law._replace(values=line(law.values), released=line(law.released))
        found.append([_by_law(law, d, blind=blind) for d in distances or [D]])
        sizes.append(values.size)
    return [Figures(*row) for row in np.average(found, axis=0, weights=sizes).tolist()]


def _by_law(law: JointLaw, d: float, *, blind: bool) -> Figures:
    """The figures of one pool; who knows the coins does no worse."""
    constant = law.constant(d)
    expected = max(constant, law.best(d, known_coins=False)) if blind else np.nan
    return Figures(d, constant, constant, expected, max(constant, law.best(d, known_coins=True)))


def attacked(
    sample: Sample, schemes: dict[str, Any], number: int = 0,
    distances: Mapping[str, Sequence[float]] | None = None, *, blind: bool = False,
) -> dict[str, list[Figures]]:  # fmt: skip
    """The figures of each masked column, on the masking of that number; with `blind` also without coins.

    At distances as in `alone`. Nobody does worse than with the column alone.
    """
    values = sample.table.values
    found = {
        name: alone(values[name], of, distances[name] if distances else None, sample.table.pool, blind=blind)
        for name, of in schemes.items()
    }
    if sample.alone:
        return found
    masked, swapped = draw(sample, schemes, number)
    lines = {name: line_of(values[name], of) for name, of in schemes.items()}
    released = np.column_stack([lines[name](z) for name, z in masked.items()])
    original, shown = (np.column_stack([each[name] for name in schemes]) for each in (values, masked))
    noisy = not next(iter(schemes.values())).reverse_mapping
    look = Look(sample, released, 0, twins(sample), ~swapped, original, shown, noisy)
    for k, (name, by_law) in enumerate(found.items()):
        line = np.asarray if distances else lines[name]
        found[name] = _guessed(look._replace(column=k, line=lines[name]), line, by_law, blind=blind)
    return found


def _guessed(
    look: Look, line: Callable[[np.ndarray], np.ndarray], by_law: list[Figures], *, blind: bool
) -> list[Figures]:
    """What attackers guess of one column's values on a line."""
    u = line(look.x)
    d, here, sample = np.array([row.d for row in by_law]), ~np.isnan(u), look.sample
    clear = seen(CLEAR, look)
    others = np.hstack((clear, seen(OTHERS, look)))
    itself = np.hstack((others, seen(ITSELF, look)))
    of_clear, kept = both_halves(clear, u, here, here, sample, d), here & look.own
    worst = both_halves(others, u, here, here & ~look.own, sample, d)
    worst += both_halves(itself, u, kept, kept, sample, d)
    named = [idea(look) for idea in NAMED]
    by_name = worst + _more_by_names(look, line, named, others, here & ~look.own, worst, d)
    by_name += _more_by_names(look, line, named, itself, kept, worst, d)
    unaware = np.full((d.size, u.size), np.nan)
    if blind:
        unsure = look._replace(own=np.ones(u.size, dtype=bool))
        table = seen((*CLEAR, *OTHERS, *ITSELF), unsure)
        unaware = both_halves(table, u, here, here, sample, d)
        named = [idea(unsure) for idea in NAMED]
        unaware += _more_by_names(unsure, line, named, table, here, unaware, d)
    found = []
    for k, row in enumerate(by_law):
        constant = best_guess(u[here], row.d)[1]
        known = max(constant, float(of_clear[k, here].mean()))
        expected = max(row.expected, float(unaware[k, here].mean())) if blind else np.nan
        # kept records by their law alone, swapped ones by the columns in clear
        by_parts = row.worst + np.where(look.own, 0.0, of_clear[k] - row.constant)[here].mean()
        plain = np.nanmax([known, row.worst, by_parts, worst[k, here].mean()])
        most = float(np.nanmax([plain, by_name[k, here].mean(), expected]))
        error = _error_by_block((by_name - of_clear)[k, here], look.sample.block[here])
        found.append(Figures(row.d, constant, known, expected, most, error, most - float(plain)))
    return found


def _more_by_names(
    look: Look, line: Callable[[np.ndarray], np.ndarray], named: Sequence[Named], table: np.ndarray,
    some: np.ndarray, found: np.ndarray, d: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """How many more of some records are guessed to within each d where a few values shown are named."""
    u, more = line(look.x), np.zeros_like(found)
    for value, features in named:
        place = line(value)
        there = some & ~np.isnan(place)
        if not there.any():
            continue
        guessed = both_halves(np.hstack((table, features)), u, there, there, look.sample, d, place)
        better = (guessed - more - found)[:, there].sum(axis=1) > 0.0
        more = np.where(better[:, None] & there, guessed - found, more)
    return more


def seen(ideas: Sequence[Callable[[Look], np.ndarray]], look: Look) -> np.ndarray:
    """Columns of numbers by some ideas."""
    return np.hstack([idea(look) for idea in ideas])


def both_halves(
    table: np.ndarray, u: np.ndarray, taught: np.ndarray, tried: np.ndarray, sample: Sample, d: np.ndarray,
    named: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Which of the tried records are guessed to within each d, as the other half teaches; 0 for others.

    A value that is `named` for each record is one of the predictions.
    """
    found = np.zeros((d.size, u.size))
    for side in (0, 1):
        fit, asked = taught & (sample.half != side), np.flatnonzero(tried & (sample.half == side))
        check = fit & (sample.block % 3 == 0)
        if asked.size and check.any():
            apart = np.unique(sample.block[check]).size
            groups = max(1, min(GROUPS, int(check.sum()) // LIKE, apart // APART))
            fit, check = np.flatnonzero(fit & ~check), np.flatnonzero(check)
            found[:, asked] = hits(table, u, fit, check, asked, d, groups, named)
    return found


def hits(
    table: np.ndarray, u: np.ndarray, fit: np.ndarray, check: np.ndarray, asked: np.ndarray, d: np.ndarray,
    groups: int, named: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Which of some records are guessed to within each d, as others teach; units beside these say how they
    err."""
    predicted = np.zeros(u.size)
    if table.shape[1] and fit.size >= 2 * FEWEST:
        tries = [*predictions(table, u, fit), *([] if named is None else [named])]
        predicted = max(tries, key=lambda some: best_guess(u[check] - some[check], float(d[0]))[1])
    edges = np.unique(np.quantile(predicted[check], np.arange(1, groups) / groups))
    group, found = np.digitize(predicted, edges), np.zeros((d.size, asked.size))
    for k in np.unique(group[asked]):
        like = check[group[check] == k]
        like = like if like.size >= FEWEST else check
        own = group[asked] == k
        for row, near in zip(found, d.tolist(), strict=True):
            shift, moved = best_guess(u[like] - predicted[like], near)
            fixed, same = best_guess(u[like], near)  # for all, which may serve better
            guess = predicted[asked[own]] + shift if moved >= same else fixed
            row[own] = np.abs(u[asked[own]] - guess) < near
    return found


def best_guess(u: np.ndarray, d: float) -> tuple[float, float]:
    """The middle of the window of width 2 d that holds most of some numbers, and the share nearer than d."""
    middle = float(fullest(np.sort(u), np.ones((u.size, 1)), d)[1][0])
    return middle, float(np.mean(np.abs(u - middle) < d))


def predictions(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> list[np.ndarray]:
    """What is predicted for all records, as some teach: by least squares, and with gradient boosting of what
    is left; one thread is the quickest."""
    with optional("an audit of several columns", "files"):
        from sklearn.ensemble import HistGradientBoostingRegressor  # takes a second to import
        from threadpoolctl import threadpool_limits
    table = table[:, [_varies(column) for column in table[fit].T]]
    if not table.shape[1]:
        return [np.full(u.size, u[fit].mean())]
    first = _by_least_squares(table, u, fit)
    table = np.column_stack((table, first))
    with threadpool_limits(1, "openmp"):
        model = HistGradientBoostingRegressor(**OPTIONS).fit(table[fit], (u - first)[fit])
        return [first, first + model.predict(table)]


def _varies(column: np.ndarray) -> bool:
    """Whether enough values differ from the most frequent one: early stopping leaves a fifth of them out."""
    _, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return int(counts.sum() - counts.max(initial=0)) >= FEWEST


def _by_least_squares(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """What least squares predict, with means in place of gaps; far values weigh no more than others."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    clipped = np.clip(table, *np.nanquantile(table[fit], (0.01, 0.99), axis=0))
    model = make_pipeline(SimpleImputer(), StandardScaler(), Ridge(RIDGE))
    return np.asarray(model.fit(clipped[fit], u[fit]).predict(clipped))


def _error_by_block(gain: np.ndarray, block: np.ndarray) -> float:
    """The standard error of a mean over records whose blocks are independent."""
    of_block = np.bincount(block, gain - gain.mean())
    return float(np.sqrt(of_block @ of_block) / gain.size)
