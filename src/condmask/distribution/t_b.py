"""Theorem 2.3: T_b, which estimates the distribution function smoothed by a normal law, and its density.

K is smooth then, and a bandwidth of half of sigma or more makes it one `Layer` in units of the bandwidth. A
narrower one has two: its step, in units of the bandwidth, and the rest, in units of sigma. Laplace noise
has no end of frequencies but that of the smoothing, and so always one. p = 1 smooths the values themselves;
p = 0 takes Laplace noise from all of them: ``H - a^2 h'``, a its scale, H and h of the smoothed values.
Errors are below 1e-12 / p for p >= .05, of a density in units of 1 / bandwidth.
"""

from functools import cached_property
from math import pi

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Layer
from condmask.distribution.symbol import SATURATION, Masking, reach, smoothed_symbol
from condmask.distribution.t_1 import SETTLED, SPACING, smooth_of

NARROW = 1.0 / 12.0  # spacing of nodes, in bandwidths
WIDE = 0.5  # bandwidth, in sigma, from which one layer serves


class T_b:  # noqa: N801
    """T_b of counted values, at any points in their units.

    Parameters
    ----------
    counted : Counted
    masking : Masking
        0 <= p <= 1, with a bandwidth; p = 0 of Laplace noise alone.
    """

    def __init__(self, counted: Counted, masking: Masking) -> None:
        self.counted, self.masking, self.n = counted, masking, counted.n
        self.width = masking.beta * counted.unit
        self.jump, self.whole = 0.0, False
        self.shift, self.decay, self.sums = 0.0, 1.0, np.empty((2, 0))
        # of K; the least is 1 less
        self.most = 1.0 + (1.0 / masking.p if masking.p > 0.0 else masking.beta**-2)
        self.spacing = NARROW if masking.p > 0.0 else 0.5 * NARROW  # h' varies more
        self.bend = self.most / pi * self.spacing**2  # the most of the second derivative, per node
        self._far = reach(masking._replace(beta=0.0), SETTLED / (masking.p or 1.0))
        self._layers = self._made(density=False)
        self.line = self._layers[0] if len(self._layers) == 1 else self._layer(density=False)

    def at(self, x: np.ndarray) -> np.ndarray:
        """T_b at points."""
        return np.asarray(sum(layer.at(x) for layer in self._layers) / self.n)

    def density(self, x: np.ndarray) -> np.ndarray:
        """The derivative of T_b at points."""
        return np.asarray(sum(layer.at(x) for layer in self._densities) / self.n)

    def smooth(self, k: int) -> np.ndarray:
        """n T_b at the nodes of a stretch."""
        if self.line in self._layers:
            return self.line.stretch(k)
        return self.n * self.at(self.line.points(self.line.nodes(k)))

    @cached_property
    def _densities(self) -> list[Layer]:
        return self._made(density=True)

    def _made(self, *, density: bool) -> list[Layer]:
        masking, p, beta = self.masking, self.masking.p, self.masking.beta
        values, counts, unit, *_ = self.counted
        if beta >= WIDE or masking.noise == "laplace" or p == 1.0:
            return [self._layer(density=density)]

        def step(w: np.ndarray) -> np.ndarray:
            return np.asarray(np.exp(-0.5 * w * w) / p)

        far = self._far + SATURATION * beta
        return [
            Layer(values, counts, self.width, NARROW, SATURATION, step, 1.0 / p, density=density),
            Layer(values, counts, unit, SPACING, far, smooth_of(masking), 1.0 - 1.0 / p, density=density),
        ]

    def _layer(self, *, density: bool) -> Layer:
        """All of T_b; its line of nodes serves where two layers do, too."""
        values, counts, *_ = self.counted
        far = SATURATION + self._far / self.masking.beta
        return Layer(values, counts, self.width, self.spacing, far, self._whole, 1.0, density=density)

    def _whole(self, w: np.ndarray) -> np.ndarray:
        """The transform of K' at frequencies in 1 / bandwidth."""
        beta = self.masking.beta
        return np.asarray(smoothed_symbol(self.masking, w / beta, beta))
