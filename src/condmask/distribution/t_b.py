"""Estimates the distribution function smoothed by a normal law, and its density: T_b, Theorem 2.3.

Of Ghatak & Roy. K is smooth, and T_b is one `Layer` in units of the bandwidth. With p = 1 the
values themselves are smoothed. With p = 0, where Laplace noise of scale a was added to all values,
T_b is ``H - a^2 h'``, H and h being the distribution function and density of the smoothed values.
Errors are below 1e-12 / p for p >= .05; those of the density in units of 1 / bandwidth.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from math import pi
from typing import Any

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Kernel, Layer
from condmask.distribution.symbol import SATURATION, Masking, reach, smoothed_symbol
from condmask.distribution.t_1 import SETTLED

SPACING_PER_BANDWIDTH = 1.0 / 12.0  # distance of nodes


class T_b:  # noqa: N801
    """T_b of counted values, a `Curve`, at any points in their units.

    Parameters
    ----------
    counted : Counted
        The masked values.
    masking : Masking
        With a bandwidth and 0 <= p <= 1; p = 0 under Laplace noise alone.
    """

    def __init__(self, counted: Counted, masking: Masking) -> None:
        self.counted = counted
        self.masking = masking
        self.n: int = counted.n
        self.jump: float = 0.0
        self.whole = False
        self.shift: float = 0.0
        self.decay: float = 1.0
        self.sums: np.ndarray = np.empty((2, 0))
        self.max_weight: float = 1.0 + (1.0 / masking.p if masking.p > 0.0 else masking.beta**-2)
        self.spacing: float = SPACING_PER_BANDWIDTH
        if masking.p == 0.0:
            self.spacing *= 0.5  # h' varies more
        self.bend: float = self.max_weight / pi * self.spacing**2
        self.line: Layer = self._layer(density=False)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return T_b at points, of shape (points,)."""
        return self.line.at(x) / self.n

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of T_b at points, per unit of the values."""
        return self._density.at(x) / self.n

    def smooth(self, k: int) -> np.ndarray:
        """Return n T_b at the nodes of stretch k of the line."""
        return self.line.stretch(k)

    @cached_property
    def _density(self) -> Layer:
        return self._layer(density=True)

    def _layer(self, *, density: bool) -> Layer:
        masking = self.masking
        (values, counts, unit) = self.counted
        far = reach(masking._replace(beta=0.0), SETTLED / (masking.p or 1.0))
        kernel = Kernel(self.spacing, transform_of(masking), 1.0, density)
        return Layer(values, counts, unit * masking.beta, SATURATION + far / masking.beta, kernel)


@lru_cache(64)
def transform_of(masking: Masking) -> Callable[[np.ndarray], Any]:
    """Return the transform of K', as a function of the frequency in 1 / bandwidth."""
    # no method of T_b, which the caches of multipliers would then keep alive
    return lambda w: smoothed_symbol(masking, w / masking.beta, masking.beta)
