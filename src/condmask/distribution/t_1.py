"""Theorem 2.2: T_1, unbiased for the distribution function of the original.

Its steps are counted exactly; the smooth rest is a `Layer`, read half a step to the right of a grid point,
where it is exact. On grids too coarse for that it is summed at whole steps; under Laplace noise it is a sum
of exponentials, by recursion. Errors are below 1e-12 / p for p >= .05, 4e-11 / p at 1e-4.
"""

from typing import Literal

import numpy as np

from condmask.distribution import quantiles
from condmask.distribution.counting import Counted
from condmask.distribution.layer import Layer
from condmask.distribution.symbol import Masking, bend, is_coarse, laplace_tail, reach, smooth_symbol, symbol
from condmask.kernels.exponentials import weighted_sums

SPACING = 1.0 / 16.0  # of nodes, in sigma
SETTLED = 1e-15  # in 1/p


class T_1:  # noqa: N801
    """T_1 of counted values; on a grid all points are whole steps.

    Parameters
    ----------
    counted : Counted
    masking : Masking
        0 < p <= 1; without a bandwidth.
    """

    def __init__(self, counted: Counted, masking: Masking) -> None:
        self.counted, self.masking, self.n = counted, masking, counted.n
        self.finest = 1.0 if masking.delta > 0.0 else 1e-13 * counted.unit  # distance of two points
        self.most = 1.0 / masking.p + (masking.p < 1.0)  # of K; the least is 1 less that
        self.bend = bend(masking) * SPACING**2  # the most of the second derivative, per node
        self.by_recursion = masking.noise == "laplace" and masking.p < 1.0 and not is_coarse(masking)
        self.line = self._layer()
        self.jump = 1.0 / masking.p
        if self.by_recursion:
            amplitude, decay = laplace_tail(masking)
            self.jump, self._decay = 1.0 + 2.0 * amplitude, decay * counted.unit
            self._sums = np.empty((2, counted.values.size))
            weighted_sums(counted.values, counted.counts.astype(np.float64), self._decay, *self._sums)

    def at(self, x: np.ndarray) -> np.ndarray:
        """T_1 at points."""
        return self._sum(x, "right", self._smooth(x))

    def sides(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T_1 at points, and just before them."""
        if self.masking.delta > 0.0:
            return self.at(x), self.at(x - 1.0)
        smooth = self._smooth(x)
        return self._sum(x, "right", smooth), self._sum(x, "left", smooth)

    def points(
        self, low: float = -np.inf, high: float = np.inf, parts: int = 4
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values, and points between them, ascending; T_1 there and just before.

        Parameters
        ----------
        low, high : float
            Between which points are wanted.
        parts : int
            How many points for each sixteenth of sigma.
        """
        x = self.values_and_nodes(low, high, parts)
        return x, *self.sides(x)

    def values_and_nodes(self, low: float, high: float, parts: int) -> np.ndarray:
        """The same points alone."""
        first, last = np.searchsorted(self.counted.values, (low, high))
        return np.union1d(self.nodes(low, high, parts), self.counted.values[first:last])

    def nodes(self, low: float, high: float, parts: int) -> np.ndarray:
        """Those points that are no values."""
        nodes = self.line.between(low, high, parts)
        return np.unique(np.floor(nodes) if self.masking.delta > 0.0 else nodes)

    def first(self, q: np.ndarray) -> np.ndarray:
        """The least points at which T_1 is at least q."""
        if self.masking.p == 1.0:
            ranks = np.searchsorted(self.counted.below[1:] / self.n, q)
            return np.asarray(self.counted.values[np.minimum(ranks, self.counted.values.size - 1)])
        return quantiles.first(self, q)

    def _layer(self) -> Layer:
        """The smooth part; where there is none, or another way to it, its line of nodes alone."""
        counted, masking, p = self.counted, self.masking, self.masking.p
        far = reach(masking, SETTLED / p)
        if not is_coarse(masking):
            return Layer(
                counted.values, counted.counts, counted.unit, SPACING, far,
                lambda w: smooth_symbol(masking, w), 1.0 - 1.0 / p,
            )  # fmt: skip

        def of_whole_steps(w: np.ndarray) -> np.ndarray:
            smooth = 1.0 / (p + (1.0 - p) * symbol(masking, w / masking.delta)) - 1.0 / p
            return np.asarray(smooth * 1j * w / -np.expm1(-1j * w))

        return Layer(
            counted.values, counted.counts, 1.0, 1.0, far / masking.delta, of_whole_steps, 1.0 - 1.0 / p
        )

    def _smooth(self, x: np.ndarray) -> np.ndarray:
        if self.masking.p == 1.0:
            return np.zeros(x.size)
        if self.masking.delta > 0.0 and not is_coarse(self.masking):
            x = x + 0.5
        if not self.by_recursion:
            return self.line.at(x)
        values = self.counted.values
        i = np.searchsorted(values, x, side="right")
        before, after = np.maximum(i - 1, 0), np.minimum(i, values.size - 1)
        left = np.where(i > 0, np.exp(np.minimum((values[before] - x) / self._decay, 0.0)), 0.0)
        right = np.where(i < values.size, np.exp(np.minimum((x - values[after]) / self._decay, 0.0)), 0.0)
        decayed = 0.5 * (right * self._sums[1, after] - left * self._sums[0, before])
        return np.asarray(-(self.jump - 1.0) * (self.counted.below[i] + decayed))

    def _sum(self, x: np.ndarray, side: Literal["left", "right"], smooth: np.ndarray) -> np.ndarray:
        steps = self.counted.below[np.searchsorted(self.counted.values, x, side=side)]
        return np.asarray((steps * self.jump + smooth) / self.n)
