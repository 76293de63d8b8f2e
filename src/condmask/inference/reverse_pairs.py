r"""Covariances of columns released by reverse mapping: of two together, and how those with a plain one vary.

Two columns masked together share coins and the order of the swapped; each kept one is mapped back by itself.
So the mean of phi(Z_a, Z_b) is on average that of ``p phi + (1-p) T phi`` over the originals, with
T = M_a (x) M_b, and the mean of ``Phi = (p I + (1-p) T)^{-1} x_a x_b`` that of x_a x_b. Noise is totally
positive, and so are M and T: their eigenvalues lie in [0, 1], on which a polynomial in T is as good as the
inverse. Powers of T factor, and nothing is ill-posed: the inverse is 1/p at most.
"""

from collections.abc import Sequence
from math import ceil, log, sqrt

import numpy as np

from condmask.inference.covariance import Product
from condmask.inference.linear_variance import file_variance
from condmask.inference.pair_moments import Weights
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


def spreads(own: ReverseMapped, z: np.ndarray, w: np.ndarray, by: Sequence[Weights]) -> np.ndarray:
    """The variances about the file and the population of functions of the covariance with a plain column.

    The variances of both columns are known, so about the file the covariance alone varies. About the
    population there is the influence function on the originals besides, a polynomial of degree 2, of whose
    square the mean follows from powers of the original, undone, times powers of w. Of shape (2, functions).
    """
    both = ~(np.isnan(z) | np.isnan(w))
    a, v = standardised(z)[0], standardised(w)[0][both]
    v = v - v.mean()
    n = v.size
    known = both[own.rows]
    weights = v / (n - 1)
    alone = float(file_variance(weights[None], own, known)[0])
    u = a[own.rows] - a[both].mean()
    powers = [np.ones(n)] + [own.inverse(lambda x, k=k: x**k, u)[known] for k in (1, 2, 3)]  # type: ignore[misc]

    def moment(i: int, j: int) -> float:
        return float(np.mean((powers[i] if j else u[known] ** i) * v**j))

    found = []
    for c, first, second in by:
        mean = c * moment(1, 1) + first * moment(2, 0) + second * moment(0, 2)
        square = (
            c * c * moment(2, 2) + first**2 * moment(4, 0) + second**2 * moment(0, 4)
            + 2.0 * (c * first * moment(3, 1) + c * second * moment(1, 3) + first * second * moment(2, 2))
        )  # fmt: skip
        about_file = c * c * max(alone, 0.0)
        found.append((about_file, about_file + max(square - mean * mean, 0.0) / n))
    return np.array(found).T
