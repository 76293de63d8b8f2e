"""Differences, ratios, sums and tests of estimates whose covariances are known.

Where intervals are symmetric, a sum of estimates times factors has the variance that covariances
give, and the degrees of freedom of Welch and Satterthwaite. Where they are not, as those of
quantiles, the distances of the ends from the estimates take the place of standard errors (Zou and
Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008)
1693-1702).
"""

from typing import NamedTuple

import numpy as np

from condmask._digits import number
from condmask.errors import ArgumentError
from condmask.inference.interval import Interval, Target, interval, multiplier

SYMMETRIC = 1e-6  # of an interval's length, by which its ends may differ
MIN_PRINTED = 1e-4  # p-value
UNKNOWN = "the estimates are not all known"


def pvalue_text(pvalue: float) -> str:
    """Return a p-value as text with its relation, ``= 0.0312`` or ``< 0.0001``."""
    return "< 0.0001" if pvalue < MIN_PRINTED else f"= {pvalue:.4f}"


class EqualityTest(NamedTuple):
    """A test of whether two estimates estimate the same.

    Attributes
    ----------
    statistic : float
        The difference over its standard error.
    degrees : float
        Of freedom of Student's t; infinite for the normal distribution.
    pvalue : float
        Two-sided.
    difference : float
    standard_error : float
        Of the difference.
    about : str
        The hypothesis in words.
    """

    statistic: float
    degrees: float
    pvalue: float
    difference: float
    standard_error: float
    about: str

    def __str__(self) -> str:
        """Format the test in one line."""
        error = number(self.standard_error, self.standard_error)
        difference = number(self.difference, self.standard_error)
        of = "" if np.isinf(self.degrees) else f" with {self.degrees:.1f} degrees of freedom"
        return (
            f"{self.about}: difference {difference}, s.e. {error}, t = {self.statistic:.2f}{of}, "
            f"p {pvalue_text(self.pvalue)}"
        )


class Combined(NamedTuple):
    """Some estimates that are combined: arrays of shape (estimates,) but for the matrix.

    Attributes
    ----------
    estimate, low, high, degrees : ndarray
    covariance : ndarray of shape (estimates, estimates)
    level : float
    target : {"population", "file"}
    one_residual : bool
        Whether all have the degrees of freedom of one fit.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    degrees: np.ndarray
    covariance: np.ndarray
    level: float
    target: Target
    one_residual: bool

    def sum(self, factors: np.ndarray, quantity: str) -> Interval:
        """Return the interval of a sum of the estimates times factors."""
        value = float(factors @ self.estimate)
        error = self.error(factors)
        if self._symmetric():
            degrees = self.degrees_of(factors)
            return interval(
                value, error, self.level, self.target, quantity, degrees=degrees, reason=UNKNOWN
            )
        ends = value - self._reach(factors, below=True), value + self._reach(factors, below=False)
        return interval(value, error, self.level, self.target, quantity, ends=ends, reason=UNKNOWN)

    def ratio(self, quantity: str) -> Interval:
        """Return the interval of the first estimate over the second, on the scale of
        logarithms."""
        one, two = self.estimate.tolist()
        error = np.sqrt(np.diag(self.covariance))
        far = multiplier(self.level)
        if not (one > 0.0 and two > far * error[1]):
            raise ArgumentError(
                "a and b must be estimated above 0, b by more than its error, for a ratio; got "
                f"{number(one, error[0])} and {number(two, error[1])} with standard errors "
                f"{number(error[0], error[0])} and {number(error[1], error[1])}"
            )
        scale = 1.0 / self.estimate
        logs = self._replace(
            estimate=np.log(self.estimate),
            low=np.log(np.maximum(self.low, np.finfo(float).tiny)),
            high=np.log(np.maximum(self.high, np.finfo(float).tiny)),
            covariance=self.covariance * np.outer(scale, scale),
        )
        factors = np.array([1.0, -1.0])
        if self._symmetric():
            reach = multiplier(self.level, self.degrees_of(factors * scale)) * logs.error(factors)
            ends = one / two * np.exp([-reach, reach])
        else:
            found = logs.sum(factors, quantity)
            ends = np.exp(np.array([found.low, found.high], dtype=np.float64))
        error_of_ratio = one / two * logs.error(factors)
        return interval(
            one / two, error_of_ratio, self.level, self.target, quantity, ends=tuple(ends)
        )

    def test(self, about: str) -> EqualityTest:
        """Return the test of whether the first two estimate the same."""
        from scipy.special import stdtr  # takes .1 s to import

        factors = np.array([1.0, -1.0])
        difference = float(factors @ self.estimate)
        error = self.error(factors)
        degrees = self.degrees_of(factors)
        statistic = difference / error if error > 0.0 else np.nan
        pvalue = float(2.0 * stdtr(degrees, -abs(statistic)))
        return EqualityTest(float(statistic), degrees, pvalue, difference, error, about)

    def error(self, factors: np.ndarray) -> float:
        """Return the standard error of a sum of the estimates times factors."""
        return float(np.sqrt(max(float(factors @ self.covariance @ factors), 0.0)))

    def degrees_of(self, factors: np.ndarray) -> float:
        """Return the degrees of freedom of Student's t of such a sum."""
        least = float(self.degrees.min())
        if self.one_residual or np.isinf(least):
            return least
        parts = factors**2 * np.diag(self.covariance)
        if not parts.sum() > 0.0:
            return least
        return float(parts.sum() ** 2 / (parts**2 / self.degrees).sum())

    def _symmetric(self) -> bool:
        off = self.high + self.low - 2.0 * self.estimate
        return bool(np.all(np.abs(off) <= SYMMETRIC * (self.high - self.low)))

    def _reach(self, factors: np.ndarray, *, below: bool) -> float:
        """Return how far an end lies from the sum, from the ends of the estimates."""
        down = (factors > 0.0) == below
        distance = np.where(down, self.estimate - self.low, self.high - self.estimate)
        signed = factors * distance
        if not np.isfinite(signed[factors != 0.0]).all():
            return np.inf
        error = np.sqrt(np.maximum(np.diag(self.covariance), np.finfo(float).tiny))
        correlation = np.clip(self.covariance / np.outer(error, error), -1.0, 1.0)
        np.fill_diagonal(correlation, 1.0)
        signed = np.where(factors != 0.0, signed, 0.0)
        return float(np.sqrt(max(float(signed @ correlation @ signed), 0.0)))
