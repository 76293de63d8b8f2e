"""Estimates the distribution function of the original without bias: T_1, Theorem 2.2 of Ghatak &
Roy.

Its steps are counted exactly. The smooth rest is a `Layer`, read half a step to the right of a
grid point, where it is exact. On grids too coarse for that it is summed at whole steps; under
Laplace noise it is a sum of exponentials, by recursion. Errors are below 1e-12 / p for p >= .05,
and below 4e-11 / p at p = 1e-4.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Kernel, Layer
from condmask.distribution.symbol import (
    Masking,
    bend,
    is_coarse,
    laplace_tail,
    reach,
    smooth_symbol,
    symbol,
)
from condmask.kernels.exponentials import weighted_sums

SPACING = 1.0 / 16.0  # distance of nodes, in sigma
SETTLED = 1e-15  # distance of K from 0 or 1 that counts as none, in 1/p


class T_1:  # noqa: N801
    """T_1 of counted values, a `Curve`. On a grid all points are whole steps.

    Parameters
    ----------
    counted : Counted
        The masked values.
    masking : Masking
        With 0 < p <= 1, and without a bandwidth.
    """

    def __init__(self, counted: Counted, masking: Masking) -> None:
        self.counted = counted
        self.masking = masking
        self.n: int = counted.n
        p = masking.p
        coarse = is_coarse(masking)
        self.max_weight: float = 1.0 / p + 1.0
        self.by_recursion: bool = masking.noise == "laplace" and not coarse
        # where the smooth part is 0 or summed otherwise, the layer only holds the line of nodes
        unit, spacing = (1.0, 1.0) if coarse else (counted.unit, SPACING)
        far = reach(masking, SETTLED / p) / (masking.delta if coarse else 1.0)
        kernel = Kernel(spacing, smooth_of(masking), 1.0 - 1.0 / p)
        self.line: Layer = Layer(counted.values, counted.counts, unit, far, kernel)
        self.bend: float = bend(masking) * SPACING**2
        self.whole: bool = masking.delta > 0.0
        self.jump: float = 1.0 / p
        self.sums: np.ndarray = np.empty((2, 0))
        self.decay: float = 1.0
        self.shift: float = 0.5 if self.whole and not coarse else 0.0
        if self.by_recursion:
            amplitude, decay = laplace_tail(masking)
            self.jump = 1.0 + 2.0 * amplitude
            self.decay = decay * counted.unit
            self.sums = np.empty((2, counted.values.size))
            weighted_sums(
                counted.values, counted.counts.astype(np.float64), self.decay, *self.sums
            )

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return T_1 at points, of shape (points,)."""
        steps = self.counted.below[np.searchsorted(self.counted.values, x, side="right")]
        return np.asarray((steps * self.jump + self._smooth(x)) / self.n)

    def smooth(self, k: int) -> np.ndarray:
        """Return n T_1 without its steps, at the nodes of stretch k of the line."""
        if self.by_recursion:
            return self._smooth(self.line.points(self.line.nodes(k)) - self.shift)
        return self.line.stretch(k)

    def _smooth(self, x: np.ndarray) -> np.ndarray:
        if self.masking.p == 1.0:
            return np.zeros(x.size)
        x = x + self.shift
        if not self.by_recursion:
            return self.line.at(x)
        values = self.counted.values
        below = self.counted.below
        return (1.0 - self.jump) * laplace_sum(values, below, self.sums, self.decay, x)


def laplace_sum(
    values: np.ndarray, below: np.ndarray, sums: np.ndarray, decay: float, x: np.ndarray
) -> np.ndarray:
    """Return, at points x, the weighted sum of Laplace distribution functions centred at values.

    Parameters
    ----------
    values : ndarray of shape (v,)
        Ascending.
    below : ndarray of shape (v + 1,)
        The weight before each value, and the total.
    sums : ndarray of shape (2, v)
        Made by `weighted_sums`.
    decay : float
        The scale of the Laplace distributions.
    x : ndarray of shape (points,)
    """
    i = np.searchsorted(values, x, side="right")
    before = np.maximum(i - 1, 0)
    after = np.minimum(i, values.size - 1)
    left = np.where(i > 0, np.exp(np.minimum((values[before] - x) / decay, 0.0)), 0.0)
    right = np.where(i < values.size, np.exp(np.minimum((x - values[after]) / decay, 0.0)), 0.0)
    return np.asarray(below[i] + 0.5 * (right * sums[1, after] - left * sums[0, before]))


@lru_cache(64)
def smooth_of(masking: Masking) -> Callable[[np.ndarray], Any]:
    """Return the transform of the smooth part of K', as a function of the frequency.

    On a coarse grid the sums are needed at whole steps alone, and frequencies are per step; else
    they are per sigma.
    """
    p = masking.p
    delta = masking.delta
    if not is_coarse(masking):
        return partial(smooth_symbol, masking)

    def of_whole_steps(w: np.ndarray) -> np.ndarray:
        smooth = 1.0 / (p + (1.0 - p) * symbol(masking, w / delta)) - 1.0 / p
        return np.asarray(smooth * 1j * w / -np.expm1(-1j * w))

    return of_whole_steps
