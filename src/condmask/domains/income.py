r"""Statistics of income: poverty, ratios, inequality, each with its influence function.

A statistic of a distribution is a value and terms: a function f whose mean over the group, or over
all records where a threshold comes from these, moves the statistic by its coefficient. So the
error of a threshold is counted. Densities are slopes of the distribution function over .3 of the
distance of its quartiles.

Foster, Greer and Thorbecke, "A class of decomposable poverty measures", Econometrica 52 (1984)
761-766; Deville, "Variance estimation for complex statistics and estimators", Survey Methodology
25 (1999) 193-203 (docs/theory.rst, "Statistics of income").
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.domains.basis import Function
from condmask.domains.intervals import REACHED
from condmask.errors import ArgumentError
from condmask.inference.interval import UndefinedError

HALF_WINDOW = 0.15  # of the distance of the quartiles, for a density
FIFTH = 0.2


class Curve(NamedTuple):
    """A distribution function: ascending points x, and its values there."""

    x: np.ndarray
    below: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """The shares at the points."""
        return np.diff(self.below, prepend=0.0)

    def quantile(self, q: float) -> float:
        """Return the least point at which the distribution function reaches q."""
        at = min(int(self.below.searchsorted(q - REACHED)), self.x.size - 1)
        return float(self.x[at])

    def at(self, t: float) -> float:
        """Return the distribution function at t."""
        at = int(self.x.searchsorted(t, side="right"))
        return float(self.below[at - 1]) if at else 0.0

    def density(self, t: float) -> float:
        """Return the slope at t."""
        half = HALF_WINDOW * (self.quantile(0.75) - self.quantile(0.25))
        if not half > 0.0:
            raise UndefinedError(
                "the quartiles of the original must differ for the error of a threshold, got "
                "equal ones"
            )
        rise = np.diff(np.interp([t - half, t + half], self.x, self.below))[0]
        return float(rise) / (2.0 * half)

    def mean(self, function: Function) -> float:
        """Return the mean of a function."""
        return float(self.mass @ function(self.x))


class Term(NamedTuple):
    """A function whose mean moves a statistic.

    Attributes
    ----------
    function : callable
    coefficient : float
    of_all : bool
        Whether its mean is that over all records, and not over the group.
    """

    function: Function
    coefficient: float = 1.0
    of_all: bool = False


class Statistic(NamedTuple):
    """The value of a statistic and what moves it.

    Attributes
    ----------
    value : float
    terms : list of Term
    """

    value: float
    terms: list[Term]


Measure = Callable[[Curve, Curve], Statistic]  # of a group, and of all records


def below(t: float) -> Function:
    """Return the function 1{x <= t}."""
    return lambda x: (x <= t).astype(np.float64)


def poverty_rate(share: float) -> Measure:
    """Return the share of a group at or below a share of the median of all."""

    def measure(group: Curve, everyone: Curve) -> Statistic:
        median, line = _line(everyone, share)
        slope = share * group.density(line) / _positive(everyone.density(median))
        terms = [Term(below(line)), Term(below(median), -slope, of_all=True)]
        return Statistic(group.at(line), terms)

    return measure


def poverty_gap(share: float) -> Measure:
    """Return the mean of what incomes lack to a share of the median of all, in units of it."""

    def measure(group: Curve, everyone: Curve) -> Statistic:
        median, line = _line(everyone, share)

        def gap(x: np.ndarray) -> np.ndarray:
            return np.maximum(line - x, 0.0) / line

        slope = group.mean(lambda x: x * (x <= line)) / line**2
        slope *= share / _positive(everyone.density(median))
        terms = [Term(gap), Term(below(median), -slope, of_all=True)]
        return Statistic(group.mean(gap), terms)

    return measure


def quintile_share_ratio(group: Curve, _: Curve) -> Statistic:
    """Return S80/S20, the total of the highest fifth over that of the lowest."""
    low = group.quantile(FIFTH)
    high = group.quantile(1.0 - FIFTH)
    bottom = group.mean(lambda x: np.minimum(x - low, 0.0)) + FIFTH * low
    top = group.mean(lambda x: np.maximum(x - high, 0.0)) + FIFTH * high
    ratio = top / _total(bottom, "the total of the lowest fifth")

    def influence(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x - high, 0.0) - ratio * np.minimum(x - low, 0.0)) / bottom

    return Statistic(ratio, [Term(influence)])


def quantile_ratio(upper: float, lower: float) -> Measure:
    """Return the ratio of two quantiles."""

    def measure(group: Curve, _: Curve) -> Statistic:
        low = _total(group.quantile(lower), f"quantile {lower:g}")
        high = group.quantile(upper)
        ratio = high / low
        of_high = -ratio / high / _positive(group.density(high))
        of_low = ratio / low / _positive(group.density(low))
        return Statistic(ratio, [Term(below(high), of_high), Term(below(low), of_low)])

    return measure


def interquartile_range(group: Curve, _: Curve) -> Statistic:
    """Return the distance of the quartiles."""
    low = group.quantile(0.25)
    high = group.quantile(0.75)
    of_high = -1.0 / _positive(group.density(high))
    of_low = 1.0 / _positive(group.density(low))
    return Statistic(high - low, [Term(below(high), of_high), Term(below(low), of_low)])


def gini(group: Curve, _: Curve) -> Statistic:
    """Return the Gini coefficient."""
    x = group.x
    mean = _total(group.mean(lambda at: at), "the mean")
    steps = np.diff(x, append=x[-1])
    value = float((group.below * (1.0 - group.below)) @ steps) / mean
    tail = np.cumsum(((1.0 - 2.0 * group.below) * steps)[::-1])[::-1]

    def influence(at: np.ndarray) -> np.ndarray:
        return np.asarray(np.interp(at, x, tail) - value * at) / mean

    return Statistic(value, [Term(influence)])


def lorenz(q: float) -> Measure:
    """Return the share of the total that the lowest q of the records have."""

    def measure(group: Curve, _: Curve) -> Statistic:
        mean = _total(group.mean(lambda at: at), "the mean")
        at_q = group.quantile(q)
        value = (group.mean(lambda x: np.minimum(x - at_q, 0.0)) + q * at_q) / mean

        def influence(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.minimum(x - at_q, 0.0) - value * x) / mean

        return Statistic(value, [Term(influence)])

    return measure


def theil(group: Curve, _: Curve) -> Statistic:
    """Return Theil's index, the mean of (x/mean) log(x/mean)."""
    mean = _total(group.mean(lambda at: at), "the mean")

    def relative(x: np.ndarray) -> np.ndarray:
        share = np.maximum(x, 0.0) / mean
        return np.asarray(share * np.log(np.where(share > 0.0, share, 1.0)))

    value = group.mean(relative)
    terms = [Term(relative), Term(lambda x: x, -(value + 1.0) / mean)]
    return Statistic(value, terms)


def mean_log_deviation(floor: float | None) -> Measure:
    """Return log of the mean less the mean of the logarithms of amounts, of at least a floor."""

    def logarithm(x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.log(x if floor is None else np.maximum(x, floor)))

    def measure(group: Curve, _: Curve) -> Statistic:
        mean = _total(group.mean(lambda at: at), "the mean")
        value = float(np.log(mean)) - group.mean(logarithm)
        if not np.isfinite(value):
            raise ArgumentError(
                "floor must be a positive number for the mean log deviation of amounts of "
                "which some are 0 or negative, got None"
            )
        return Statistic(value, [Term(lambda x: x, 1.0 / mean), Term(logarithm, -1.0)])

    return measure


def _line(everyone: Curve, share: float) -> tuple[float, float]:
    """Return the median of all records, and a share of it."""
    median = _total(everyone.quantile(0.5), "the median")
    return median, share * median


def _total(value: float, quantity: str) -> float:
    if not value > 0.0:
        raise ArgumentError(f"{quantity} must be estimated positive, got {value:g}")
    return value


def _positive(density: float) -> float:
    if not density > 0.0:
        raise UndefinedError(
            "the original must have values on both sides of a quantile for its error, got none"
        )
    return density
