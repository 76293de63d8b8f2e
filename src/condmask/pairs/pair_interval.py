"""Computes intervals of the covariance and the correlation of the originals of two columns.

Of the estimates of Theorem 2.5 of Ghatak & Roy (docs/inference.rst, "Groups, weights, regressions,
pairs").
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

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

VARIANCE_TARGETS: tuple[Target, Target] = ("file", "population")  # the order in a `Pair`
RHO = np.array([-1.0, 0.0, 1.0])  # hypothetical correlations at which the error is computed
MIN_UNMASKED_PAIRS = 10.0  # whose correlation has a standard error of some .3
NO_CORRELATION = "a column is constant, or its variance is estimated negative"
MASKED_TOGETHER = "both columns were masked together by reverse mapping"


class Correlation(NamedTuple):
    """Correlation of the originals with the figures of its intervals.

    Leading axes run over samples.

    Attributes
    ----------
    r : ndarray
        NaN where a variance is estimated negative or zero.
    square : ndarray of shape (2, ..., 3)
        The factors of 1, rho and rho^2 in the squared standard error if rho is the correlation;
        about the file and about the population.
    variance, error, kept : ndarray of shape (..., 2)
        The variance of each original, its standard error about the file, and its ratio to the
        variance of the masked values.
    """

    r: np.ndarray
    square: np.ndarray
    variance: np.ndarray
    error: np.ndarray
    kept: np.ndarray

    def needed(self, level: float) -> np.ndarray:
        """Return the factor by which more records are needed to show that both originals vary.

        It is 0 if these records show it; otherwise nothing is known about the correlation. For a
        variance at the upper end of its interval, the lower end becomes positive with the number
        of records that halves the length. With little noise a variance counts as known: only heavy
        tails leave it uncertain.
        """
        reach = multiplier(level) * self.error
        upper = self.variance + reach
        times = (
            np.divide(2.0 * reach, upper, out=np.full(upper.shape, np.inf), where=upper > 0.0) ** 2
        )
        return np.asarray(
            np.where((self.variance <= reach) & (self.kept < 0.5), times, 0.0).max(axis=-1)
        )

    def ends(self, level: float, target: Target) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals; -1 and 1 where noise hides the original or the error is
        not known."""
        low, high = (np.full(self.r.shape, end) for end in (-1.0, 1.0))
        square = self.square[VARIANCE_TARGETS.index(target)]
        known = ~np.isnan(square[..., 0]) & (self.needed(level) == 0.0)
        low[known], high[known] = bounded.bounded_interval(self.r[known], square[known], level)
        return low, high


def correlation(pair: Pair) -> Correlation:
    """Return the correlation of a pair."""
    originals = pair.originals
    released = pair.released
    positive = np.where(originals > 0.0, originals, np.nan)[..., None, :]
    weights = np.zeros((*positive.shape[:-2], RHO.size + 2, 3))
    # the variance of r - rho is a quadratic in rho
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
    """Return the interval of the covariance.

    Its error about the file is estimated without bias for an unmasked second column, and by the
    general theorem otherwise. `names` are those of the columns in warnings of heavy tails.
    """
    variances = pair.variances(np.eye(1, 3))[:, 0] if pair.linear is None else pair.linear()
    variance = np.maximum(variances[VARIANCE_TARGETS.index(target)], 0.0)
    warn_of_heavy_tails(kurtoses(pair), int(pair.moments.n), "covariances", names)
    estimate, error = (float(each) * pair.unit for each in (pair.covariance, np.sqrt(variance)))
    reason = MASKED_TOGETHER if np.isnan(error) else BEYOND_FLOATS
    return interval(estimate, error, level, target, "covariance", reason=reason)


def correlation_interval(
    pair: Pair, level: float, target: Target, names: Sequence[str]
) -> Interval:
    """Return the interval of the correlation: all values that the test does not reject.

    `names` are those of the columns in warnings of heavy tails.
    """
    n = int(pair.moments.n)
    estimated = correlation(pair)
    nearest = np.clip(estimated.r, -1.0, 1.0)[()]
    square = polyval(
        nearest, np.moveaxis(estimated.square[VARIANCE_TARGETS.index(target)], -1, 0), tensor=False
    )
    error = np.sqrt(np.maximum(square, 0.0))
    ends = estimated.ends(level, target)
    reason = NO_CORRELATION if np.isnan(estimated.r) else MASKED_TOGETHER
    answer = interval(nearest, error, level, target, "correlation", ends=ends, reason=reason)
    little = _why_little(n, n * float(estimated.needed(level)), pair, estimated)
    if little:
        warn(f"correlation: {little}", EstimateWarning)
    elif not np.isnan(error).all():
        warn_of_heavy_tails(kurtoses(pair), n, "correlations", names)
    return answer._replace(about=answer.about + _remark(float(estimated.r)))


def _remark(r: float) -> str:
    """Return a remark on an estimate outside [-1, 1] or NaN, else an empty text."""
    if np.isnan(r):
        return f"; {NO_CORRELATION}"
    outside = f"; the estimate, {r:.4g}, lies outside [-1, 1], and the nearest end is given"
    return outside if abs(r) > 1.0 else ""


def _why_little(n: int, needed: float, pair: Pair, estimated: Correlation) -> str:
    """Return a warning if the records carry little information, with the number needed.

    `needed` is the number of records for which noise no longer hides the original, 0 if it does
    not. If two columns are independent, n masked pairs carry as much information about their
    correlation as n (1-p)^2 Var X / Var Z unmasked pairs; for columns masked together, which keep
    their pairs when they are swapped, as n (Var X / Var Z) (Var X' / Var Z') pairs.
    """
    if needed > 0.0:
        some = f"at least {ceil(needed):,}" if np.isfinite(needed) else "far more"
        return (
            "it cannot be bounded, since the noise is so large that even the variance of the "
            f"original is not significantly positive; it takes {some} records"
        )
    share = pair.share * float(np.prod(np.minimum(estimated.kept, 1.0)))
    if np.isnan(estimated.r) or n * share >= MIN_UNMASKED_PAIRS:
        return ""
    return (
        f"{n} masked records carry as much information about it as {n * share:.2g} unmasked ones; "
        f"{ceil(MIN_UNMASKED_PAIRS / share):,} would carry as much as {MIN_UNMASKED_PAIRS:.0f}"
    )


def kurtoses(pair: Pair) -> list[np.ndarray]:
    """Return the kurtosis of the originals of both columns; NaN where it is not known."""
    means = np.moveaxis(pair.moments.means, (-2, -1), (0, 1))
    columns = zip((means[:, 0], means[0]), pair.moments.unit, pair.laws, strict=True)
    first, second = (kurtosis(Powers(0.0, unit, own), law or EXACT) for own, unit, law in columns)
    if pair.laws[1] is None:
        _, _, *central = shift(means[0], -means[0, 1])
        second = plain_kurtosis(*central)
    return [first, second]
