"""Mask by multiplicative noise, a method to compare conditional masking with."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from condmask import _checks
from condmask.masking.scheme import Columns, Scheme


@dataclass(frozen=True, init=False)
class MultiplicativeNoise(Scheme):
    """Multiply every value by a positive random factor of mean one: Z = X E, log E normal.

    From [1]_. There are no estimators: the mean of the masked values is right, their spread and
    tails are too wide. For noise in proportion with estimators use `ConditionalMasking` with
    ``scale="log"`` and reverse mapping.

    Parameters
    ----------
    sigma : float
        Standard deviation of the factor; .3 is some 30%.

    References
    ----------
    .. [1] J. J. Kim and W. E. Winkler, "Multiplicative noise for masking continuous data",
           Statistical Research Division report, U.S. Bureau of the Census (2003).

    Examples
    --------
    >>> import condmask as cm
    >>> cm.MultiplicativeNoise(0.3).mask([1000.0, 2000.0], rng=1).round()
    array([ 536., 1905.])
    """

    method: ClassVar[str] = "MultiplicativeNoise"
    keeps_gaps: ClassVar[bool] = True

    sigma: float

    def __init__(self, sigma: float) -> None:
        object.__setattr__(self, "sigma", _checks.positive(sigma, "sigma"))

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own."""
        # the square of a large one may be too large for a number, and 1 changes nothing in it
        square = np.log1p(self.sigma**2) if self.sigma < 2.0**53 else 2.0 * np.log(self.sigma)
        # the variance of log E; half of it below 0 lies the mean, so that E has mean one
        logarithm = np.sqrt(square) * stream.standard_normal(x.shape) - 0.5 * square
        with np.errstate(over="ignore"):  # refused where it is released
            return np.asarray(x * np.exp(logarithm))

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        return (
            "every value was multiplied by a random factor of mean one and standard deviation "
            f"{self.sigma:g} (lognormal)."
        )
