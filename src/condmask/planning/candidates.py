"""One scheme on one file: what attackers learn under it, and what analysts lose."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure import baselines
from condmask.disclosure.pools import Pool, pools
from condmask.disclosure.swap_attack import Effort
from condmask.planning import predicted_moments, predicted_quantiles, predicted_relations
from condmask.planning.predicted_moments import Variances

DECILES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILES)
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
    record_risk : ndarray of shape (distances,)
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
    record_risk: np.ndarray
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

    def original(self, scheme: Any) -> Pool:
        """The file as the scheme masks it, ascending: of evenly spaced records then all parts are alike."""
        units = self.ascending
        if not scheme.reverse_mapping:
            units = scheme.canonical(units, "x", self.kind)
        return pools(units, self.kind, scheme.law, scheme)[0][1]

    def fits(self, scheme: Any) -> bool:
        """Whether the scheme masks the data as they are; a step that was named does not round them."""
        try:
            self.original(scheme)
        except ValueError:
            return False
        return True

    def moments(self, file: Pool) -> predicted_moments.Moments:
        """Moments of the file as masked; grids too fine to leave a trace in them share those of the first."""
        key = 0.0 if file.law.step <= FINE * float(file.values.std()) else file.law.step
        moments: predicted_moments.Moments = self.once(
            key, lambda: predicted_moments.moments(file.values, self.beside)
        )
        return moments

    def pair(self) -> predicted_relations.Pair | None:
        """What relates the column to that in clear; None where there is none."""
        beside = self.beside
        if beside is None:
            return None
        pair: predicted_relations.Pair = self.once(
            "pair", lambda: predicted_relations.pair(self.ascending, beside)
        )
        return pair

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made at the first call."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]


def column_of(x: np.ndarray, kind: str, other: np.ndarray | None) -> Column:
    """A column from values without gaps."""
    order = np.argsort(x, kind="stable")
    return Column(x, kind, other, x[order], None if other is None else other[order], {})


def evaluate(column: Column, scheme: Any, d: np.ndarray) -> Candidate:
    """A scheme with the risks and the errors under it."""
    file = column.original(scheme)
    constant = baselines.by_constant(file, d)
    released, most_exposed, best = file.brief(d, constant, EFFORT)
    best = np.fmax.reduce([best, constant.share, released])
    variances, longer = predicted(file, column, scheme)
    file_, population = (
        {name: float(np.sqrt(getattr(variance, target) / file.n)) for name, variance in variances.items()}
        for target in ("file", "population")
    )
    return Candidate(scheme, best, most_exposed, file_, population, _loss(longer))


def predicted(
    file: Pool, column: Column, scheme: Any
) -> tuple[dict[str, Variances], tuple[np.ndarray, np.ndarray]]:
    """n times the variances of all statistics; and how much longer intervals are of what concerns the column
    alone, T at the deciles, and of what relates it to others."""
    alone, longer, v = (_rearranged if scheme.reverse_mapping else _noised)(file, column, scheme)
    pair = column.pair()
    if pair is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = {}
            related = np.sqrt(1.0 + np.array([v.mean()]) / file.values.var())
    else:
        beside = predicted_relations.errors(pair, v)
        beside["correlation"] = alone.get("correlation", beside["correlation"])
        related = _ratios(beside.values())
    of_column = np.append(longer, _ratios([alone["mean"], alone["std"]]))
    quantiles = {name: alone[name] for name in QUANTILES}
    return {"mean": alone["mean"], "std": alone["std"], **beside, **quantiles}, (of_column, related)


def _noised(file: Any, column: Column, scheme: Any) -> tuple[dict[str, Variances], np.ndarray, np.ndarray]:
    """n times the variances of what concerns the column alone, how much longer intervals of T are, and the
    variance of each pseudo-value, where noise is added."""
    law, n, shared = file.law, file.n, scheme.shared_donors
    alone = predicted_moments.errors(column.moments(file), law, n, shared_donors=shared)
    rows = evenly_spaced(n, ROWS)
    ordered = predicted_quantiles.Ordered(file.values[rows], file.units[rows])
    quantiles, longer = predicted_quantiles.errors(ordered, law, DECILES, n, shared_donors=shared)
    alone |= dict(zip(QUANTILES, quantiles, strict=True))
    return alone, longer, predicted_relations.added(file.values, law)


def _rearranged(
    file: Any, column: Column, scheme: Any
) -> tuple[dict[str, Variances], np.ndarray, np.ndarray]:
    """The figures of `_noised` by reverse mapping: the column alone is exact in another order, but for means
    at its ends."""
    rows = evenly_spaced(file.n, ROWS)
    ordered = predicted_quantiles.Ordered(file.values[rows], file.values[rows])
    quantiles = column.once("quantiles", lambda: predicted_quantiles.unmasked(ordered, DECILES, file.n))
    unmasked = predicted_moments.unmasked(column.moments(file))
    unmasked = {name: unmasked[name] for name in ("mean", "std")} | dict(
        zip(QUANTILES, quantiles, strict=True)
    )
    alone = {name: Variances(0.0, float(value), float(value)) for name, value in unmasked.items()}
    if scheme.aggregate_ends:
        moved, std = file.n * (float(file.released.std()) - float(file.values.std())) ** 2, alone["std"]
        alone["std"] = std._replace(file=moved, population=moved + std.unmasked)
    return alone, np.ones(DECILES.size), predicted_relations.rearranged(file.values, scheme)


def _ratios(variances: Iterable[Variances]) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt([np.float64(of.population) / of.unmasked for of in variances])


def _loss(longer: tuple[np.ndarray, np.ndarray]) -> float:
    """The mean over both parts of what is known of each; infinite where relations cannot be estimated."""
    parts = [part[~np.isnan(part)] for part in longer]
    return float(np.mean([part.mean() for part in parts if part.size])) if any(map(len, parts)) else np.nan


def statistics(*, other: bool) -> Sequence[str]:
    """The names of what is predicted."""
    return ["mean", "std", *(predicted_relations.NAMES if other else ()), *QUANTILES]
