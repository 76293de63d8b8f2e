"""One scheme on one file: what attackers learn under it, and what analysts lose."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure import baselines, reverse_mapped_original, reverse_mapped_risk, value_attack
from condmask.disclosure.folds import evenly_spaced
from condmask.disclosure.original import Original
from condmask.disclosure.rare_values import RareChances
from condmask.disclosure.reverse_mapped_original import ReverseMapped
from condmask.disclosure.swap_attack import Effort
from condmask.planning import predicted_moments, predicted_quantiles, predicted_relations
from condmask.planning.predicted_moments import Variances

DECILES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILES)
TRIED = 256  # values released by reverse mapping on which the best attacker is tried
EFFORT = Effort(1 << 13, 2, 1, 1 << 13, 256, 0, False)  # half of these records are attacked
ROWS = 1 << 17  # of which errors of quantiles are predicted, evenly spaced ones where there are more
FINE = 0.01  # standard deviations: a step by which moments change by less than 1e-4


class Candidate(NamedTuple):
    """A scheme, and what is to be expected of it.

    Attributes
    ----------
    scheme : ConditionalMasking
    risk : ndarray of shape (distances,)
        Of the best attacker.
    worst : ndarray of shape (distances,)
        The greatest chance of a record that the value released for it lies nearer than d to its original.
    file, population : dict of str to float
        Standard errors of the estimates of "mean", "std", "quantile 0.1" ..., and with a column in clear
        "correlation", "slope", "difference" (of the means of two groups, above its median and not), about the
        values in the original file and in the population that it is a sample of.
    loss : float
        How many times as long intervals for the population are as without masking: the mean of two averages,
        over what concerns the column alone (mean, standard deviation, distribution function at the deciles),
        and over what relates it to the column in clear, or to an unrelated one where none is given.
    """

    scheme: Any
    risk: np.ndarray
    worst: np.ndarray
    file: dict[str, float]
    population: dict[str, float]
    loss: float


class Column(NamedTuple):
    """What is planned for: values that are there, and those of a column in clear; also in ascending order."""

    x: np.ndarray
    kind: str
    other: np.ndarray | None
    ascending: np.ndarray
    beside: np.ndarray | None
    cache: dict[Any, Any]  # what does not depend on the scheme

    def original(self, scheme: Any) -> Original:
        """The file as the scheme masks it, ascending: of evenly spaced records then all parts are alike."""
        law = scheme.law
        if law is None:
            return reverse_mapped_original.pools(self.ascending, self.kind, scheme, None, [slice(None)])[0]
        return Original(scheme.canonical(self.ascending, "x", self.kind), self.kind, law)

    def fits(self, scheme: Any) -> bool:
        """Whether the scheme masks the data as they are; a step that was named does not round them."""
        try:
            self.original(scheme)
        except ValueError:
            return False
        return True

    def moments(self, file: Original) -> predicted_moments.Moments:
        """Moments of the file as masked; grids too fine to leave a trace in them share those of the first."""
        step = 0.0 if isinstance(file, ReverseMapped) else file.law.step
        key = 0.0 if step <= FINE * float(file.values.std()) else step
        moments: predicted_moments.Moments = self.once(
            key, lambda: predicted_moments.moments(file.values, self.beside)
        )
        return moments

    def pair(self) -> predicted_relations.Pair | None:
        """What relates the column to that in clear; None where there is none."""
        beside = self.beside
        return (
            None
            if beside is None
            else self.once("pair", lambda: predicted_relations.pair(self.ascending, beside))
        )

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made at the first call."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]


def column_of(x: np.ndarray, kind: str, other: np.ndarray | None) -> Column:
    """A column from values without gaps."""
    order = np.argsort(x, kind="stable")
    return Column(x, kind, other, x[order], None if other is None else other[order], {})


def candidate(column: Column, scheme: Any, d: np.ndarray) -> Candidate:
    """A scheme with the risks and the errors under it."""
    file = column.original(scheme)
    steady = baselines.by_constant(file, d)
    if isinstance(file, ReverseMapped):
        lone, worst, best = _attacked(file, d, steady)
    else:
        chances = baselines.released_near(file, d)
        lone, worst = np.diff(file.counted[1]) @ chances / file.n, chances.max(axis=0)
        best = value_attack.by_posterior(file, d, steady, EFFORT)
    best = np.fmax.reduce([best, steady[0], lone])
    variances, longer = predicted(file, column, scheme)
    file_, population = (
        {name: float(np.sqrt(getattr(variance, target) / file.n)) for name, variance in variances.items()}
        for target in ("file", "population")
    )
    return Candidate(scheme, best, worst, file_, population, _loss(longer))


def _attacked(
    file: ReverseMapped, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Who takes the released value for the original, the worst record, and the best attacker.

    The law of the map is that of many records, and so evenly spaced ones have it, too; rare values have not.
    """
    some = file if file.n <= EFFORT.rows else file.some(evenly_spaced(file.n, EFFORT.rows))
    rare, none = file.rare(d), np.empty((0, d.size))
    nobody = RareChances(np.empty(0, dtype=np.int64), none, none)
    chances = reverse_mapped_risk.released_near(some, d, nobody)
    places, below = file.counted
    at, near = places[rare.at][:, None], file.near(d)
    first = np.searchsorted(places, at - near, side="right")
    last = np.maximum(np.searchsorted(places, at + near), first)
    shares = (below[last] - below[first]) / file.n
    worst = np.concatenate([chances, rare.rows + file.law.p * shares]).max(axis=0)
    lone = np.diff(some.counted[1]) @ chances / some.n
    return lone, worst, reverse_mapped_risk.by_posterior(some, d, steady, nobody, TRIED)


def predicted(
    file: Original, column: Column, scheme: Any
) -> tuple[dict[str, Variances], tuple[np.ndarray, np.ndarray]]:
    """n times the variances of all statistics; and how much longer intervals are of what concerns the column
    alone, T at the deciles, and of what relates it to others."""
    law, n = file.law, file.n
    if isinstance(file, ReverseMapped):
        alone = _exact(file, column)
        longer = np.ones(DECILES.size)
        v = predicted_relations.rearranged(file.values, scheme)
    else:
        alone = predicted_moments.errors(column.moments(file), law, n, shared_donors=scheme.shared_donors)
        rows = evenly_spaced(n, ROWS)
        some = file if rows.size == n else file.some(rows)
        ordered = predicted_quantiles.Ordered(some.values, some.units)
        each, longer = predicted_quantiles.errors(
            ordered, law, DECILES, n, shared_donors=scheme.shared_donors
        )
        alone |= dict(zip(QUANTILES, each, strict=True))
        v = predicted_relations.added(file.values, law)
    pair = column.pair()
    if pair is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = {}
            related = np.sqrt(1.0 + np.array([v.mean()]) / file.values.var())
    else:
        beside = predicted_relations.errors(pair, v)
        beside["correlation"] = alone.pop("correlation", beside["correlation"])
        related = _ratios(beside.values())
    own = np.append(longer, _ratios([alone["mean"], alone["std"]]))
    quantiles_ = {name: alone[name] for name in QUANTILES}
    return {"mean": alone["mean"], "std": alone["std"], **beside, **quantiles_}, (own, related)


def _exact(file: ReverseMapped, column: Column) -> dict[str, Variances]:
    """n times the variances of what concerns the column alone: exact in another order, but for mean ends."""
    moments = column.moments(file).means
    unit = float(file.values.var())
    rows = evenly_spaced(file.n, ROWS)
    ordered = predicted_quantiles.Ordered(file.values[rows], file.values[rows])
    each = column.once("quantiles", lambda: predicted_quantiles.unmasked(ordered, DECILES, file.n))
    unmasked = {"mean": unit, "std": unit * 0.25 * (moments[4, 0] - 1.0)} | dict(
        zip(QUANTILES, each, strict=True)
    )
    moved = file.n * (float(file.released.std()) - float(file.values.std())) ** 2
    moved_by = {"std": moved if file.scheme.aggregate_ends else 0.0}
    return {
        name: Variances(moved_by.get(name, 0.0), moved_by.get(name, 0.0) + float(value), float(value))
        for name, value in unmasked.items()
    }


def _ratios(found: Iterable[Variances]) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt([np.float64(each.population) / each.unmasked for each in found])


def _loss(longer: tuple[np.ndarray, np.ndarray]) -> float:
    """The mean over both parts of what is known of each; infinite where relations cannot be estimated."""
    parts = [each[~np.isnan(each)] for each in longer]
    return float(np.mean([each.mean() for each in parts if each.size])) if any(map(len, parts)) else np.nan


def statistics(*, other: bool) -> Sequence[str]:
    """The names of what is predicted."""
    return ["mean", "std", *(predicted_relations.NAMES if other else ()), *QUANTILES]
