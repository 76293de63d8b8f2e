"""One scheme for one file: what attackers learn under it, and what analysts lose."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure import baselines
from condmask.disclosure.pools import Pool, pools
from condmask.disclosure.reverse_mapped import ReverseMapped
from condmask.disclosure.swap_attack import Effort
from condmask.law import Law
from condmask.planning import predicted_moments, predicted_quantiles, predicted_relations
from condmask.planning.gate import Gate
from condmask.planning.predicted_moments import Variances

DECILES = np.arange(1, 10) / 10
QUANTILES = tuple(f"quantile {q:g}" for q in DECILES)
EFFORT = Effort(1 << 13, 2, 1, 1 << 13, 256, 0, False)  # half of these records are attacked
ROWS = 1 << 17  # from which errors of quantiles are predicted, evenly spaced if there are more
FINE = 0.01  # standard deviations: a step by which moments change by less than 1e-4


class Candidate(NamedTuple):
    """A scheme with its predicted risks and errors.

    Attributes
    ----------
    scheme : ConditionalMasking
    risk : ndarray of shape (distances,)
        The risk by the best attacker.
    record_risk : ndarray of shape (distances,)
        The greatest chance for any record that its released value lies nearer than d to its original.
    file, population : dict of str to float
        Standard errors of the estimates of "mean", "std", "quantile 0.1" ..., and with a column in clear
        "correlation", "slope", "difference" (between the means of the records above its median and of the
        rest), about the values in the original file and in the population from which it is a sample.
    loss : float
        How many times as long intervals for the population are as without masking. It is the mean of two
        averages: over statistics of the column alone (mean, standard deviation, distribution function at the
        deciles), and over those relating it to the column in clear, or to an unrelated one if none is given.
    """

    scheme: Any
    risk: np.ndarray
    record_risk: np.ndarray
    file: dict[str, float]
    population: dict[str, float]
    loss: float


class File(NamedTuple):
    """A column as a scheme masks it, ascending, so that evenly spaced records represent it.

    Attributes
    ----------
    values, released : ndarray of shape (n,)
        Originals, and the values that reverse mapping releases, with means at the ends; in the units of the
        data.
    pools : list of (rows, Pool)
        The donor pools.
    """

    values: np.ndarray
    released: np.ndarray
    pools: list[tuple[Any, Pool]]

    @property
    def shares(self) -> np.ndarray:
        """The share of the records in each donor pool."""
        return np.array([pool.n for _, pool in self.pools]) / self.values.size

    @property
    def law(self) -> Law:
        """The law of the noise."""
        return self.pools[0][1].law


class Column(NamedTuple):
    """The data planned for: values that are present, and those of a column in clear; also in ascending order.

    `gate` has what is masked: the column with its gaps and codes, and its strata.
    """

    x: np.ndarray
    kind: str
    other: np.ndarray | None
    ascending: np.ndarray
    beside: np.ndarray | None
    code: np.ndarray | None  # the donor pools of ascending values; None where all are one
    gate: Gate
    cache: dict[Any, Any]  # what does not depend on the scheme
    name: str = ""  # where it is known

    def file(self, scheme: Any) -> File:
        """The column as the scheme masks it."""
        units = self.ascending
        if not scheme.reverse_mapping:
            units = scheme.canonical(units, "x", self.kind)
        parts = pools(units, self.kind, scheme.law, scheme, self.code)
        if self.code is None:
            pool = parts[0][1]
            return File(pool.values, pool.released if isinstance(pool, ReverseMapped) else pool.values, parts)
        values = np.empty(units.size)
        released = np.empty(units.size) if scheme.reverse_mapping else values
        for rows, pool in parts:
            values[rows] = pool.values
            if isinstance(pool, ReverseMapped):
                released[rows] = pool.released
        return File(values, released, parts)

    def moments(self, file: File) -> predicted_moments.Moments:
        """Moments of the file as masked; grids too fine to matter share those of the first one."""
        key = 0.0 if file.law.step <= FINE * float(file.values.std()) else file.law.step
        rows = [rows for rows, _ in file.pools]
        moments: predicted_moments.Moments = self.once(
            key, lambda: predicted_moments.moments(file.values, self.beside, rows)
        )
        return moments

    def refusal(self, scheme: Any) -> str | None:
        """Why masking refuses the column under a scheme; None if it accepts."""
        refusal: str | None = self.once(scheme, lambda: self.gate.refusal(scheme))
        return refusal

    def pair(self) -> predicted_relations.Pair | None:
        """What relates the column to the one in clear; None if there is none."""
        beside = self.beside
        if beside is None:
            return None
        pair: predicted_relations.Pair = self.once(
            "pair", lambda: predicted_relations.pair(self.ascending, beside)
        )
        return pair

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of `make`, called only the first time for a key."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]


def column_of(
    x: np.ndarray,
    kind: str,
    other: np.ndarray | None,
    code: np.ndarray | None = None,
    gate: Gate | None = None,
    name: str = "",
) -> Column:
    """A column from values without gaps, and the donor pool of each value."""
    order = np.argsort(x, kind="stable")
    ascending = x[order]
    beside, code = (None if each is None else each[order] for each in (other, code))
    gate = Gate(x, kind, ()) if gate is None else gate
    return Column(x, kind, other, ascending, beside, code, gate, {}, name)


def by_constant(file: File, d: np.ndarray) -> np.ndarray:
    """The risk by guessing the best constant of each donor pool."""
    return np.asarray(
        file.shares @ np.array([baselines.by_constant(pool, d).share for _, pool in file.pools])
    )


def evaluate(column: Column, scheme: Any, d: np.ndarray) -> Candidate:
    """A scheme with its risks and errors."""
    file, n = column.file(scheme), column.x.size
    risks, most_exposed = [], np.zeros(d.size)
    for _, pool in file.pools:
        constant = baselines.by_constant(pool, d)
        released, exposed, best = pool.brief(d, constant, EFFORT)
        risks.append(np.fmax.reduce([best, constant.share, released]))
        most_exposed = np.maximum(most_exposed, exposed)
    variances, longer = predicted(file, column, scheme)
    file_, population = (
        {name: float(np.sqrt(getattr(variance, target) / n)) for name, variance in variances.items()}
        for target in ("file", "population")
    )
    return Candidate(scheme, file.shares @ np.array(risks), most_exposed, file_, population, _loss(longer))


def predicted(
    file: File, column: Column, scheme: Any
) -> tuple[dict[str, Variances], tuple[np.ndarray, np.ndarray]]:
    """n times the variances of all statistics; and how much longer intervals are, for statistics of the
    column alone (T at the deciles) and for those that relate it to others."""
    alone, longer = (_rearranged if scheme.reverse_mapping else _noised)(file, column, scheme)
    v, of_means = np.empty(file.values.size), []
    for rows, pool in file.pools:
        if scheme.reverse_mapping:
            v[rows] = predicted_relations.rearranged(pool.values, scheme)
            of_means.append(0.0)
        else:
            v[rows] = predicted_relations.added(pool.values, file.law)
            of_means.append(
                predicted_relations.of_mean(pool.values, file.law, shared_donors=scheme.shared_donors)
            )
    pair = column.pair()
    if pair is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = {}
            related = np.sqrt(1.0 + np.array([v.mean()]) / file.values.var())
    else:
        members = [(rows, of_mean) for (rows, _), of_mean in zip(file.pools, of_means, strict=True)]
        beside = predicted_relations.errors(pair, v, members)
        if column.code is None:
            beside["correlation"] = alone.get("correlation", beside["correlation"])
        related = _ratios(beside.values())
    of_column = np.append(longer, _ratios([alone["mean"], alone["std"]]))
    quantiles = {name: alone[name] for name in QUANTILES}
    return {"mean": alone["mean"], "std": alone["std"], **beside, **quantiles}, (of_column, related)


def _noised(file: File, column: Column, scheme: Any) -> tuple[dict[str, Variances], np.ndarray]:
    """n times the variances of statistics of the column alone, and how much longer intervals of T are, if
    noise is added."""
    law, n, shared = file.law, file.values.size, scheme.shared_donors
    alone = predicted_moments.errors(column.moments(file), law, n, shared_donors=shared)
    most = ROWS // len(file.pools)
    parts = [
        predicted_quantiles.Ordered(pool.values[some], pool.units[some])
        for _, pool in file.pools
        for some in [evenly_spaced(pool.n, most)]
    ]
    whole = parts[0] if len(parts) == 1 else _ordered(file.values)
    quantiles, longer = predicted_quantiles.errors(
        whole, list(zip(file.shares, parts, strict=True)), law, DECILES, n, shared_donors=shared
    )
    return alone | dict(zip(QUANTILES, quantiles, strict=True)), longer


def _rearranged(file: File, column: Column, scheme: Any) -> tuple[dict[str, Variances], np.ndarray]:
    """The figures of `_noised` for reverse mapping: the column alone is exact, in another order, except for
    means at its ends."""
    n = file.values.size
    quantiles = column.once(
        "quantiles", lambda: predicted_quantiles.unmasked(_ordered(file.values), DECILES, n)
    )
    unmasked = predicted_moments.unmasked(column.moments(file))
    unmasked = {name: unmasked[name] for name in ("mean", "std")} | dict(
        zip(QUANTILES, quantiles, strict=True)
    )
    alone = {name: Variances(0.0, float(value), float(value)) for name, value in unmasked.items()}
    if scheme.aggregate_ends:
        moved, std = n * (float(file.released.std()) - float(file.values.std())) ** 2, alone["std"]
        alone["std"] = std._replace(file=moved, population=moved + std.unmasked)
    return alone, np.ones(DECILES.size)


def _ordered(values: np.ndarray) -> predicted_quantiles.Ordered:
    """Some of ascending values, where units do not matter."""
    some = values[evenly_spaced(values.size, ROWS)]
    return predicted_quantiles.Ordered(some, some)


def _ratios(variances: Iterable[Variances]) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt([np.float64(of.population) / of.unmasked for of in variances])


def _loss(longer: tuple[np.ndarray, np.ndarray]) -> float:
    """The mean over both parts, as far as known; infinite if relations cannot be estimated."""
    parts = [part[~np.isnan(part)] for part in longer]
    return float(np.mean([part.mean() for part in parts if part.size])) if any(map(len, parts)) else np.nan


def statistics(*, other: bool) -> Sequence[str]:
    """The names of the statistics predicted."""
    return ["mean", "std", *(predicted_relations.NAMES if other else ()), *QUANTILES]
