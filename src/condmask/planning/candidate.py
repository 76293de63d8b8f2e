"""One scheme on one file: what attackers learn under it, and what analysts lose."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.attack import Effort
from condmask.planning import moments, quantiles
from condmask.risks import plain, posterior
from condmask.risks.original import Original, evenly_spaced

DECILES = np.arange(1, 10) / 10
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
    masked_value : ndarray of shape (distances,)
        Of who takes the masked value for the original.
    file, population : dict of str to float
        Standard errors of the estimates of "mean", "std", "quantile 0.1" ..., "correlation", about the values
        in the original file and in the population that it is a sample of.
    loss : float
        How many times as long intervals for the population are as without masking, on the average over
        mean, standard deviation, correlation, and the distribution function at the deciles.
    """

    scheme: Any
    risk: np.ndarray
    masked_value: np.ndarray
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
    known: dict[float, moments.Moments]

    def original(self, scheme: Any) -> Original:
        """As the scheme masks it, ascending: of evenly spaced records then all parts are alike."""
        law = scheme.law
        return Original(scheme.canonical(self.ascending, "x", self.kind), self.kind, law)

    def fits(self, scheme: Any) -> bool:
        """Whether the scheme masks the data as they are; a step that was named does not round them."""
        try:
            self.original(scheme)
        except ValueError:
            return False
        return True

    def moments(self, file: Original) -> moments.Moments:
        """Of the file as it is masked; grids too fine to leave a trace in them share those of the first."""
        step = file.law.step
        key = 0.0 if step <= FINE * float(file.values.std()) else step
        if key not in self.known:
            self.known[key] = moments.moments(file.values, self.beside)
        return self.known[key]


def column_of(x: np.ndarray, kind: str, other: np.ndarray | None) -> Column:
    """Of values that are there."""
    order = np.argsort(x, kind="stable")
    return Column(x, kind, other, x[order], None if other is None else other[order], {})


def candidate(column: Column, scheme: Any, d: np.ndarray) -> Candidate:
    """Of one scheme."""
    file = column.original(scheme)
    steady = plain.by_constant(file, d)
    lone = plain.by_released(file, d)
    best = np.fmax.reduce([posterior.by_posterior(file, d, steady, EFFORT), steady[0], lone])
    found, longer = predicted(file, column, scheme)
    n = file.n
    about = {
        target: {name: float(np.sqrt(getattr(each, target) / n)) for name, each in found.items()}
        for target in ("file", "population", "unmasked")
    }
    ratios = [
        *longer,
        *(
            about["population"][name] / about["unmasked"][name]
            for name in ("mean", "std", "correlation")
            if name in found and about["unmasked"][name] > 0.0
        ),
    ]
    known = [each for each in ratios if np.isfinite(each)]
    loss = float(np.mean(known)) if known else float("nan")
    return Candidate(scheme, best, lone, about["file"], about["population"], loss)


def predicted(file: Original, column: Column, scheme: Any) -> tuple[dict[str, moments.Variances], np.ndarray]:
    """n times the variances of all statistics; and how much longer intervals of T are at the deciles."""
    shared, law = scheme.shared_donors, file.law
    found = moments.errors(column.moments(file), law, file.n, shared_donors=shared)
    rows = evenly_spaced(file.n, ROWS)
    some = file if rows.size == file.n else file.some(rows)
    ordered = quantiles.Ordered(some.values, some.units)
    each, longer = quantiles.errors(ordered, law, DECILES, file.n, shared_donors=shared)
    names = [f"quantile {q:g}" for q in DECILES]
    return found | dict(zip(names, each, strict=True)), longer


def statistics(*, other: bool) -> Sequence[str]:
    """The names of what is predicted."""
    names = ["mean", "std", *(["correlation"] if other else [])]
    return [*names, *(f"quantile {q:g}" for q in DECILES)]
