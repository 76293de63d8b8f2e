"""Warns if tails of the original are too heavy for the normal approximation of its moments.

The kurtosis E (X - mu)^4 / Var^2 of the originals comes from the masked values by Theorem 2.1, as
other moments do. It is 3 for a normal law, 1.8 for a uniform, 6 for a Laplace law; for a law
without a fourth moment it grows with the sample. Where it is above 10, and above n/300, intervals
of variances, covariances and slopes have less than their nominal coverage, with or without
masking; a variance of n records is then known to 6% at best. Where the noise makes up half of the
variance of the masked values, its light tails dominate the error and the kurtosis is hardly known:
there is no warning.

In files of 150 records it is above 10 in hardly any of normal, uniform or Laplace values, in some
of Student's t with 4 degrees of freedom, and in most of Pareto's law of index 3. So few records
seldom distinguish t_4 from a Laplace law: a lower threshold would warn of both.

Intervals of means, totals and shares of totals tolerate more: for exponential values they have
their nominal coverage from some 100 records on. They miss on one side, because of the skewness
E (X - mu)^3 / Var^1.5, which grows faster than the fourth root of n where the tail index is below
2.4. So there is a warning where it is above 3 and above (n/2)^(1/4). Of samples of 200 or more
normal, exponential or lognormal(.5) values at most 4% give a warning, of Pareto's law of index
2.5 three quarters.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, noise_variance, original_moments, shift

MAX_KURTOSIS = 10.0  # for intervals of second moments
# records for each unit of kurtosis, from which on the normal approximation serves at any kurtosis
RECORDS_PER_KURTOSIS = 300.0
MAX_SKEWNESS = 3.0  # for intervals of means
# a kurtosis that exceeds the squared skewness by 1 within this share: there are two values only
ROUNDING_OF_TWO_VALUES = 1e-9
UNNAMED = "the original"


def kurtosis(masked: Powers, law: Law) -> np.ndarray:
    """Return the kurtosis of the originals, from moments of the masked values to order 4 at least.

    It is NaN where noise hides it, and of a constant.
    """
    _, _, second, _, fourth = _central_moments(masked, law, 4)
    return _unless_hidden(fourth, second, 2.0, masked, law)


def skewness(masked: Powers, law: Law) -> np.ndarray:
    """Return the absolute skewness of the originals, from moments to order 3 at least.

    It is NaN where noise hides it, and of a constant.
    """
    _, _, second, third = _central_moments(masked, law, 3)
    return _unless_hidden(np.abs(third), second, 1.5, masked, law)


def _central_moments(masked: Powers, law: Law, order: int) -> np.ndarray:
    """Return the moments of the originals about their mean, to this order."""
    original = original_moments(masked._replace(means=masked.means[: order + 1]), law)
    return shift(original.means, -original.means[1])


def _unless_hidden(
    moment: np.ndarray, second: np.ndarray, power: float, masked: Powers, law: Law
) -> np.ndarray:
    """Return a moment in powers of the variance; NaN unless the variance exceeds that of the
    noise."""
    visible = second > noise_variance(law, masked.scale)
    spread = np.where(visible, second, 1.0) ** power
    hidden = np.full(np.shape(second), np.nan)
    return np.asarray(np.divide(moment, spread, out=hidden, where=visible))


def central_sums(columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the sums of powers 2 to 4 of deviations from means, of shape (3, columns)."""
    about = columns - means[:, None]
    square = about * about
    return np.array(
        [square.sum(axis=1), *(np.einsum("ij,ij->i", each, square) for each in (about, square))]
    )


def plain_kurtosis(second: np.ndarray, third: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """Return the kurtosis of columns that were not masked, from their central moments.

    It is NaN for columns with one or two distinct values, which have no tails: their kurtosis is
    the squared skewness plus 1.
    """
    rest = fourth * second - third**2 - second**3
    two = rest <= ROUNDING_OF_TWO_VALUES * fourth * second
    unknown = np.full(np.shape(second), np.nan)
    return np.asarray(np.divide(fourth, second**2, out=unknown, where=~two))


def warn_of_heavy_tails(
    kurtoses: ArrayLike, n: int, quantities: str, names: Sequence[str] = (UNNAMED,)
) -> None:
    """Warn if tails are heavy for the intervals of second moments of n records.

    Parameters
    ----------
    kurtoses : array_like
        Of each column, or of replicates of a single one.
    n : int
        The number of records.
    quantities : str
        The statistics of the intervals.
    names : sequence of str
        Of the columns.
    """
    limit = max(MAX_KURTOSIS, n / RECORDS_PER_KURTOSIS)
    _warn(np.ravel(kurtoses), limit, "kurtosis", n, quantities, names)


def warn_of_skewness(skewness: ArrayLike, n: int, quantities: str, name: str = UNNAMED) -> None:
    """Warn if tails are heavy for the intervals of means of n records: see
    `warn_of_heavy_tails`."""
    limit = max(MAX_SKEWNESS, (0.5 * n) ** 0.25)
    _warn(np.ravel(skewness), limit, "skewness", n, quantities, [name])


def _warn(
    figures: np.ndarray, limit: float, measure: str, n: int, quantities: str, names: Sequence[str]
) -> None:
    """Warn of the columns with figures above the limit, by their names."""
    heavy = figures > limit
    if not heavy.any():
        return
    warned = names
    if len(names) == figures.size:
        warned = [name for name, above in zip(names, heavy, strict=True) if above]
    up_to = "up to " if len(warned) > 1 else ""
    largest = f"{np.fmax.reduce(figures):.3g}"
    warn(
        f"heavy tails of {' and '.join(warned)} ({measure} {up_to}{largest}, {n} records): "
        f"intervals for {quantities} have less than their nominal coverage, as they would without "
        "masking",
        EstimateWarning,
        quantities,
    )
