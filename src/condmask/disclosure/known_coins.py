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

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure.features import CLEAR, ITSELF, OTHERS, Look, twins
from condmask.disclosure.joint_law import JointLaw
from condmask.disclosure.sample import Sample, draw, line_of
from condmask.disclosure.table import ROWS
from condmask.errors import optional

D = 0.1  # of the spread
OPTIONS: dict[str, Any] = {
    "max_iter": 80, "learning_rate": 0.15, "max_leaf_nodes": 15, "min_samples_leaf": 20, "max_bins": 63,
    "early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 5, "random_state": 0,
}  # fmt: skip
RIDGE = 1.0  # records: columns may say the same
CELLS = 1 << 9  # of one column by itself
GROUPS, LIKE, FEWEST = 10, 300, 20  # of like predictions, at most; records that one should have, and must


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
    """

    d: float
    constant: float
    clear: float
    expected: float
    worst: float
    error: float = 0.0

    @property
    def given(self) -> float:
        """What the columns in clear tell without any release."""
        return self.clear - self.constant

    @property
    def lift(self) -> float:
        """What a release adds for an attacker who knows every coin."""
        return self.worst - self.clear


def figures(sample: Sample, schemes: dict[str, Any], number: int = 0) -> dict[str, Figures]:
    """The figures of each masked column, at a tenth of its spread, on the masking of that number."""
    attack = Attack.on(sample, schemes, number)
    return {name: attack.at(name)[0] for name in schemes}


def alone(x: np.ndarray, scheme: Any, distances: Sequence[float] | None = None) -> list[Figures]:
    """The figures of a column with nothing beside it, by the joint law of originals and released values.

    At distances in the units of the data, or at a tenth of the spread on the line on which noise is added.
    """
    x = x[~np.isnan(x)]
    law = JointLaw.of(x[evenly_spaced(x.size, ROWS)], scheme, CELLS)
    if distances is None:
        line, distances = line_of(x, scheme), [D]
        law = law._replace(values=line(law.values), released=line(law.released))
    found = []
    for d in distances:
        constant = law.constant(d)
        expected, worst = (max(constant, law.best(d, known_coins=known)) for known in (False, True))
        found.append(Figures(d, constant, constant, expected, max(expected, worst)))
    return found


class Attack(NamedTuple):
    """An attacker at work on a sample and a masking of it.

    Attributes
    ----------
    sample : Sample
    schemes : dict of str to scheme
    released : ndarray of shape (m, masked columns) or None
        On the lines on which noise is added; None for a column with nothing beside it.
    swapped : ndarray of bool of shape (m,)
    twin : ndarray of shape (m,) or None
        The record most like each in the columns in clear.
    """

    sample: Sample
    schemes: dict[str, Any]
    released: np.ndarray | None
    swapped: np.ndarray
    twin: np.ndarray | None

    @classmethod
    def on(cls, sample: Sample, schemes: dict[str, Any], number: int = 0) -> "Attack":
        """The attack on the masking of that number."""
        if len(schemes) == 1 and not (sample.clear.numbers or sample.clear.labels):
            return cls(sample, schemes, None, np.empty(0), None)
        masking, values = draw(sample, schemes, number), sample.table.values
        columns = [line_of(values[name], of)(masking.released[name]) for name, of in schemes.items()]
        return cls(sample, schemes, np.column_stack(columns), masking.swapped, twins(sample))

    def at(
        self, name: str, distances: Sequence[float] | None = None, *, blind: bool = False
    ) -> list[Figures]:
        """The figures of a column at distances as in `alone`, with `blind` also without coins.

        Nobody does worse than with the column alone.
        """
        x, half = self.sample.table.values[name], self.sample.half
        by_law = alone(x, self.schemes[name], distances)
        if self.released is None:
            return by_law
        u = line_of(x, self.schemes[name])(x) if distances is None else x
        d, here, kept = np.array([row.d for row in by_law]), ~np.isnan(u), ~self.swapped
        look = Look(self.sample, self.released, [*self.schemes].index(name), self.twin, kept)
        clear = seen(CLEAR, look)
        others = np.hstack((clear, seen(OTHERS, look)))
        itself = np.hstack((others, seen(ITSELF, look)))
        of_clear = both_halves(clear, u, here, here, half, d)
        worst = both_halves(others, u, here, here & self.swapped, half, d)
        worst += both_halves(itself, u, here & kept, here & kept, half, d)
        unaware = np.full((d.size, u.size), np.nan)
        if blind:
            look = look._replace(own=np.ones(kept.size, dtype=bool))
            table = np.hstack((clear, seen((*OTHERS, *ITSELF), look)))
            unaware = both_halves(table, u, here, here, half, d)
        found = []
        for k, row in enumerate(by_law):
            constant = float(np.mean(np.abs(u[here] - best_guess(u[here], row.d)) < row.d))
            known = max(constant, float(of_clear[k, here].mean()))
            expected = max(row.expected, float(unaware[k, here].mean())) if blind else np.nan
            most = np.nanmax([known, row.worst, worst[k, here].mean(), expected])
            error = _error_by_block((worst - of_clear)[k, here], self.sample.block[here])
            found.append(Figures(row.d, constant, known, expected, float(most), error))
        return found


def seen(ideas: Sequence[Callable[[Look], np.ndarray]], look: Look) -> np.ndarray:
    """Columns of numbers by some ideas."""
    return np.hstack([idea(look) for idea in ideas])


def _varying(table: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """The columns that are not the same for all of some records."""
    known = [column[~np.isnan(column)] for column in table[fit].T]
    return table[:, np.array([values.size > 1 and np.ptp(values) > 0.0 for values in known], dtype=bool)]


def both_halves(
    table: np.ndarray, u: np.ndarray, taught: np.ndarray, tried: np.ndarray, half: np.ndarray, d: np.ndarray
) -> np.ndarray:
    """Which of the tried records are guessed to within each d, as the other half teaches; 0 for others."""
    found = np.zeros((d.size, u.size))
    for side in (0, 1):
        fit, asked = np.flatnonzero(taught & (half != side)), np.flatnonzero(tried & (half == side))
        if fit.size and asked.size:
            found[:, asked] = hits(table, u, fit, asked, d)
    return found


def hits(table: np.ndarray, u: np.ndarray, fit: np.ndarray, asked: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Which of some records are guessed to within each d, as others teach; a third of these say how they
    err."""
    check = fit[::3]
    predicted = np.zeros(u.size)
    if table.shape[1] and fit.size - check.size >= 2 * FEWEST:
        tries = predictions(table, u, np.setdiff1d(fit, check))
        predicted = max(tries, key=lambda some: _in_window(u[check] - some[check], float(d[0])))
    groups = max(1, min(GROUPS, check.size // LIKE))
    edges = np.unique(np.quantile(predicted[check], np.arange(1, groups) / groups))
    group, found = np.digitize(predicted, edges), np.zeros((d.size, asked.size))
    for k in np.unique(group[asked]):
        like = check[group[check] == k]
        like = like if like.size >= FEWEST else check
        own = group[asked] == k
        for row, near in zip(found, d.tolist(), strict=True):
            row[own] = _hit(u, predicted, like, asked[own], near)
    return found


def _in_window(errors: np.ndarray, d: float) -> float:
    return float(np.mean(np.abs(errors - best_guess(errors, d)) < d))


def _hit(u: np.ndarray, predicted: np.ndarray, like: np.ndarray, asked: np.ndarray, d: float) -> np.ndarray:
    """Which of some records are guessed to within d: by what is predicted, or by the same guess for all."""
    shift, fixed = best_guess(u[like] - predicted[like], d), best_guess(u[like], d)
    moved = np.mean(np.abs(u[like] - predicted[like] - shift) < d)
    same = np.mean(np.abs(u[like] - fixed) < d)
    guess = predicted[asked] + shift if moved >= same else fixed
    return np.asarray(np.abs(u[asked] - guess) < d)


def best_guess(u: np.ndarray, d: float) -> float:
    """The middle of the window of width 2 d that holds most of some numbers."""
    ordered = np.sort(u)
    last = np.searchsorted(ordered, ordered + 2.0 * d, side="left")
    first = int((last - np.arange(ordered.size)).argmax())
    return float(0.5 * (ordered[first] + ordered[last[first] - 1]))


def predictions(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> list[np.ndarray]:
    """What is predicted for all records, as some teach: by least squares, and with gradient boosting of what
    is left; one thread is the quickest."""
    with optional("an audit of several columns", "files"):
        from sklearn.ensemble import HistGradientBoostingRegressor  # takes a second to import
        from threadpoolctl import threadpool_limits
    table = _varying(table, fit)
    if not table.shape[1]:
        return [np.full(u.size, u[fit].mean())]
    first = _by_least_squares(table, u, fit)
    table = np.column_stack((table, first))
    with threadpool_limits(1, "openmp"):
        model = HistGradientBoostingRegressor(**OPTIONS).fit(table[fit], (u - first)[fit])
        return [first, first + model.predict(table)]


def _by_least_squares(table: np.ndarray, u: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """What least squares predict, with means in place of gaps; far values weigh no more than others."""
    low, high = np.nanquantile(table[fit], (0.01, 0.99), axis=0)
    clipped = np.clip(table, low, high)
    clipped = np.where(np.isnan(clipped), np.nan_to_num(np.nanmean(clipped[fit], axis=0)), clipped)
    spread = clipped[fit].std(axis=0)
    design = (clipped - clipped[fit].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    level = u[fit].mean()
    normal = design[fit].T @ design[fit] + RIDGE * np.eye(design.shape[1])
    return np.asarray(level + design @ np.linalg.solve(normal, design[fit].T @ (u[fit] - level)))


def _error_by_block(gain: np.ndarray, block: np.ndarray) -> float:
    """The standard error of a mean over records whose blocks are independent."""
    of_block = np.bincount(block, gain - gain.mean())
    return float(np.sqrt(of_block @ of_block) / gain.size)
