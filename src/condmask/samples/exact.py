"""The sample behind an estimate of a column released in another order.

Reverse mapping releases the values of the original, each once: T is their distribution function, and every
statistic of the column alone follows from it. For the original file it is exact; for the population it is as
good as unmasked data. In formulas: donors of a permutation, p = 1.

All depends on how many records have each value, so records and `Counts` give the same bits.
"""

from functools import cached_property

import numpy as np

from condmask._blocks import Workers
from condmask.engines import lattice as curves
from condmask.engines import sorting
from condmask.engines.cdf import CDF, CurveCDF, EmpiricalCDF, ranks_of
from condmask.engines.counting import EMPTY, ValueCounts, by_value
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.moments.theorem_2_1 import RECORDS, Powers, powers
from condmask.samples.bandwidth import check_bandwidth
from condmask.samples.cache import BoundedCache
from condmask.samples.counted import KEPT, CountedSample
from condmask.samples.noise_class import NoiseClass

EXACT = Law(1.0, "normal", 0.0)  # nothing is left of the noise
FEW = 64  # quantiles, which are not worth sorting all records


class ExactSample(CountedSample):
    """Values of the original, in any order.

    Parameters
    ----------
    z : ndarray of shape (n,) or ValueCounts
        Records, or how many have each value.
    workers : int or map-like callable
    """

    def __init__(self, z: np.ndarray | ValueCounts, workers: Workers = 1) -> None:
        self._z = EMPTY.values if isinstance(z, ValueCounts) else z
        self._counts = z if isinstance(z, ValueCounts) else None
        self.n = self._z.size if self._counts is None else self._counts.n
        self.law, self._workers, self._kept = EXACT, workers, BoundedCache(KEPT)
        self._sorting = False  # for quantiles, from the second request on

    @cached_property
    def counts(self) -> ValueCounts:  # type: ignore[override]
        """By value."""
        if self._counts is None:
            return by_value(sorting.ascending(self._z, self._workers))
        return self._counts

    @cached_property
    def _ends(self) -> tuple[float, float]:
        values = self._z if self._counts is None else self.counts.values
        return float(values.min()), float(values.max())

    @cached_property
    def _below(self) -> np.ndarray:
        return self.counts.below

    @cached_property
    def _two(self) -> Powers:
        return self._powers(2)

    def _powers(self, order: int) -> Powers:
        values, counts = (self._z, RECORDS) if self._counts is None else self.counts
        return powers(values, order, self.law.sigma, counts)

    def powers(self, order: int) -> Powers:
        found = self._two if order <= 2 else self._powers(order)
        return found._replace(means=found.means[: order + 1])

    def moments(self, order: int) -> Powers:
        return self.powers(order)

    def engine(self, points: int, bandwidth: float | None, tol: float) -> str:
        return "exact" if bandwidth is None else "lattice"

    def values(
        self, x: np.ndarray, bandwidth: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        if bandwidth is None:
            return self._empirical().at(x)
        t = curves.values(self._smoothed(bandwidth, tol, density), x, self._workers)
        return np.asarray(t / bandwidth if density else t)

    def quantiles(self, q: np.ndarray, bandwidth: float | None, tol: float, crossing: str) -> np.ndarray:
        if bandwidth is None and self._counts is None and not self._sorting and q.size <= FEW:
            self._sorting = True  # more of them are better served by counts
            return sorting.selected(self._z, ranks_of(q - tol, self.n), self._ends)
        return self.cdf(bandwidth, tol).quantile(q - tol, crossing)

    def monotone(self, x: np.ndarray, bandwidth: float | None, tol: float) -> np.ndarray:
        return np.asarray(np.clip(self.values(x, bandwidth, tol, "auto"), 0.0, 1.0))

    def cdf(self, bandwidth: float | None, tol: float) -> CDF:
        if bandwidth is None:
            return self._empirical()
        curve = self._smoothed(bandwidth, tol, False)
        reach = float(curve.layers["reach"].max())
        return CurveCDF(curve, reach, 1e-13 * bandwidth, tol, self._workers)

    def from_steps(self, steps: np.ndarray) -> np.ndarray:
        return steps

    def noise_class(self) -> NoiseClass:
        return NoiseClass(self.counts, None, lambda x, bandwidth: x, lambda values: values, smoothed=True)

    def _empirical(self) -> EmpiricalCDF:
        """The distribution function of the records."""
        return EmpiricalCDF(self.counts.values, self._below)

    def _values(self) -> np.ndarray:
        return self.counts.values

    def _smoothed(self, bandwidth: float, tol: float, density: bool) -> Curve:
        check_bandwidth(bandwidth, self.law._replace(sigma=bandwidth))

        def make() -> Curve:
            return curves.boosted(self.counts.values, bandwidth, 0.0, tol, density=density, below=self._below)

        curve: Curve = self._kept.get((bandwidth, tol, density), make)
        return curve
