"""Intervals of the covariance and the correlation of the originals of two columns.

Of the estimates of Theorem 2.5 (docs/inference.rst, "Groups, weights, regressions, pairs").
"""

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval

from condmask.errors import warn
from condmask.inference import bounded
from condmask.inference.interval import (
    BEYOND_FLOATS,
    EstimateWarning,
    Interval,
    Target,
    interval,
    multiplier,
)
from condmask.law import EXACT
from condmask.moments.heavy_tails import kurtosis, plain_kurtosis, warn_of_heavy_tails
from condmask.moments.theorem_2_1 import Powers, shift
from condmask.pairs.pair_variance import Pair

TARGETS: tuple[Target, Target] = (
    "file",
    "population",
)  # in the order of the variances of a `Pair`
RHO = np.array([-1.0, 0.0, 1.0])  # hypotheses of a correlation
ENOUGH = 10.0  # unmasked records, whose correlation is known to some .3
NO_CORRELATION = "a column is constant, or its variance is estimated negative"
MASKED_TOGETHER = "both columns were masked together by reverse mapping"


class Correlation(NamedTuple):
    """The correlation of the originals and how it varies; of several samples along leading axes.

    Attributes
    ----------
    r : ndarray
        NaN where a variance is estimated negative or zero.
    square : ndarray of shape (2, ..., 3)
        About the file and about the population, the factors of 1, rho and rho^2 in the squared
        standard error if rho is the correlation.
    variance, error, kept : ndarray of shape (..., 2)
        The variance of each original, its standard error about the file, and what part it is of
        that of the masked values.
    """

    r: np.ndarray
    square: np.ndarray
    variance: np.ndarray
    error: np.ndarray
    kept: np.ndarray

    def needed(self, level: float) -> np.ndarray:
        """How many times as many records show that an original varies at all; 0 where these do.

        Nothing is known about a correlation otherwise. With a variance at the upper end of its own
        interval, so many make the lower end positive as are needed for half the length. With
        little noise a variance is not small, but heavy tails leave it uncertain.
        """
        reach = multiplier(level) * self.error
        upper = self.variance + reach
        times = (
            np.divide(2.0 * reach, upper, out=np.full(upper.shape, np.inf), where=upper > 0.0) ** 2
        )
        return np.asarray(
            np.where((self.variance <= reach) & (self.kept < 0.5), times, 0.0).max(axis=-1)
        )

    def ends(self, level: float, target: Target) -> tuple[Any, Any]:
        """The ends of intervals, from -1 to 1 where the noise hides the original or errors are not
        known."""
        low, high = (np.full(self.r.shape, end) for end in (-1.0, 1.0))
        square = self.square[TARGETS.index(target)]
        known = ~np.isnan(square[..., 0]) & (self.needed(level) == 0.0)
        low[known], high[known] = bounded.bounded_interval(self.r[known], square[known], level)
        return low[()], high[()]


def correlation(pair: Pair) -> Correlation:
    """The correlation of a pair."""
    originals = pair.originals
    released = pair.released
    positive = np.where(originals > 0.0, originals, np.nan)[..., None, :]
    weights = np.zeros((*positive.shape[:-2], RHO.size + 2, 3))
    # r - rho, the estimate less a hypothesis, is linear in rho, and so its variance is a quadratic
    weights[..., : RHO.size, 0] = 1.0 / np.sqrt(positive).prod(axis=-1)
    weights[..., : RHO.size, 1:] = -0.5 * RHO[:, None] / positive
    weights[..., RHO.size :, 1:] = np.eye(2)
    squares = pair.variances(weights)
    low, middle, high = np.moveaxis(squares[..., : RHO.size], -1, 0)
    square = np.stack([middle, 0.5 * (high - low), 0.5 * (high + low) - middle], axis=-1)
    error = np.sqrt(np.maximum(squares[0, ..., RHO.size :], 0.0))
    kept = np.divide(originals, released, out=np.ones(originals.shape), where=released > 0.0)
    return Correlation(np.asarray(pair.correlation), square, originals, error, kept)


def covariance_interval(
    pair: Pair, level: float, target: Target, names: Sequence[str]
) -> Interval:
    """The interval of the covariance: exact given the file with a plain column, else by the
    theorem.

    Warnings of heavy tails call the columns by `names`.
    """
    variances = pair.variances(np.eye(1, 3))[:, 0] if pair.linear is None else pair.linear()
    variance = np.maximum(variances[TARGETS.index(target)], 0.0)
    warn_of_heavy_tails(kurtoses(pair), int(pair.moments.n), "covariances", names)
    estimate, error = (float(each) * pair.unit for each in (pair.covariance, np.sqrt(variance)))
    reason = MASKED_TOGETHER if np.isnan(error) else BEYOND_FLOATS
    return interval(estimate, error, level, target, "covariance", reason=reason)


def correlation_interval(
    pair: Pair, level: float, target: Target, names: Sequence[str]
) -> Interval:
    """The interval of the correlation: all values that the test does not reject.

    Warnings of heavy tails call the columns by `names`.
    """
    n = int(pair.moments.n)
    found = correlation(pair)
    nearest = np.clip(found.r, -1.0, 1.0)[()]
    square = polyval(
        nearest, np.moveaxis(found.square[TARGETS.index(target)], -1, 0), tensor=False
    )
    error = np.sqrt(np.maximum(square, 0.0))
    ends = found.ends(level, target)
    reason = NO_CORRELATION if np.isnan(found.r) else MASKED_TOGETHER
    answer = interval(nearest, error, level, target, "correlation", ends=ends, reason=reason)
    little = _why_little(n, n * float(found.needed(level)), pair, found)
    if little:
        warn(f"correlation: {little}", EstimateWarning)
    elif not np.isnan(error).all():
        warn_of_heavy_tails(kurtoses(pair), n, "correlations", names)
    return answer._replace(about=answer.about + _remark(float(found.r)))


def _remark(r: float) -> str:
    """What is said of an estimate that is no correlation."""
    if np.isnan(r):
        return f"; {NO_CORRELATION}"
    outside = f"; the estimate, {r:.4g}, lies outside [-1, 1], and the nearest end is given"
    return outside if abs(r) > 1.0 else ""


def _why_little(n: int, enough: float, pair: Pair, found: Correlation) -> str:
    """Why the records say little, and how many are needed: `enough` of them, where noise hides the
    original.

    If two columns are independent, n masked pairs say as much about their correlation as
    n (1-p)^2 Var X / Var Z unmasked ones; for columns masked together, which keep their pairs when
    they are swapped, as n (Var X / Var Z) (Var X' / Var Z').
    """
    if enough > 0.0:
        some = f"at least {ceil(enough):,}" if np.isfinite(enough) else "far more"
        return (
            "it cannot be bounded, since the noise is so large that even the variance of the "
            f"original is not significantly positive; it takes {some} records"
        )
    share = pair.share * float(np.prod(np.minimum(found.kept, 1.0)))
    if np.isnan(found.r) or n * share >= ENOUGH:
        return ""
    return (
        f"{n} masked records carry as much information about it as {n * share:.2g} unmasked ones; "
        f"{ceil(ENOUGH / share):,} would carry as much as {ENOUGH:.0f}"
    )


def kurtoses(pair: Pair) -> list[Any]:
    """The kurtosis of the originals of both columns; NaN where it is not known."""
    means = np.moveaxis(pair.moments.means, (-2, -1), (0, 1))
    columns = zip((means[:, 0], means[0]), pair.moments.unit, pair.laws, strict=True)
    found = [kurtosis(Powers(0.0, unit, own), law or EXACT) for own, unit, law in columns]
    if pair.laws[1] is None:
        found[1] = plain_kurtosis(*shift(means[0], -means[0, 1])[2:])
    return found
