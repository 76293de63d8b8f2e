"""Computes moments of the original from those of the masked values by Theorem 2.1 of Ghatak & Roy.

With Z = X_J or X + Y, for any centre c::

    E (Z-c)^k = E (X-c)^k + (1-p) sum_{j>=1} C(k,j) E (X-c)^{k-j} E Y^j

The system is triangular, so the moments of X follow one by one, each without bias; and so do the
mixed moments of two columns that were masked together. Powers are taken about the mean and divided
by a scale, so that none overflows or cancels.
"""

from itertools import accumulate
from math import comb
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.kernels import moments
from condmask.law import Law

MAX_BITS = 40  # of each of the two whole numbers that hold a power
MIN_SCALE = 2.0**-1022  # its inverse is finite
NO_COUNTS = np.empty(0, dtype=np.int64)  # for records: each value counts once


class Powers(NamedTuple):
    """Mean powers of (z - center) / scale, orders 0, 1, 2, ...; samples stand along further axes.

    Attributes
    ----------
    center : float or ndarray of shape (samples,)
    scale : float
    means : ndarray of shape (orders,) or (orders, samples)
    """

    center: float | np.ndarray
    scale: float
    means: np.ndarray


def powers(values: np.ndarray, order: int, sigma: float, counts: np.ndarray = NO_COUNTS) -> Powers:
    """Return mean powers about the mean, of records or of distinct values with counts.

    They are summed in whole numbers, so that no bit depends on the order of records, or on how
    records are split into parts and counted. Values are only rounded, to at least 52 bits below
    the farthest value, or below sigma.

    Parameters
    ----------
    values : ndarray of shape (v,)
    order : int
        The highest power.
    sigma : float
        Standard deviation of the noise.
    counts : ndarray of int of shape (v,)
        How often each value occurs; by default once.
    """
    n = int(counts.sum()) if counts.size else values.size
    bits = min(MAX_BITS, 62 - n.bit_length())
    low = float(values.min())
    high = float(values.max())
    span = max(high - low, sigma)
    scale = max(span, MIN_SCALE) if span > 0.0 else 1.0

    def means(center: float, order: int) -> list[float]:
        sums = np.zeros((order, 2), dtype=np.int64)
        per_scale = 1.0 / scale
        for start, stop in blocks(values.size):
            part = values[start:stop], counts[start:stop]
            moments.add_whole_powers(*part, center, per_scale, bits, sums)
        return [((first << bits) + rest) / (n << 2 * bits) for first, rest in sums.tolist()]

    center = min(low + means(low, 1)[0] * scale, high)
    return Powers(center, scale, np.array([1.0, *means(center, order)]))


def powers_of_rows(z: np.ndarray, order: int, sigma: float) -> Powers:
    """Return mean powers of samples, of shape (samples, n), about their means, in one scale."""
    center = z.mean(axis=-1)
    deviation = z - center[:, None]
    scale = float(max(np.abs(deviation).max(), sigma)) or 1.0
    powers = accumulate([np.ones(z.shape), *[deviation / scale] * order], np.multiply)
    return Powers(center, scale, np.array([power.mean(axis=-1) for power in powers]))


def original_moments(masked: Powers, law: Law) -> Powers:
    """Return mean powers of the original values about the centre of the masked ones."""
    noise = law.noise_moments(len(masked.means) - 1, masked.scale)
    return masked._replace(means=theorem_2_1(masked.means, law.p, noise))


def noise_variance(law: Law, unit: float) -> float:
    """Return (1-p) s^2, the variance that noise adds, in squares of the unit."""
    return float((1.0 - law.p) * law.noise_moments(2, unit)[2])


def theorem_2_1(masked: np.ndarray, p: float, *noise: np.ndarray) -> np.ndarray:
    """Return moments of the original, given those of the masked values about the same centre.

    Parameters
    ----------
    masked : ndarray of shape (orders, ...) or (orders, orders, ...)
        Moments of a column; or, with the noise of two columns, the mixed moments of columns that
        were masked together.
    p : float
        The share of swapped records; 0 where all records have noise.
    *noise : ndarray of shape (orders,)
        Moments of the noise of each column.

    Returns
    -------
    ndarray of the shape of `masked`
    """
    shape = np.shape(masked)[: len(noise)]
    matrices = [noise_matrix(each) for each in noise]
    of_z = np.reshape(masked, (*shape, -1))
    original = np.zeros(of_z.shape)
    for orders in np.ndindex(shape):
        # the moment of these orders itself is still 0 here
        noisy = original[tuple(slice(k + 1) for k in orders)]
        for k, matrix in zip(orders[::-1], matrices[::-1], strict=True):
            noisy = matrix[k, : k + 1] @ noisy
        original[orders] = of_z[orders] - (1.0 - p) * noisy
    return original.reshape(np.shape(masked))


def shift(about: np.ndarray, distance: float | np.ndarray) -> np.ndarray:
    """Return moments about a point `distance` below the centre: E (D + distance)^k from E D^k."""
    return np.array(
        [
            sum(comb(k, j) * about[j] * distance ** (k - j) for j in range(k + 1))
            for k in range(len(about))
        ]
    )


def noise_matrix(noise: np.ndarray) -> np.ndarray:
    """Return the matrix that turns moments of X, of orders 0, 1, 2, ..., into those of X + Y.

    `noise` holds the moments of Y.
    """
    matrix = np.zeros((len(noise), len(noise)))
    for k in range(len(noise)):
        matrix[k, k::-1] = [
            comb(k, j) * factor for j, factor in enumerate(noise[: k + 1].tolist())
        ]
    return matrix
