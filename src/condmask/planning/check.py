"""Predicted errors against simulated ones, on the file that is planned for."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask.inference.intervals import EstimateWarning
from condmask.planning.candidate import DECILES, Column, predicted
from condmask.planning.predicted_relations import differences

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
        By statistic, in its units.
    """

    scheme: Any
    target: str
    replications: int
    predicted: dict[str, float]
    simulated: dict[str, float]

    @property
    def ratio(self) -> dict[str, float]:
        """Predicted over simulated; 1 where neither is an error, infinite where only one is predicted."""
        found = {}
        for name, told in self.predicted.items():
            error = self.simulated[name]
            found[name] = told / error if error > 0.0 else float("inf") if told > 0.0 else 1.0
        return found

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
        known = 1.0 / np.sqrt(2.0 * self.replications)
        return "\n".join([*lines, f"{self.replications} releases: ratios are known to {known:.1%}"])


def _related(estimate: Any, w: np.ndarray) -> np.ndarray:
    """Correlation, slope and difference of halves, of each replicate."""
    values = estimate.pseudo_values()
    u = w - w.mean(axis=1, keepdims=True)
    slope = np.einsum("ij,ij->i", u, values) / np.einsum("ij,ij->i", u, u)
    correlation = slope * w.std(axis=1, ddof=1) / estimate.std()
    return np.column_stack([correlation, slope, differences(values, w)])


def checked(column: Column, scheme: Any, replications: int, target: str, rng: Any) -> Checked:
    """Simulate releases, of the file kept as it is or of samples from it."""
    n, stream = column.x.size, np.random.default_rng(rng)
    rows = max(1, RECORDS // n)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)  # a negative variance is left out below
        for start in range(0, replications, rows):
            count = min(rows, replications - start)
            if target == "file":
                drawn = np.tile(np.arange(n), (count, 1))
            else:
                drawn = stream.integers(0, n, (count, n))
            estimate = scheme.estimate(scheme.mask_rows(column.x[drawn], stream, ()))
            parts = [estimate.mean()[:, None], estimate.std()[:, None]]
            if column.other is not None:
                parts.append(_related(estimate, column.other[drawn]))
            found.append(np.column_stack([*parts, estimate.quantile(DECILES)]))
    values = np.concatenate(found)
    errors = np.nanstd(values - values[0], axis=0, ddof=1)  # 0 of what is always the same
    expected, _ = predicted(column.original(scheme), column, scheme)
    told = {name: float(np.sqrt(getattr(each, target) / n)) for name, each in expected.items()}
    return Checked(scheme, target, replications, told, dict(zip(told, errors.tolist(), strict=True)))
