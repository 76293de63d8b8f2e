"""Multiplicative noise: every record keeps its value times a random factor. A method to compare with."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from condmask import _checks, frames
from condmask.scheme import Columns, Scheme, known


@dataclass(frozen=True, init=False)
class MultiplicativeNoise(Scheme):
    """Multiply every value by a positive random factor of mean one: Z = X E, log E normal.

    From [1]_. There are no estimators: the mean of the masked values is right, their spread and tails are
    too wide. For noise in proportion with estimators use `ConditionalMasking` with ``scale="log"`` and
    reverse mapping.

    Parameters
    ----------
    sigma : float
        Standard deviation of the factor; .3 is some 30%.

    References
    ----------
    .. [1] J. J. Kim and W. E. Winkler, "Multiplicative noise for masking continuous data", Statistical
           Research Division report, U.S. Bureau of the Census (2003).

    Examples
    --------
    >>> import condmask as cm
    >>> scheme = cm.MultiplicativeNoise(0.3)
    >>> float(scheme.risk([1000.0, 2000.0], 100.0).round(3))
    0.2
    """

    method: ClassVar[str] = "MultiplicativeNoise"

    sigma: float

    def __init__(self, sigma: float) -> None:
        object.__setattr__(self, "sigma", _checks.positive(sigma, "sigma"))

    def mask(self, x: Any, *, rng: Any = None) -> Any:
        """Multiply a column by noise; missing values stay missing. Same container out as in."""
        return self._masked(frames.column(x, "x"), rng)

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Every row of x, masked on its own."""
        center, spread = self._logarithm()
        with np.errstate(over="ignore"):  # refused where it is released
            return np.asarray(x * np.exp(center + spread * stream.standard_normal(x.shape)))

    def risk(self, x: Any, d: Any) -> Any:
        """The chance that a masked value is closer than d to its true one: P(abs(E - 1) < d / abs(X)).

        Parameters
        ----------
        x : array_like of shape (n,)
            Original values.
        d : float or array_like
            Distances, in the units of the data.

        Returns
        -------
        float or ndarray of the shape of `d`
        """
        distances = _checks.distances(d, "d")
        values, counts = np.unique(np.abs(known(x, self.codes)), return_counts=True)
        risks = [self._within(values, distance) @ counts / counts.sum() for distance in distances.ravel()]
        return np.reshape(risks, distances.shape) if distances.shape else np.float64(risks[0])

    def sentence(self) -> str:
        """How a column was masked, for readers of the release."""
        return (
            "every value was multiplied by a random factor of mean one and standard deviation "
            f"{self.sigma:g} (lognormal)."
        )

    def _within(self, size: np.ndarray, distance: float) -> np.ndarray:
        center, spread = self._logarithm()
        with np.errstate(divide="ignore"):
            share = np.where(size > 0.0, distance / size, np.inf)
            low = np.log(np.maximum(1.0 - share, 0.0))
            return np.asarray(ndtr((np.log1p(share) - center) / spread) - ndtr((low - center) / spread))

    def _logarithm(self) -> tuple[float, float]:
        """Mean and standard deviation of log E, so that E has mean one."""
        # the square of a large one may be too large for a number, and 1 changes nothing in it
        square = np.log1p(self.sigma**2) if self.sigma < 2.0**53 else 2.0 * np.log(self.sigma)
        return -0.5 * float(square), float(np.sqrt(square))
