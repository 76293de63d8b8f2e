"""Moments of the original from those of the masked values: the recursion of Theorem 2.1.

With Z = X_J or X + Y, for any centre c::

    E (Z-c)^k = E (X-c)^k + (1-p) sum_{j>=1} C(k,j) E (X-c)^{k-j} E Y^j

The system is triangular, so the moments of X follow one by one, each without bias; those of two columns that
were masked together likewise. Powers are summed about the mean in a safe scale, never about 0: none overflows
or cancels.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.kernels import moments
from condmask.law import Law

TOGETHER = 1 << 20  # values that are looked at at once
MOST_BITS = 40  # of a whole number, of which there are two for each power
TINY = 2.0**-1022  # whose inverse is a number
# of the second moment about the middle: then the variance loses 10 of 53 bits by a difference
MUCH = 2.0**-10


class Powers(NamedTuple):
    """Mean powers of (z - center) / scale, orders 0, 1, 2, ..."""

    center: float
    scale: float
    means: np.ndarray


def powers(z: np.ndarray, order: int, sigma: float) -> Powers:
    """Powers about the mean, summed within blocks of rows and then block by block."""
    middle, scale = _frame(z, sigma)
    sums = [np.sum((z[start:stop] - middle) / scale) for start, stop in blocks(z.size, TOGETHER)]
    center = middle + float(sum(sums) / z.size) * scale
    total = np.zeros(order + 1)
    for start, stop in blocks(z.size):
        part = np.zeros(order + 1)
        moments.add_powers(z, center, scale, start, stop, part)
        total += part
    return Powers(center, scale, total / z.size)


def counted_powers(values: np.ndarray, counts: np.ndarray, order: int, sigma: float) -> Powers:
    """Powers about the mean of distinct values of which there are so many each."""
    middle, scale = _frame(values, sigma)
    center = middle + float(mean_powers(values, counts, middle, scale, 1)[1]) * scale
    return Powers(center, scale, mean_powers(values, counts, center, scale, order))


def mean_powers(
    values: np.ndarray, counts: np.ndarray, center: float, scale: float, order: int
) -> np.ndarray:
    """Mean powers, orders 0, 1, 2, ..., of deviations of distinct values of which there are so many each."""
    n, means = counts.sum(), np.zeros(order + 1)
    for start, stop in blocks(counts.size, TOGETHER):
        deviations, weights = (values[start:stop] - center) / scale, counts[start:stop] / n
        for k in range(order + 1):
            means[k] += np.sum(weights)
            weights = weights * deviations
    return means


def whole_powers(values: np.ndarray, counts: np.ndarray, ends: tuple[float, float], order: int) -> Powers:
    """Powers of records, or of distinct values and their counts, between these ends.

    They are summed in whole numbers, so that not a bit depends on the order of records, or on how these are
    cut and counted. Rounding to at least 52 bits below the farthest value is all that is lost.
    """
    n = int(counts.sum()) if counts.size else values.size
    bits = min(MOST_BITS, 62 - n.bit_length())

    def means(center: float, scale: float, order: int) -> list[float]:
        sums = np.zeros((order, 2), dtype=np.int64)
        for start, stop in blocks(values.size):
            held = counts[start:stop]
            moments.add_whole_powers(values[start:stop], held, center, 1.0 / scale, bits, sums)
        return [((high << bits) + low) / (n << 2 * bits) for high, low in sums.tolist()]

    center = 0.5 * ends[0] + 0.5 * ends[1]
    scale = max(ends[1] - center, center - ends[0], TINY) if ends[1] > ends[0] else 1.0
    first, *second = means(center, scale, min(order, 2))
    center = min(max(center + first * scale, ends[0]), ends[1])
    if second and order == 2 and second[0] - first**2 >= MUCH * second[0]:  # the mean is near the middle
        return Powers(center, scale, np.array([1.0, 0.0, second[0] - first**2]))
    scale = max(ends[1] - center, center - ends[0], TINY) if ends[1] > ends[0] else 1.0
    return Powers(center, scale, np.array([1.0, *means(center, scale, order)]))


def original_moments(masked: Powers, law: Law) -> Powers:
    """Mean powers of the original values about the centre of the masked ones."""
    noise = law.noise_moments(masked.means.size - 1, masked.scale)
    return masked._replace(means=theorem_2_1(masked.means, law.p, noise))


def original_variance(masked: Powers, n: int, law: Law) -> float:
    """S_Z^2 - (1-p) Var Y, divisor n - 1, in units of the square of the scale."""
    of_masked = (masked.means[2] - masked.means[1] ** 2) * n / (n - 1)
    return float(of_masked - (1.0 - law.p) * law.noise_moments(2, masked.scale)[2])


def theorem_2_1(masked: np.ndarray, p: float, *noise: np.ndarray) -> np.ndarray:
    """Moments of the original from those of the masked values, about the same centre.

    Parameters
    ----------
    masked : ndarray of shape (orders, ...) or (orders, orders, ...)
        Moments of a column; or, with the noise of two, the mixed ones of columns that were masked together.
    p : float
        The share of swapped records; 0 where all records have noise.
    *noise : ndarray of shape (orders,)
        Moments of the noise of each column.

    Returns
    -------
    ndarray of the shape of `masked`
    """
    shape, matrices = np.shape(masked)[: len(noise)], [noise_matrix(each) for each in noise]
    of_z = np.reshape(masked, (*shape, -1))
    original = np.zeros(of_z.shape)
    for orders in np.ndindex(shape):
        noisy = original[tuple(slice(k + 1) for k in orders)]  # where that of these orders is still 0
        for k, matrix in zip(orders[::-1], matrices[::-1], strict=True):
            noisy = matrix[k, : k + 1] @ noisy
        original[orders] = of_z[orders] - (1.0 - p) * noisy
    return original.reshape(np.shape(masked))


def shift(about: np.ndarray, distance: float | np.ndarray) -> np.ndarray:
    """Moments about a point `distance` below the centre: E (D + distance)^k from E D^k."""
    return np.array(
        [sum(comb(k, j) * about[j] * distance ** (k - j) for j in range(k + 1)) for k in range(len(about))]
    )


def noise_matrix(noise: np.ndarray) -> np.ndarray:
    """The matrix that takes moments of X, of orders 0, 1, 2, ..., to those of X + Y, from those of Y."""
    matrix = np.zeros((len(noise), len(noise)))
    for k in range(len(noise)):
        matrix[k, k::-1] = [comb(k, j) * factor for j, factor in enumerate(noise[: k + 1].tolist())]
    return matrix


def _frame(z: np.ndarray, sigma: float) -> tuple[float, float]:
    """The middle of the values, and the largest distance from it, or sigma."""
    lowest, highest = float(z.min()), float(z.max())
    middle = 0.5 * lowest + 0.5 * highest
    return middle, max(highest - middle, sigma) or 1.0
