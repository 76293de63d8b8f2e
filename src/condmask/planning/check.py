"""Predicted errors against simulated ones, on the file planned for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from condmask._digits import line
from condmask.errors import heard
from condmask.planning.candidates import Column, evaluate
from condmask.planning.predicted import DECILES, differences, split
from condmask.strata import values_by_pool
from condmask.variance.interval import EstimateWarning


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
        return {
            name: error / found if (found := self.simulated[name]) > 0.0 else np.inf if error > 0.0 else 1.0
            for name, error in self.predicted.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """In terms of JSON."""
        return {
            "scheme": self.scheme.to_dict(), "target": self.target, "replications": self.replications,
            "predicted": self.predicted, "simulated": self.simulated,
        }  # fmt: skip

    def __str__(self) -> str:
        title = f"standard errors about the {self.target}"
        lines = [line(title, ("predicted", "simulated", "ratio"), head=34)]
        for name, ratio in self.ratio.items():
            cells = f"{self.predicted[name]:.4g}", f"{self.simulated[name]:.4g}", f"{ratio:.3f}"
            lines.append(line(name, cells, head=34))
        error = 1.0 / np.sqrt(2.0 * self.replications)
        return "\n".join([*lines, f"{self.replications} releases: ratios are known to {error:.1%}"])


def checked(column: Column, scheme: Any, replications: int, target: str, rng: Any) -> Checked:
    """Simulate releases of the fixed file, or of samples from it."""
    n, stream = column.x.size, np.random.default_rng(rng)
    plain = replace(scheme, missing=(), strata=None if column.code is None else "pool")
    found = []
    with heard(EstimateWarning):  # a negative variance is left out below
        for _ in range(replications):
            rows = np.arange(n) if target == "file" else np.sort(stream.integers(0, n, n))
            found.append(_released(column, plain, rows, stream))
    predicted = getattr(evaluate(column, scheme, np.array([1.0])), target)
    errors = np.nanstd(np.array(found) - found[0], axis=0, ddof=1)  # 0 of what is always the same
    return Checked(
        scheme, target, replications, predicted, dict(zip(predicted, errors.tolist(), strict=True))
    )


def _released(column: Column, scheme: Any, rows: np.ndarray, stream: np.random.Generator) -> list[float]:
    """The estimates from one release of some records, in the order of what is predicted."""
    x, code = column.x[rows], None if column.code is None else column.code[rows]
    z = np.empty(x.size)
    for pool, values in values_by_pool(x, code):
        z[pool] = scheme.mask_rows(values[None], stream, ())[0]
    estimate = replace(scheme, small_strata="merge").estimate(z, strata=code)
    found = [estimate.mean(), estimate.std()]
    if column.beside is not None:
        w = column.beside[rows]
        values, u = estimate.pseudo_values(), w - w.mean()
        slope = u @ values / (u @ u)
        halves = differences(values[None], w[None], split(column.beside))[0]
        found += [slope * w.std(ddof=1) / estimate.std(), slope, halves]
    return [*found, *estimate.quantile(DECILES)]
