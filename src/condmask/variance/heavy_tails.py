"""Whether the tails of the original are too heavy for the normal approximation of second moments.

The kurtosis E (X - mu)^4 / Var^2 of the originals comes from the masked values by Theorem 2.1, as other
moments do. It is 3 for a normal law, 1.8 for a uniform, 6 for a Laplace law; for a law without a fourth
moment it grows with the sample. Where it is above 10, and above n/300 so that a variance of n records is
known to 6% at best, intervals of variances, covariances and slopes cover too rarely with or without masking.
Where noise is half of the variance of the masked values, that noise,
whose tails are light, is most of the error, and the kurtosis is hardly known: there is no warning.

In files of 150 records it is above 10 in hardly any of normal, uniform or Laplace values, in some of
Student's t with 4 degrees of freedom, and in most of Pareto's law of index 3. So few records seldom
distinguish t_4 from a Laplace law: with a lower threshold both would be warned of.
"""

from typing import Any

import numpy as np

from condmask.errors import warn
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, noise_variance, original_moments, shift
from condmask.variance.interval import EstimateWarning

HEAVY = 10.0
TWO_VALUES = 1e-9  # of a kurtosis, within which E u^3 squared and 1 are all of it
ENOUGH = 300.0  # records for each unit of the kurtosis, with which the normal approximation does


def kurtosis(masked: Powers, law: Law) -> Any:
    """The kurtosis of the originals, from moments of the masked values to order 4 at least.

    NaN where noise hides it, and of a constant.
    """
    original = original_moments(masked._replace(means=masked.means[:5]), law)
    _, _, second, _, fourth = shift(original.means, -original.means[1])
    seen = second > noise_variance(law, original.scale)
    return np.divide(fourth, second**2, out=np.full(np.shape(second), np.nan), where=seen)[()]


def central_sums(columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The sums of powers of order 2 to 4 of deviations from means, of shape (3, columns)."""
    about = columns - means[:, None]
    square = about * about
    return np.array([square.sum(axis=1), *(np.einsum("ij,ij->i", each, square) for each in (about, square))])


def plain_kurtosis(second: Any, third: Any, fourth: Any) -> Any:
    """The kurtosis of columns that were not masked, from their central moments.

    NaN of one value or two, which are rare or not, but no tails: it is 1 and E u^3 squared.
    """
    two = fourth * second - third**2 - second**3 <= TWO_VALUES * fourth * second
    return np.divide(fourth, second**2, out=np.full(np.shape(second), np.nan), where=~two)[()]


def warn_of_heavy_tails(kurtoses: Any, n: int, quantities: str) -> None:
    """Warn if the heaviest tails are heavy for n records; `quantities` names their statistics."""
    largest = np.fmax.reduce(np.ravel(kurtoses), initial=0.0)
    if largest > max(HEAVY, n / ENOUGH):
        warn(
            f"heavy tails, of kurtosis {largest:.3g} in {n} records: intervals of {quantities} cover less "
            "often than they say, as they would without masking",
            EstimateWarning,
        )
