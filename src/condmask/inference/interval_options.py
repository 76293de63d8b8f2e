"""From the variance about the file to that about the population: records as a sample, in clusters or not.

About the file an estimate varies only by the masking. About the population its records vary too;
`linear_variance` says how much.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.inference.intervals import Interval, check_target, interval


class IntervalOptions(NamedTuple):
    """The level and the target of an interval, and how the records were sampled.

    `clusters` has the number of each record's cluster, -1 where it is missing, below `cluster_count`;
    `population_size` is infinite where it is not given.
    """

    level: float
    target: str
    clusters: Any
    population_size: float
    cluster_count: int = 0

    def t_interval(
        self, quantity: str, estimate: np.ndarray, file: np.ndarray, excess: np.ndarray, degrees: Any, n: int
    ) -> Interval:
        """Intervals of estimates by Student's t; `quantity` says what is estimated.

        `file` is the variance about the file, `excess` by how much more it is about the population, which
        is estimated and may come out negative; `n` of the population's records are in the file. About the
        file the variance and the degrees of freedom come from the masking of all n records, however few of
        them the estimate uses; `degrees` are those of the excess.
        """
        variance = np.maximum(file, 0.0)
        if self.target == "population":
            if n > self.population_size:
                raise ArgumentError(
                    f"population_size must be at least the number of records, {n}, "
                    f"got {self.population_size:g}"
                )
            unsampled = 1.0 - n / self.population_size
            variance = variance + unsampled * np.maximum(excess, 0.0)
        else:
            degrees = np.where(np.isnan(estimate), 0.0, n - 1.0)  # a group may have no record with a value
        degrees = np.asarray(degrees, dtype=np.float64)
        error = np.where(degrees > 0.0, np.sqrt(variance), np.nan)
        return interval(estimate, error, self.level, self.target, quantity, degrees=degrees)


def interval_options(
    confidence_level: Any, target: Any, clusters: Any = None, population_size: Any = None, n: int = 0
) -> IntervalOptions:
    """The options of an interval, checked."""
    level = _checks.confidence_level(confidence_level)
    target = check_target(target)
    for name, value in (("clusters", clusters), ("population_size", population_size)):
        if target == "file" and value is not None:
            raise ArgumentError(
                f"{name} must be left out for target='file', where the records are not a sample, got "
                f"{_checks.shown(value)}"
            )
    size = np.inf if population_size is None else _checks.positive(population_size, "population_size")
    if clusters is None:
        return IntervalOptions(level, target, None, size)
    code, names = frames.groups(clusters, "clusters", n)
    return IntervalOptions(level, target, code, size, len(names))
