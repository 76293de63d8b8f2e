"""What stands behind an estimate of a column that was released in another order.

Reverse mapping releases the values of the original, each once: T is their distribution function, and what
concerns the column alone is read from it. As an estimate of the original file it is exact; of the population
it is as good as data that are not masked. In formulas: donors of a permutation, p = 1.
"""

import numpy as np

from condmask.engines import lattice as curves
from condmask.engines import variances
from condmask.engines.counting import Counts
from condmask.engines.variances import Sums
from condmask.estimates.bandwidth import check_bandwidth
from condmask.estimates.moments import Powers, powers
from condmask.estimates.parts import Part
from condmask.estimates.sample import Sample
from condmask.kernels.curve import Curve
from condmask.law import Law

EXACT = Law(1.0, "normal", 0.0)  # nothing is left of the noise


class ExactSample(Sample):
    """Values of the original, in any order; nothing depends on it."""

    def powers(self, order: int) -> Powers:
        return powers(self._sorted(), order, 0.0)

    def moments(self, order: int) -> Powers:
        return self.powers(order)

    def variance(self) -> tuple[float, float]:
        _, scale, means = self.powers(2)
        return float((means[2] - means[1] ** 2) * self.n / (self.n - 1)), scale

    def engine(self, points: int, width: float | None, tol: float) -> str:
        return "exact" if width is None else "lattice"

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        if width is None:
            return np.asarray(np.searchsorted(self._sorted(), x, side="right") / self.n)
        found = curves.values(self._smoothed(width, tol, density), x, self._workers)
        return np.asarray(found / width if density else found)

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        if width is not None:
            return super().quantiles(q, width, tol, crossing)
        rank = np.ceil((q - tol) * self.n).astype(np.int64)
        return np.asarray(self._sorted()[np.clip(rank, 1, self.n) - 1])

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        return np.asarray(np.clip(self.values(x, width, tol, "auto"), 0.0, 1.0))

    def part(self) -> Part:
        def make() -> Counts:
            values = self._sorted()
            first = np.flatnonzero(np.diff(values, prepend=np.nan) != 0.0)
            return Counts(values[first], np.diff(first, append=values.size))

        counts = self._kept.get("counts", make)

        def smoothed(x: np.ndarray, width: float) -> Sums:
            return variances.smoothed(counts, x, width)

        return Part(counts, None, lambda x, width: x, lambda values: values, smoothed)

    def _smoothed(self, width: float, tol: float, density: bool) -> Curve:
        check_bandwidth(width, self.law._replace(sigma=width))
        found: Curve = self._kept.get(
            (width, tol, density),
            lambda: curves.boosted(self._sorted(), width, 0.0, tol, density=density),
        )
        return found

    def _searchable(
        self, width: float | None, tol: float, what: np.ndarray
    ) -> tuple[Curve, np.ndarray, float, float]:
        assert width is not None
        curve = self._smoothed(width, tol, False)
        return curve, what, float(curve.layers["reach"].max()), 1e-13 * width
