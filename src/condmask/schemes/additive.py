"""Additive noise: every record keeps its value plus noise. What conditional masking is compared with."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._randomness import check_rng, working_key
from condmask.estimates.additive import NoiseEstimate
from condmask.risk import interval_risk

NOISES = ("laplace", "normal")


@dataclass(frozen=True, init=False)
class AdditiveNoise:
    """Mask by adding zero-mean noise to every value: Z = X + Y.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in the units of the data. The paper's Laplace(0, 1000) has
        sigma = 1414.21.
    noise : {"laplace", "normal"}
        Law of the noise.
    """

    sigma: float
    noise: str = "laplace"

    def __init__(self, sigma: float, *, noise: str = "laplace") -> None:
        object.__setattr__(self, "sigma", _checks.positive(sigma, "sigma"))
        object.__setattr__(self, "noise", _checks.choice(noise, "noise", NOISES))

    def mask(self, x: Any, *, rng: Any = None) -> Any:
        """Add noise to a column; missing values stay missing. Same container out as in."""
        column = frames.column(x, "x")
        key = working_key(check_rng(rng), [column.array])
        return column.back(self.mask_rows(column.array[None], key.stream(0, 2))[0])

    def mask_rows(self, x: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        """Every row of x, masked on its own."""
        if self.noise == "normal":
            return x + self.sigma * stream.standard_normal(x.shape)
        return x + stream.laplace(0.0, self.sigma / np.sqrt(2.0), x.shape)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise."""
        return self.sigma**2

    def risk(self, x: Any, d: Any) -> Any:
        """P(abs(Y) < d): the chance that a masked value lies within d of the true one."""
        distances = _checks.distances(d, "d")
        found = interval_risk(np.empty(0), distances.ravel(), self)
        return found.reshape(distances.shape) if distances.shape else float(found[0])

    def mse(self, x: Any) -> float:
        """Mean squared error of masked values as guesses of the true ones: Var Y."""
        return self.sigma**2

    def estimate(self, z: Any) -> NoiseEstimate:
        """The analyst's view of noisy values."""
        return NoiseEstimate(self.sigma, self.noise, z)

    def to_dict(self) -> dict[str, Any]:
        """What is published, ready for JSON."""
        return {"method": "additive", "sigma": self.sigma, "noise": self.noise}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> "AdditiveNoise":
        """The scheme that `to_dict` described."""
        return cls(entry["sigma"], noise=entry["noise"])
