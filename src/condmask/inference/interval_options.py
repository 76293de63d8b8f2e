"""From the variance about the file to that about the population: records as a sample, in clusters or not.

About the file an estimate varies by the masking alone. About the population its records vary too: by the
sum of their squared contributions, in clusters by that of the clusters' sums, from which the part of the
masking, which they contain, is taken out again (docs/inference.rst, "Linear statistics").
"""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.inference.intervals import TARGETS, check_target


class IntervalOptions(NamedTuple):
    """What an interval is asked for: its level and target, and how the records were sampled.

    `clusters` has the number of each record's cluster, -1 where it is not known; `population_size` is
    infinite where it is not given.
    """

    level: float
    target: str
    clusters: np.ndarray | None
    population_size: float

    @property
    def where(self) -> str:
        """The target in words."""
        return TARGETS[self.target]

    def known(self, n: int) -> np.ndarray:
        """Which of the n records are in a cluster that is known."""
        return np.ones(n, dtype=bool) if self.clusters is None else self.clusters >= 0

    def ends(
        self, estimate: np.ndarray, file: np.ndarray, excess: np.ndarray, degrees: Any, n: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Standard errors and the ends of intervals by Student's t.

        `file` is the variance about the file, `excess` by how much more it is about the population, which
        is estimated and may come out negative; `n` of the population's records are in the file. About the
        file the variance comes from the masking of all n, however few records the estimate is of, and so do
        the degrees of freedom; `degrees` are those of the excess.
        """
        from scipy.special import stdtrit  # takes .1 s to import

        variance = np.maximum(file, 0.0)
        if self.target == "population":
            if n > self.population_size:
                raise ValueError(
                    f"population_size must be at least the number of records, {n}, "
                    f"got {self.population_size:g}"
                )
            unseen = 1.0 - n / self.population_size
            variance = variance + unseen * np.maximum(excess, 0.0)
        else:
            degrees = np.where(np.isnan(estimate), 0.0, n - 1.0)  # a group may have no record with a value
        degrees = np.asarray(degrees, dtype=np.float64)
        error = np.where(degrees > 0.0, np.sqrt(variance), np.nan)
        reach = stdtrit(np.where(degrees > 0.0, degrees, np.nan), 0.5 + 0.5 * self.level) * error
        return error, estimate - reach, estimate + reach


def interval_options(
    confidence_level: Any, target: Any, clusters: Any, population_size: Any, n: int
) -> IntervalOptions:
    """The options of an interval, checked."""
    level = _checks.probability(confidence_level, "confidence_level")
    target = check_target(target)
    for name, value in (("clusters", clusters), ("population_size", population_size)):
        if target == "file" and value is not None:
            raise ValueError(
                f"{name} must be left out for target='file', where the records are no sample, got {value!r}"
            )
    size = np.inf if population_size is None else _checks.positive(population_size, "population_size")
    code = None
    if clusters is not None:
        code, _ = frames.groups(clusters, "clusters", n)
    return IntervalOptions(level, target, code, size)


def cluster_sums(contributions: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Sums of contributions, of shape (q, m), over the clusters of the records, of shape (q, C)."""
    _, code = np.unique(clusters, return_inverse=True)
    return np.array([np.bincount(code, each) for each in contributions])
