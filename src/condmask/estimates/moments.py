"""Moments of one column about a safe centre, in a safe scale: no power overflows or cancels."""

from math import comb
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.kernels import moments
from condmask.law import Law


class Powers(NamedTuple):
    """Mean powers of (z - center) / scale, orders 0, 1, 2, ..."""

    center: float
    scale: float
    means: np.ndarray


def powers(z: np.ndarray, order: int, sigma: float) -> Powers:
    """Powers about the mean, summed within blocks of rows and then block by block."""
    lowest, highest = float(z.min()), float(z.max())
    middle = 0.5 * lowest + 0.5 * highest
    scale = max(highest - middle, sigma) or 1.0
    center = middle + float(np.mean((z - middle) / scale)) * scale
    total = np.zeros(order + 1)
    for start, stop in blocks(z.size):
        part = np.zeros(order + 1)
        moments.add_powers(z, center, scale, start, stop, part)
        total += part
    return Powers(center, scale, total / z.size)


def original_moments(z: np.ndarray, order: int, law: Law) -> Powers:
    """The same of the original values: Theorem 2.1."""
    masked = powers(z, order, law.sigma)
    return masked._replace(means=unmask(masked.means, law.noise_moments(order, masked.scale), law.p))


def original_variance(z: np.ndarray, law: Law | None) -> tuple[float, float]:
    """S_Z^2 - (1-p) Var Y, divisor n - 1, in units of the square of a scale; and the scale.

    A column that was not masked (law None) has S^2.
    """
    _, scale, means = powers(z, 2, 0.0 if law is None else law.sigma)
    masked = (means[2] - means[1] ** 2) * z.size / (z.size - 1)
    if law is None:
        return float(masked), scale
    return float(masked - (1.0 - law.p) * law.noise_moments(2, scale)[2]), scale


def unmask(masked, noise, p):
    """Moments of the original about a centre, from those of the masked values and of the noise (Thm 2.1)."""
    original = np.empty(np.shape(masked))
    for k in range(len(masked)):
        added = sum(comb(k, j) * original[k - j] * noise[j] for j in range(1, k + 1))
        original[k] = masked[k] - (1.0 - p) * added
    return original


def shift(moments, distance):
    """Moments about a point `distance` below the centre: E (D + distance)^k from E D^k."""
    order = len(moments)
    return np.array(
        [sum(comb(k, j) * moments[j] * distance ** (k - j) for j in range(k + 1)) for k in range(order)]
    )
