"""What an Estimate needs from its masked values, records or counts."""

from typing import Any, Protocol

import numpy as np

from condmask.engines.cdf import CDF
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers
from condmask.samples.noise_class import NoiseClass

CROSSINGS = ("first", "rearranged")


class MaskedSample(Protocol):
    """What an Estimate needs from its sample."""

    n: int
    law: Law

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""

    def moments(self, order: int) -> Powers:
        """Moments of the original."""

    def bandwidth(self, given: Any) -> float | None:
        """A bandwidth in the units of the data from a number or the name of a rule; None for T_1."""

    def engine(self, points: int, bandwidth: float | None, tol: float) -> str:
        """The method that ``method="auto"`` chooses."""

    def values(
        self, x: np.ndarray, bandwidth: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        """T, or its density, at the points x."""

    def quantiles(self, q: np.ndarray, bandwidth: float | None, tol: float, crossing: str) -> np.ndarray:
        """Crossings of T at the probabilities q."""

    def monotone(self, x: np.ndarray, bandwidth: float | None, tol: float) -> np.ndarray:
        """The monotone rearrangement of T, within [0, 1], at the points x."""

    def cdf(self, bandwidth: float | None, tol: float) -> CDF:
        """T as a whole, to `tol`; on a grid in its steps."""

    def from_steps(self, steps: np.ndarray) -> np.ndarray:
        """Points of that in the units of the data."""

    def noise_class(self) -> NoiseClass:
        """The records, counted on a grid."""
