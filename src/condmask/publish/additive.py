"""Mask by additive noise, a method to compare conditional masking with."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.estimates.from_values import Estimates, estimate_records
from condmask.law import NOISES, Law
from condmask.masking.scheme import Columns, Scheme


@dataclass(frozen=True, init=False)
class AdditiveNoise(Scheme):
    """Mask by adding zero-mean noise to every value: Z = X + Y.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in the units of the data. The paper's Laplace(0, 1000) has
        sigma = 1414.21.
    noise : {"laplace", "normal"}
        Law of the noise.

    Examples
    --------
    >>> import condmask as cm
    >>> scheme = cm.AdditiveNoise(100.0)
    >>> scheme.estimate([310.0, 420.0, 385.0, 290.0]).mean()
    351.25
    """

    method: ClassVar[str] = "AdditiveNoise"
    estimators: ClassVar[dict[str, Any]] = {"ANM": "scott"}
    keeps_gaps: ClassVar[bool] = True

    sigma: float
    noise: str = "laplace"

    def __init__(self, sigma: float, *, noise: str = "laplace") -> None:
        object.__setattr__(self, "sigma", _checks.positive(sigma, "sigma"))
        object.__setattr__(self, "noise", _checks.choice(noise, "noise", NOISES))

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator, others: Columns) -> np.ndarray:
        """Mask every row of x on its own."""
        return np.asarray(x + self.law.draw(stream, x.shape))

    @property
    def law(self) -> Law:  # type: ignore[override]
        """The law of the noise; nothing is swapped."""
        return Law(0.0, self.noise, self.sigma)

    def sentence(self) -> str:
        """Describe how a column was masked, for readers of the release."""
        return f"{self.noise} noise of standard deviation {self.sigma:g} was added to every value."

    def estimate(self, z: ArrayLike, *, nan_policy: str = "omit", workers: int = 1) -> Estimates:
        """Estimate the original values from the noisy ones.

        Parameters
        ----------
        z : array_like or series of shape (n,), or array_like of shape (replicates, n)
            Masked values.
        nan_policy, workers
            As for `ConditionalMasking.estimate`.

        Returns
        -------
        Estimate
            A distribution function and quantiles only for Laplace noise, with a bandwidth; no
            density.
        """
        return estimate_records(self, z, nan_policy=nan_policy, workers=workers)
