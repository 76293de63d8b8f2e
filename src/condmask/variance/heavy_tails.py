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
ENOUGH = 300.0  # records for each unit of the kurtosis, with which the normal approximation does


def kurtosis(masked: Powers, law: Law) -> Any:
    """The kurtosis of the originals, from moments of the masked values to order 4 at least.

    NaN where noise hides it, and of a constant.
    """
    original = original_moments(masked._replace(means=masked.means[:5]), law)
    _, _, second, _, fourth = shift(original.means, -original.means[1])
    seen = second > noise_variance(law, original.scale)
    return np.divide(fourth, second**2, out=np.full(np.shape(second), np.nan), where=seen)[()]


class PlainTails:
    """The tails of columns that were not masked, gathered part by part.

    Parameters
    ----------
    low, high, means : ndarray of shape (q,)
        Of the columns, in a unit in which they are of about 1.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, means: np.ndarray) -> None:
        self._low, self._high, self._means, self._n = low[:, None], high[:, None], means[:, None], 0
        self._more = np.zeros(low.size, dtype=bool)  # whether there are values between low and high
        self._squares, self._fourths = np.zeros((2, low.size))

    def add(self, rows: np.ndarray) -> None:
        """Records of the columns, of shape (q, m)."""
        if not self._more.all():
            self._more |= ((rows != self._low) & (rows != self._high)).any(axis=1)
        squares = (rows - self._means) ** 2
        self._squares += squares.sum(axis=1)
        self._fourths += np.einsum("ij,ij->i", squares, squares)
        self._n += rows.shape[1]

    @property
    def kurtoses(self) -> list[float]:
        """The kurtosis of each column; NaN if it has two values, which are rare or not, but no tails."""
        with np.errstate(invalid="ignore", divide="ignore"):
            kurtoses = self._fourths * self._n / self._squares**2
        return [float(kurtosis) for kurtosis in np.where(self._more, kurtoses, np.nan)]


def warn_of_heavy_tails(kurtoses: Any, n: int, quantities: str) -> None:
    """Warn if the heaviest tails are heavy for n records; `quantities` names their statistics."""
    largest = np.fmax.reduce(np.ravel(kurtoses), initial=0.0)
    if largest > max(HEAVY, n / ENOUGH):
        warn(
            f"heavy tails, of kurtosis {largest:.3g} in {n} records: intervals of {quantities} cover less "
            "often than they say, as they would without masking",
            EstimateWarning,
        )
