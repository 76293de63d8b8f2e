r"""Covariances of columns released by reverse mapping: of two together, and how those with a plain one vary.

Two columns masked together share coins and the order of the swapped; each kept one is mapped back by itself.
So the mean of phi(Z_a, Z_b) is on average that of ``p phi + (1-p) T phi`` over the originals, with
T = M_a (x) M_b, and the mean of ``Phi = (p I + (1-p) T)^{-1} x_a x_b`` that of x_a x_b. Noise is totally
positive, and so are M and T: their eigenvalues lie in [0, 1], on which a polynomial in T is as good as the
inverse. Powers of T factor, and nothing is ill-posed: the inverse is 1/p at most.
"""

from math import ceil, log, sqrt

import numpy as np

from condmask.inference.covariance import PairSums, Product
from condmask.inference.influence import Weights, of_pair
from condmask.inference.pair_variance import DEGREE, powers
from condmask.inference.polynomial_variance import covariance
from condmask.inference.reverse_mapped import ReverseMapped

MOST_TERMS = 20  # powers of T, beyond which rounding grows by more than the polynomial gains
CLOSE = 1e-8


def coefficients(p: float) -> np.ndarray:
    """c_j of a polynomial in t that is 1 / (p + (1-p) t) on [0, 1], to 1e-8 or with so many terms."""
    pole = (1.0 + p) / (1.0 - p)
    degree = min(MOST_TERMS, ceil(-log(CLOSE) / log(pole + sqrt(pole**2 - 1.0))))
    line = np.polynomial.Chebyshev.interpolate(lambda t: 1.0 / (p + (1.0 - p) * t), degree, domain=[0.0, 1.0])
    return np.asarray(line.convert(kind=np.polynomial.Polynomial).coef)


def joint(one: ReverseMapped, two: ReverseMapped) -> Product:
    """Covariance and variances of the originals of two columns masked together, in safe units.

    A donor pool has the values of both columns or lacks one of them.
    """
    sums = PairSums(one, two.z, two.law)
    a, b, _ = sums.means
    x, y = (_powers(file, file.means - middle, one.law.p) for file, middle in ((one, a), (two, b)))
    x *= coefficients(one.law.p)[:, None]
    total = 0.0
    for part in sums.parts:
        own, other = part.cell, part.of(two.cell)
        total += sum(float(p[own] @ q[other]) for p, q in zip(x, y, strict=True))
    first, second, _ = sums.squares.tolist()
    return total / (sums.n - 1), (first, second), one.unit * two.unit


def _powers(file: ReverseMapped, x: np.ndarray, p: float) -> np.ndarray:
    """M^j x by cell, j = 0, 1, ..., as many as there are coefficients."""
    powers = np.empty((coefficients(p).size, x.size))
    powers[0] = x
    for cells, law in file.pools.values():
        for k in range(1, len(powers)):
            powers[k, cells] = law.apply(powers[k - 1, cells])
    return powers


def pair_variances(sums: PairSums, own: ReverseMapped, weights: list[Weights]) -> np.ndarray:
    """The variances of functions of the covariance with a plain column and of both variances.

    The variances of both columns are known, so about the file the covariance alone varies. About the
    population there is the influence function on the originals besides, a polynomial of degree 2, of whose
    square the mean follows from powers of the original, undone, times powers of w.

    Returns
    -------
    ndarray of shape (2, functions)
        About the file, and about the population.
    """
    a, b, _ = sums.means
    of_covariance = float(sums.variation()[0].file[0])
    undone, moments = own.powers(a), np.zeros((DEGREE + 1, DEGREE + 1))
    for part in sums.parts:
        released, of_w = powers(part.masked - a), powers(sums.other(part) - b)
        moments[:, 0] += released.sum(axis=1)
        for i in range(DEGREE):
            moments[i, 1:] += of_w[1:] @ undone[i][part.cell]
    moments /= sums.n
    h = of_pair(weights, (0.0, 0.0), own.law.p).h
    file = np.array(weights)[:, 0] ** 2 * max(of_covariance, 0.0)
    return np.array([file, file + np.maximum(covariance(h, h, moments)[:, 0], 0.0) / sums.n])
