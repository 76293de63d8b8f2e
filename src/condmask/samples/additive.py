"""The sample behind an estimate from values with added noise.

With Laplace noise of scale a the distribution of X is ``G = H - a^2 h'``, H that of Z and h its density; both
are estimated by a normal kernel of bandwidth b, so G is a sum with the kernel ``Phi(v) + (a/b)^2 v phi(v)``.
Normal noise has no such inverse: its deconvolution is unstable.
"""

from typing import Any

import numpy as np

from condmask.deconvolution.table import smallest_tol
from condmask.engines import lattice as curves
from condmask.engines.cdf import CDF, CurveCDF
from condmask.errors import ArgumentError
from condmask.kernels.curve import Curve
from condmask.samples.bandwidth import check_bandwidth
from condmask.samples.ungridded import UngriddedSample


class NoisySample(UngriddedSample):
    """Records to all of which noise was added; only a smoothed distribution function is defined."""

    def bandwidth(self, given: Any) -> float | None:
        """A bandwidth from a number or a rule; None means "scott", since only smoothed estimates exist."""
        return super().bandwidth("scott" if given is None else given)

    def engine(self, points: int, bandwidth: float | None, tol: float) -> str:
        return "lattice"

    def values(
        self, x: np.ndarray, bandwidth: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        if method not in ("auto", "lattice"):
            raise ArgumentError(f"method must be 'auto' or 'lattice' for additive noise, got {method!r}")
        if density:
            raise ArgumentError("the density of the original is not estimated from additive noise; use cdf")
        return self.cdf(bandwidth, tol).at(x)

    def cdf(self, bandwidth: float | None, tol: float) -> CDF:
        assert bandwidth is not None
        if self.law.noise != "laplace":
            raise ArgumentError(
                "noise must be 'laplace' for a distribution function, got 'normal': normal noise has no "
                "bounded inverse, so only moments and correlations can be estimated"
            )
        check_bandwidth(bandwidth, self.law)
        boost = 0.5 * (self.law.sigma / bandwidth) ** 2
        least = smallest_tol(1.0) * (1.0 + boost)  # the kernel reaches some boost / 2
        if tol < least:
            raise ArgumentError(
                f"tol must be at least {least:.1e} at bandwidth={bandwidth:g} and sigma={self.law.sigma:g} "
                f"(rounding), got {tol!r}"
            )
        curve: Curve = self._kept.get(
            (bandwidth, tol), lambda: curves.boosted(self._sorted, bandwidth, boost, tol)
        )
        reach = float(curve.layers["reach"].max())
        return CurveCDF(curve, reach, 1e-13 * bandwidth, tol, self._workers)
