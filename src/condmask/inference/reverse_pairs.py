r"""Covariances of columns released by reverse mapping: of two together, and how those with a plain one vary.

Two columns masked together share coins and the order of the swapped; each kept one is mapped back by itself.
So the mean of phi(Z_a, Z_b) is on average that of ``p phi + (1-p) T phi`` over the originals, with
T = M_a (x) M_b, and the mean of ``Phi = (p I + (1-p) T)^{-1} x_a x_b`` that of x_a x_b. Noise is totally
positive, and so are M and T: their eigenvalues lie in [0, 1], on which a polynomial in T is as good as the
inverse. Powers of T factor, and nothing is ill-posed: the inverse is 1/p at most.
"""

from math import ceil, log, sqrt

import numpy as np

from condmask.inference.covariance import Product
from condmask.inference.influence import Weights, of_pair
from condmask.inference.linear_variance import file_variance
from condmask.inference.pair_variance import DEGREE
from condmask.inference.polynomial_variance import covariance
from condmask.inference.pseudo_values import standardised
from condmask.inference.reverse_mapped import ReverseMapped

MOST_TERMS = 20  # powers of T, beyond which rounding grows by more than the polynomial gains
CLOSE = 1e-8


def coefficients(p: float) -> np.ndarray:
    """c_j of a polynomial in t that is 1 / (p + (1-p) t) on [0, 1], to 1e-8 or with so many terms."""
    pole = (1.0 + p) / (1.0 - p)
    degree = min(MOST_TERMS, ceil(-log(CLOSE) / log(pole + sqrt(pole**2 - 1.0))))
    line = np.polynomial.Chebyshev.interpolate(lambda t: 1.0 / (p + (1.0 - p) * t), degree, domain=[0.0, 1.0])
    return np.asarray(line.convert(kind=np.polynomial.Polynomial).coef)


def joint(one: ReverseMapped, two: ReverseMapped, z: np.ndarray, w: np.ndarray) -> Product:
    """Covariance and variances of the originals of two columns masked together, in safe units.

    A donor pool has the values of both columns or lacks one of them.
    """
    both = ~(np.isnan(z) | np.isnan(w))
    (a, unit), (b, other_unit) = standardised(z), standardised(w)
    a, b = a[one.rows] - a[both].mean(), b[two.rows] - b[both].mean()
    total, c = 0.0, coefficients(one.law.p)
    for number, (rows, own) in one.pools.items():
        if number not in two.pools:
            continue
        at, other = two.pools[number]
        x, y = own.means(a[rows]), other.means(b[at])
        for factor in c:
            total += factor * float(x[own.cell] @ y[other.cell])
            x, y = own.apply(x), other.apply(y)
    degrees = int(both.sum()) - 1
    variances = float(a[both[one.rows]].var(ddof=1)), float(b[both[two.rows]].var(ddof=1))
    return total / degrees, variances, unit * other_unit


def pair_variances(own: ReverseMapped, z: np.ndarray, w: np.ndarray, weights: list[Weights]) -> np.ndarray:
    """The variances of functions of the covariance with a plain column and of both variances.

    The variances of both columns are known, so about the file the covariance alone varies. About the
    population there is the influence function on the originals besides, a polynomial of degree 2, of whose
    square the mean follows from powers of the original, undone, times powers of w.

    Returns
    -------
    ndarray of shape (2, functions)
        About the file, and about the population.
    """
    both = ~(np.isnan(z) | np.isnan(w))
    a, v = standardised(z)[0], standardised(w)[0][both]
    v = v - v.mean()
    n, present = v.size, both[own.rows]
    of_covariance = float(file_variance((v / (n - 1))[None], own, present)[0])
    u = a[own.rows] - a[both].mean()
    powers = [np.ones(n)] + [own.inverse(lambda x, k=k: x**k, u)[present] for k in (1, 2, 3)]  # type: ignore[misc]
    moments = np.zeros((DEGREE + 1, DEGREE + 1))
    for i in range(DEGREE + 1):
        moments[i, 0] = np.mean(u[present] ** i)
        for j in range(1, DEGREE + 1 - i):
            moments[i, j] = np.mean(powers[i] * v**j)
    h = of_pair(weights, (0.0, 0.0), own.law.p).h
    file = np.array(weights)[:, 0] ** 2 * max(of_covariance, 0.0)
    return np.array([file, file + np.maximum(covariance(h, h, moments)[:, 0], 0.0) / n])
