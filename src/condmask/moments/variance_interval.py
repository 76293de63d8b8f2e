r"""Computes intervals of the variance and the standard deviation of the original, never negative.

The squared standard error of an estimated variance is a quadratic in the variance v itself,
n s(v)^2 = a + b v + c v^2. The law of the noise determines a and b; c depends on the kurtosis. On
the scale :math:`\tau(v) = \sqrt n \int_0^v du / s(u)` the standard error is 1 everywhere. Where
the noise is small, tau is the logarithm of v; where it is large, tau is v in standard errors. The
interval is that of Feldman and Cousins on this scale, for a parameter that is not below 0.

Of the estimate by Theorem 2.1 of Ghatak & Roy; see docs/inference.rst, "The variance".
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.inference import bounded
from condmask.inference.interval import (
    BEYOND_FLOATS,
    Interval,
    Target,
    interval,
)
from condmask.moments.moment_interval import Sampled, moment_variance, scaled_variance

# prior of the kurtosis less 1, which counts where noise hides the kurtosis: 2 is that of a normal
# law, 8 that of an exponential one
USUAL_KURTOSIS = 3.0
SPREAD_OF_KURTOSIS = 3.0
MAX_ERRORS_FROM_ZERO = 40.0  # beyond which the bound at 0 has no effect at any level
NOT_POSITIVE = "the variance is not estimated positive"
SMALLEST_ANGLE = 1e-150  # below which sinh(k) / k and artanh(k) / k are 1


def variance_interval(
    sampled: Sampled, level: float | np.ndarray, target: Target, *, root: bool
) -> Interval:
    """Return the interval of the variance, or that of the standard deviation: its roots.

    With an array of levels, the axis of samples is that of levels.
    """
    scaled = scaled_variance(sampled)
    error = moment_variance(sampled, 2, central=True).standard_error(sampled.n, target)
    power = 0.5 if root else 1.0
    quantity = "the standard deviation" if root else "the variance"
    curve = error_curve(sampled, scaled, sampled.n * error**2, target)
    low, high = ends_of_variance(scaled, curve, sampled.n, level)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = np.float64(sampled.masked.scale) ** (2.0 * power)
        error = power * error * scaled ** (power - 1.0) * unit
        low, high, value = (np.power(each, power) * unit for each in (low, high, scaled))
    not_positive = np.where(scaled > 0.0, BEYOND_FLOATS, NOT_POSITIVE)
    reason = not_positive if root else BEYOND_FLOATS
    return interval(value, error, level, target, quantity, ends=(low, high), reason=reason)


class ErrorCurve(NamedTuple):
    """n times the squared standard error, ``constant + slope * v + square * v**2`` if v is the
    variance.

    Attributes
    ----------
    constant, slope : float
    square : ndarray of shape (samples,)
    """

    constant: float
    slope: float
    square: np.ndarray

    def error(self, variance: np.ndarray) -> np.ndarray:
        """Return the standard error of one record, for variances from 0 on."""
        return np.asarray(
            np.sqrt(self.constant + (self.slope + self.square * variance) * variance)
        )

    def distance(self, variance: np.ndarray) -> np.ndarray:
        """Return the integral of 1 / error from 0 to variances; infinite where it has no bound."""
        error = self.error(variance)
        both = error + np.sqrt(self.constant)
        ratio = np.divide(variance, both, out=np.zeros(error.shape), where=error > 0.0)
        angle = np.minimum(np.sqrt(self.square) * ratio, 1.0)
        with np.errstate(divide="ignore"):
            distance = 2.0 * ratio * _over_angle(np.arctanh, angle)
        return np.asarray(np.where(error > 0.0, distance, np.inf))

    def moved(self, variance: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Return the variances at a distance above others, or below if it is negative."""
        angle = np.sqrt(self.square) * distance
        along = self.error(variance) * distance * _over_angle(np.sinh, angle)
        bent = 0.25 * self.slope * (distance * _over_angle(np.sinh, 0.5 * angle)) ** 2
        return np.asarray(variance * np.cosh(angle) + along + bent)


def error_curve(
    sampled: Sampled, variance: np.ndarray, square: np.ndarray, target: Target
) -> ErrorCurve:
    """Return the squared standard error as a function of the variance, in powers of the scale.

    Parameters
    ----------
    sampled : Sampled
    variance, square : ndarray of shape (samples,)
        The estimate, and n times its squared standard error as it is estimated there.
    target : {"population", "file"}
    """
    p = sampled.law.p
    noise = sampled.law.noise_moments(8, sampled.masked.scale)
    constant = max((1.0 - p) * (noise[4] - (1.0 - p) * noise[2] ** 2), 0.0)
    slope = 4.0 * (1.0 - p) * noise[2]
    weight = _weight_of_spread(p, target, shared_donors=sampled.shared_donors)
    positive = np.maximum(variance, 0.0)
    if weight == 0.0:
        return ErrorCurve(constant, slope, np.zeros(positive.shape))
    # the variance of squared originals, (kurtosis - 1) v^2; and the variance of its estimate if v
    # is 0
    spread = (square - constant - slope * variance) / weight
    hidden = (1.0 - p) * (noise[8] - (1.0 - p) * noise[4] ** 2) / sampled.n
    numerator = USUAL_KURTOSIS * hidden + SPREAD_OF_KURTOSIS**2 * positive**2 * spread
    denominator = hidden + SPREAD_OF_KURTOSIS**2 * positive**4
    usual = np.full(positive.shape, USUAL_KURTOSIS)
    kurtosis = np.divide(numerator, denominator, out=usual, where=denominator > 0.0)
    return ErrorCurve(constant, slope, weight * np.maximum(kurtosis, 0.0))


def _weight_of_spread(p: float, target: Target, *, shared_donors: bool) -> float:
    """Return the factor of the variance of squared originals in the squared standard error."""
    of_sample = 1.0 if target == "population" else 0.0
    of_donors = 1.0 - (1.0 - p) ** 2 if shared_donors and p < 1.0 else 0.0
    return of_sample + of_donors


def ends_of_variance(
    variance: np.ndarray | float, curve: ErrorCurve, n: int, level: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of intervals, in the shape of the levels and the variances together."""
    estimate = np.atleast_1d(variance)
    curve = curve._replace(square=np.atleast_1d(curve.square))
    positive = np.maximum(estimate, 0.0)
    least = np.sqrt(curve.constant)
    below = np.divide(
        estimate, least, out=np.zeros(estimate.shape), where=(estimate < 0.0) & (least > 0.0)
    )
    errors_from_zero = np.sqrt(n) * (curve.distance(positive) + below)
    place = np.minimum(errors_from_zero, MAX_ERRORS_FROM_ZERO)
    ends = []
    for each in np.ravel(level).tolist():
        low, high = bounded.not_negative(place, each)
        start = np.maximum(place, 0.0)
        lower = curve.moved(positive, (low - start) / np.sqrt(n))
        upper = curve.moved(positive, (high - start) / np.sqrt(n))
        ends.append([np.where(low > 0.0, np.maximum(lower, 0.0), 0.0), upper])
    shape = np.broadcast_shapes(np.shape(level), np.shape(variance))
    low, high = (np.reshape(each, shape) for each in np.moveaxis(np.array(ends), 1, 0))
    return low, high


def _over_angle(function: Callable[[np.ndarray], np.ndarray], angle: np.ndarray) -> np.ndarray:
    """Return function(angle) / angle, which is 1 at 0."""
    ratio = np.ones(angle.shape)
    return np.asarray(
        np.divide(function(angle), angle, out=ratio, where=np.abs(angle) > SMALLEST_ANGLE)
    )
