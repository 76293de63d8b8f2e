"""What an analyst gets from values with added noise.

With Laplace noise of scale a the distribution of X is ``G = H - a^2 h'``, H that of Z and h its density; both
are estimated by a normal kernel of bandwidth b, so G is a sum with the kernel ``Phi(v) + (a/b)^2 v phi(v)``.
Normal noise has no such inverse: its deconvolution is unstable.
"""

from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.engines import crossings
from condmask.engines import lattice as curves
from condmask.estimates.bandwidth import bandwidth as rule_of_thumb
from condmask.estimates.covariance import joint_covariance
from condmask.estimates.moments import original_moments, shift
from condmask.law import Law


class NoiseEstimate:
    """Estimates about the original variable from values with added noise, made by `AdditiveNoise.estimate`.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise.
    noise : {"laplace", "normal"}
    z : array_like or series of shape (n,)
        Masked values; missing ones are left out.
    """

    def __init__(self, sigma: float, noise: str, z: Any) -> None:
        array = frames.column(z, "z").array
        self._column = array
        there = _checks.present(array, "z", "omit")
        self._z = np.sort(array if there is None else array[there])
        self._sigma, self._noise = sigma, noise
        self.n = int(self._z.size)

    def __repr__(self) -> str:
        return f"NoiseEstimate(n={self.n}, sigma={self._sigma!r}, noise={self._noise!r})"

    def mean(self) -> float:
        """Mean of the original."""
        return float(self._z.mean())

    def variance(self) -> float:
        """Variance of the original, S_Z^2 - sigma^2; it may be negative."""
        return float(self._z.var(ddof=1) - self._sigma**2)

    def std(self) -> float:
        """Standard deviation of the original; NaN where the variance is estimated negative."""
        variance = self.variance()
        return float(np.sqrt(variance)) if variance >= 0.0 else float("nan")

    def moment(self, order: int) -> float:
        """Raw moment of the original: Theorem 2.1 with nothing swapped."""
        law = Law(0.0, self._noise, self._sigma, 0.0)
        center, scale, about = original_moments(self._z, _checks.whole(order, "order", least=1), law)
        return float(shift(about, center / scale)[order] * scale**order)

    def covariance(self, other: Any) -> float:
        """Covariance with a column that was not masked: noise leaves it as it is."""
        z, w = self._pair(other)
        value, scale, other_scale = joint_covariance(z, w)
        return value * scale * other_scale

    def correlation(self, other: Any) -> float:
        """Correlation with a column that was not masked; NaN where the variance is estimated negative."""
        z, w = self._pair(other)
        variance = z.var(ddof=1) - self._sigma**2
        if variance <= 0.0:
            return float("nan")
        return float(self.covariance(other) / np.sqrt(variance * w.var(ddof=1)))

    def cdf(self, t: Any, *, bandwidth: Any = "scott", tol: float = 1e-10) -> Any:
        """Distribution function of the original at t: H - a^2 h' from a normal kernel."""
        points = _checks.reals(t, "t")
        found = curves.values(self._curve(bandwidth, tol)[0], points.ravel())
        return found.reshape(points.shape) if points.shape else float(found[0])

    def quantile(self, q: Any, *, bandwidth: Any = "scott", tol: float = 1e-10) -> Any:
        """Quantiles of the original: the first crossings of `cdf`."""
        points = _checks.probabilities(q, "q")
        curve, width = self._curve(bandwidth, tol)
        found = crossings.quantiles(curve, points.ravel(), curve.smooth.reach, 1e-13 * width, tol, "first")
        return found.reshape(points.shape) if points.shape else float(found[0])

    def _curve(self, bandwidth: Any, tol: float) -> tuple[Any, float]:
        if self._noise != "laplace":
            raise ValueError(
                "noise must be 'laplace' for a distribution function, got 'normal': normal noise has no "
                "bounded inverse, so only moments and correlations can be estimated"
            )
        width = rule_of_thumb(self._z, bandwidth)
        boost = 0.5 * (self._sigma / width) ** 2
        return curves.boosted(self._z, width, boost, _checks.positive(tol, "tol")), width

    def _pair(self, other: Any) -> tuple[np.ndarray, np.ndarray]:
        w = frames.column(other, "other").array
        _checks.same_length(w, "other", self._column.size, "z")
        both = ~(np.isnan(self._column) | np.isnan(w))
        return self._column[both], w[both]
