"""Whether the tails of the original are too heavy for the normal approximation of first and second
moments.

The kurtosis E (X - mu)^4 / Var^2 of the originals comes from the masked values by Theorem 2.1, as
other moments do. It is 3 for a normal law, 1.8 for a uniform, 6 for a Laplace law; for a law
without a fourth moment it grows with the sample. Where it is above 10, and above n/300 so that a
variance of n records is known to 6% at best, intervals of variances, covariances and slopes cover
too rarely with or without masking. Where noise is half of the variance of the masked values, that
noise, whose tails are light, is most of the error, and the kurtosis is hardly known: there is no
warning.

In files of 150 records it is above 10 in hardly any of normal, uniform or Laplace values, in some
of Student's t with 4 degrees of freedom, and in most of Pareto's law of index 3. So few records
seldom distinguish t_4 from a Laplace law: with a lower threshold both would be warned of.

Intervals of means, totals and shares of totals bear more: of exponential values they cover as they
say from some 100 records on. They miss on one side, by the skewness E (X - mu)^3 / Var^1.5, which
grows faster than the fourth root of n where the tail index is below 2.4. So there is a warning
where it is above 3 and above (n/2)^(1/4). Of samples of 200 or more normal, exponential or
lognormal(.5) values 4% at most have one, of Pareto's law of index 2.5 three quarters.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, noise_variance, original_moments, shift

HEAVY = 10.0
TWO_VALUES = 1e-9  # of a kurtosis, within which E u^3 squared and 1 are all of it
ENOUGH = 300.0  # records for each unit of the kurtosis, with which the normal approximation does
SKEW = 3.0  # of an absolute skewness, up to which means have intervals that cover
UNNAMED = "the original"


def kurtosis(masked: Powers, law: Law) -> Any:
    """The kurtosis of the originals, from moments of the masked values to order 4 at least.

    NaN where noise hides it, and of a constant.
    """
    _, _, second, _, fourth = _central_moments(masked, law, 4)
    return _where_seen(fourth, second, 2.0, masked, law)


def skewness(masked: Powers, law: Law) -> Any:
    """Return the absolute skewness of the originals, from moments to order 3 at least.

    NaN where noise hides it, and of a constant.
    """
    _, _, second, third = _central_moments(masked, law, 3)
    return _where_seen(np.abs(third), second, 1.5, masked, law)


def _central_moments(masked: Powers, law: Law, order: int) -> np.ndarray:
    """Return the moments of the originals about their mean, to this order."""
    original = original_moments(masked._replace(means=masked.means[: order + 1]), law)
    return shift(original.means, -original.means[1])


def _where_seen(moment: Any, second: Any, power: float, masked: Powers, law: Law) -> Any:
    """Return a moment in powers of the variance where this is more than the noise's part, else
    NaN."""
    seen = second > noise_variance(law, masked.scale)
    spread = np.where(seen, second, 1.0) ** power
    return np.divide(moment, spread, out=np.full(np.shape(second), np.nan), where=seen)[()]


def central_sums(columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The sums of powers of order 2 to 4 of deviations from means, of shape (3, columns)."""
    about = columns - means[:, None]
    square = about * about
    return np.array(
        [square.sum(axis=1), *(np.einsum("ij,ij->i", each, square) for each in (about, square))]
    )


def plain_kurtosis(second: Any, third: Any, fourth: Any) -> Any:
    """The kurtosis of columns that were not masked, from their central moments.

    NaN of one value or two, which are rare or not, but no tails: it is 1 and E u^3 squared.
    """
    two = fourth * second - third**2 - second**3 <= TWO_VALUES * fourth * second
    return np.divide(fourth, second**2, out=np.full(np.shape(second), np.nan), where=~two)[()]


def warn_of_heavy_tails(
    kurtoses: Any, n: int, quantities: str, names: Sequence[str] = (UNNAMED,)
) -> None:
    """Warn if tails are heavy for the intervals of second moments of n records.

    Parameters
    ----------
    kurtoses : array_like
        Of each column, or of replicates of a single one.
    n : int
    quantities : str
        Which statistics have the intervals.
    names : sequence of str
        Of the columns.
    """
    _warn(
        np.ravel(kurtoses),
        max(HEAVY, n / ENOUGH),
        f"kurtosis {{}} in {n} records",
        quantities,
        names,
    )


def warn_of_skewness(skewness: Any, n: int, quantities: str, name: str = UNNAMED) -> None:
    """Warn if tails are heavy for the intervals of means of n records, as `warn_of_heavy_tails`
    does."""
    limit = max(SKEW, (0.5 * n) ** 0.25)
    _warn(np.ravel(skewness), limit, f"skewness {{}} in {n} records", quantities, [name])


def _warn(
    figures: np.ndarray, limit: float, how_heavy: str, quantities: str, names: Sequence[str]
) -> None:
    """Warn of the columns whose figures are above the limit, by their names."""
    heavy = figures > limit
    if not heavy.any():
        return
    of_columns = len(names) == figures.size
    shown = (
        [name for name, above in zip(names, heavy, strict=True) if above] if of_columns else names
    )
    largest = f"{np.fmax.reduce(figures):.3g}"
    up_to = "up to " if len(shown) > 1 else ""
    warn(
        f"heavy tails of {' and '.join(shown)}, of {how_heavy.format(up_to + largest)}: intervals of "
        f"{quantities} cover less often than they say, as they would without masking",
        EstimateWarning,
        quantities,
    )
