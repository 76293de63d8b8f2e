"""K as a certified table: piecewise polynomials of degree 7 on two zones of equal cells.

The half-weight G of weight.py is smooth at the scale of the noise, and at the scale of the bandwidth
within a few bandwidths of 0. So the table has fine cells on ``0 <= v < split`` and coarse ones up to
the reach, beyond which G is constant. A value costs one table look-up and seven multiply-adds, whatever
p, the noise's law and the tolerance.

Interpolation in the 8 Chebyshev nodes of a cell of half-width r errs by at most
``max |G^(8)| r^8 / (2^7 8!)``; the derivative is bounded through the Fourier transform of G, and the
reach through a shifted contour. The sum of both stays below ``tol``.
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import SAFE_MATH, kernel

DEGREE = 7


class Table(NamedTuple):
    """Cells of G (or of K').

    A value v is in cell ``v fine`` below ``split``; above it, cells are counted by ``coarse``.

    coefficients[k] are those of the k-th cell, in powers of the position in cells minus k + 1/2; the last
    row is the constant beyond the reach. mirror and base are -1 and 1/2 for G, which is odd about the
    step, +1 and 0 for K', which is even.
    """

    coefficients: np.ndarray
    split: float
    fine: float
    coarse: float
    base: float
    mirror: float


@kernel(fastmath=SAFE_MATH)
def sum_weights(z, x, sigma, table, start, stop):
    """Sum of the weights of z[start:stop] at the point x."""
    coefficients, split, fine, coarse, base, mirror = table
    first = split * fine
    last = coefficients.shape[0] - 1.0
    total = 0.0
    for j in range(start, stop):
        v = abs(x - z[j]) / sigma
        position = v * fine if v < split else first + (v - split) * coarse
        position = min(position, last)
        k = np.int64(position)
        s = position - k - 0.5
        value = 0.0
        for power in range(DEGREE, -1, -1):
            value = value * s + coefficients[k, power]
        total += value if x >= z[j] else mirror * value
    return total + base * (stop - start)


@kernel
def add_weights(x, z, sigma, table, start, stop, total):
    """total[i] += sum of the weights at x[i] of z[j], start <= j < stop."""
    for i in range(x.size):
        total[i] += sum_weights(z, x[i], sigma, table, start, stop)
