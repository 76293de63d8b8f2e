"""Theorem 2.3: T_b, which estimates the distribution function smoothed by a normal law, and its
density.

K is smooth then, and T_b is one `Layer` in units of the bandwidth. p = 1 smooths the values
themselves; p = 0 takes Laplace noise from all of them: ``H - a^2 h'``, a its scale, H and h of the
smoothed values. Errors are below 1e-12 / p for p >= .05, of a density in units of 1 / bandwidth.
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

NARROW = 1.0 / 12.0  # spacing of nodes, in bandwidths


class T_b:  # noqa: N801
    """T_b of counted values, at any points in their units.

    Parameters
    ----------
    counted : Counted
    masking : Masking
        0 <= p <= 1, with a bandwidth; p = 0 of Laplace noise alone.
    """

    def __init__(self, counted: Counted, masking: Masking) -> None:
        self.counted = counted
        self.masking = masking
        self.n = counted.n
        self.jump = 0.0
        self.whole = False
        self.shift = 0.0
        self.decay = 1.0
        self.sums = np.empty((2, 0))
        # of K; the least is 1 less
        self.most = 1.0 + (1.0 / masking.p if masking.p > 0.0 else masking.beta**-2)
        self.spacing = NARROW if masking.p > 0.0 else 0.5 * NARROW  # h' varies more
        self.bend = self.most / pi * self.spacing**2  # the most of the second derivative, per node
        self.line = self._layer(density=False)

    def at(self, x: np.ndarray) -> np.ndarray:
        """T_b at points."""
        return self.line.at(x) / self.n

    def density(self, x: np.ndarray) -> np.ndarray:
        """The derivative of T_b at points."""
        return self._density.at(x) / self.n

    def smooth(self, k: int) -> np.ndarray:
        """n T_b at the nodes of a stretch."""
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
    """The transform of K' at frequencies in 1 / bandwidth; not of one T_b, which caches would
    hold."""
    return lambda w: smoothed_symbol(masking, w / masking.beta, masking.beta)
