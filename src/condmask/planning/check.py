"""Predicted errors against simulated ones, on the file planned for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condmask.errors import heard
from condmask.planning.candidates import DECILES, Column, predicted
from condmask.planning.predicted_relations import differences, split
from condmask.strata import rows_of
from condmask.variance.interval import EstimateWarning

RECORDS = 1 << 20  # masked at a time


@dataclass(frozen=True)
class Checked:
    """Predicted and simulated standard errors.

    Attributes
    ----------
    scheme : ConditionalMasking
    target : {"population", "file"}
    replications : int
    predicted, simulated : dict of str to float
        By statistic, in the units of the data.
    """

    scheme: Any
    target: str
    replications: int
    predicted: dict[str, float]
    simulated: dict[str, float]

    @property
    def ratio(self) -> dict[str, float]:
        """Predicted over simulated; 1 where neither is an error, infinite where only one is predicted."""
        ratios = {}
        for name, expected in self.predicted.items():
            error = self.simulated[name]
            ratios[name] = expected / error if error > 0.0 else float("inf") if expected > 0.0 else 1.0
        return ratios

    def to_dict(self) -> dict[str, Any]:
        """In terms of JSON."""
        return {
            "scheme": self.scheme.to_dict(), "target": self.target, "replications": self.replications,
            "predicted": self.predicted, "simulated": self.simulated,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{'standard errors about the ' + self.target:34}{'predicted':>12}{'simulated':>12}{'ratio':>8}"
        ]
        lines += [
            f"{name:34}{self.predicted[name]:>12.4g}{self.simulated[name]:>12.4g}{self.ratio[name]:>8.3f}"
            for name in self.predicted
        ]
        error = 1.0 / np.sqrt(2.0 * self.replications)
        return "\n".join([*lines, f"{self.replications} releases: ratios are known to {error:.1%}"])


def _related(values: np.ndarray, std: Any, w: np.ndarray, at: float) -> np.ndarray:
    """Correlation, slope and difference of halves, of each replicate, from its pseudo-values and s.d.

    The halves are those of the file, below and above `at`, whatever records were drawn.
    """
    u = w - w.mean(axis=1, keepdims=True)
    slope = np.einsum("ij,ij->i", u, values) / np.einsum("ij,ij->i", u, u)
    correlation = slope * w.std(axis=1, ddof=1) / std
    return np.column_stack([correlation, slope, differences(values, w, at)])


def _released(column: Column, scheme: Any, drawn: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """The estimates from releases of the records drawn, one row for each release."""
    estimate = scheme.estimate(scheme.mask_rows(column.x[drawn], stream, ()))
    parts = [estimate.mean()[:, None], estimate.std()[:, None]]
    if column.other is not None:
        w, at = column.other[drawn], split(column.other)
        parts.append(_related(estimate.pseudo_values(), estimate.std(), w, at))
    return np.column_stack([*parts, estimate.quantile(DECILES)])


def _released_within(
    column: Column, scheme: Any, drawn: np.ndarray, stream: np.random.Generator
) -> np.ndarray:
    """The estimates from one release, whose donors are drawn within the strata."""
    (rows,) = drawn
    x, code = column.ascending[rows], np.asarray(column.code)[rows]
    z = np.empty(x.size)
    for stratum in rows_of(code).values():
        z[stratum] = scheme.mask_rows(x[None, stratum], stream, ())[0]
    estimate = replace(scheme, strata="pools", small_strata="merge").estimate(z, strata=code)
    parts = [estimate.mean(), estimate.std()]
    if column.beside is not None:
        w, at = column.beside[None, rows], split(column.beside)
        parts.extend(_related(estimate.pseudo_values()[None], estimate.std(), w, at)[0])
    return np.array([[*parts, *estimate.quantile(DECILES)]])


def checked(column: Column, scheme: Any, replications: int, target: str, rng: Any) -> Checked:
    """Simulate releases of the fixed file, or of samples from it."""
    n, stream = column.x.size, np.random.default_rng(rng)
    rows = max(1, RECORDS // n) if column.code is None else 1
    released = _released if column.code is None else _released_within
    estimates = []
    with heard(EstimateWarning):  # a negative variance is left out below
        for start in range(0, replications, rows):
            count = min(rows, replications - start)
            if target == "file":
                drawn = np.tile(np.arange(n), (count, 1))
            else:
                drawn = stream.integers(0, n, (count, n))
            estimates.append(released(column, scheme, drawn, stream))
    values = np.concatenate(estimates)
    errors = np.nanstd(values - values[0], axis=0, ddof=1)  # 0 of what is always the same
    variances, _ = predicted(column.file(scheme), column, scheme)
    expected_errors = {
        name: float(np.sqrt(getattr(variance, target) / n)) for name, variance in variances.items()
    }
    simulated = dict(zip(expected_errors, errors.tolist(), strict=True))
    return Checked(scheme, target, replications, expected_errors, simulated)
