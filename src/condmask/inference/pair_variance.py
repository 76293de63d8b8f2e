"""How functions of the covariance and the variances of two columns vary: the theorem, from released pairs.

Moments of the originals come from those of the released records, pool by pool: by Theorem 2.1 in two
variables where the columns were masked together. A plain column does not go with the swapped, of whose pairs
the mixed moments are products; what is left of these are moments of kept pairs, which have noise in one
column alone.
"""

import numpy as np

from condmask.inference import influence
from condmask.inference.influence import Weights
from condmask.inference.parts import add
from condmask.inference.polynomial_variance import Moments, Variances, polynomial_variance
from condmask.samples.moments import theorem_2_1

DEGREE = 4  # of the squares of polynomials of degree 2
ORDERS = np.nonzero(np.tri(DEGREE + 1)[::-1])  # i and j of up to these together


def pair_variance(
    size: np.ndarray,
    released: np.ndarray,
    factor: np.ndarray,
    weights: list[Weights],
    noise: np.ndarray,
    noise_of_b: np.ndarray | None,
    p: float,
    *,
    shared_donors: bool,
) -> Variances:
    """n times the variances of functions of the covariance and the variances of pairs.

    Parameters
    ----------
    size : ndarray of shape (pools,)
        The number of pairs by donor pool, some of which may have none.
    released : ndarray of shape (pools, orders, orders)
        The means of a^i b^j of the pairs in safe units, by donor pool.
    factor : ndarray of shape (pools,)
        What masking leaves of a covariance with a plain column.
    weights : list of Weights
        Of each function.
    noise, noise_of_b : ndarray
        Moments of the noise of either column, to order `DEGREE`; of a plain column None.
    p : float
    shared_donors : bool
    """
    size, released, factor = size[size > 0], released[size > 0], factor[size > 0]
    share = size / size.sum()
    moments = Moments(released, original_moments(released, p, noise, noise_of_b))
    means = float(share @ released[:, 1, 0]), float(share @ released[:, 0, 1])
    plain = None if noise_of_b is not None else (released[:, 1, 0], released[:, 0, 1])
    functions = influence.of_pair(weights, means, p, plain=plain, factor=factor)
    return polynomial_variance(
        moments, functions, p,
        shared_donors=shared_donors, share=share, correction=size / np.maximum(size - 1, 1),
        nonnegative=False,
    )  # fmt: skip


class PairMoments:
    """Means of a^i b^j by donor pool, i + j up to `DEGREE`, gathered part by part."""

    def __init__(self, pools: int) -> None:
        self._sums = np.zeros((DEGREE + 1, DEGREE + 1, pools))

    def add(self, a: np.ndarray, b: np.ndarray, pool: np.ndarray | None) -> None:
        """Pairs, and the number of each one's pool; None where all are one."""
        of_a, of_b = powers(a), powers(b)
        if pool is None:
            self._sums += (of_a @ of_b.T)[..., None]
            return
        for i, j in zip(*ORDERS, strict=True):
            add(self._sums[i, j], pool, of_a[i] * of_b[j])

    @property
    def size(self) -> np.ndarray:
        """The number of pairs, by pool."""
        return np.asarray(self._sums[0, 0])

    @property
    def released(self) -> np.ndarray:
        """The means, of shape (pools, orders, orders); 0 of higher orders."""
        means = np.zeros((self.size.size, DEGREE + 1, DEGREE + 1))
        means[:, ORDERS[0], ORDERS[1]] = (self._sums[ORDERS] / np.maximum(self.size, 1.0)).T
        return means


def powers(x: np.ndarray) -> np.ndarray:
    """The powers of values, of shape (orders, n)."""
    powers = np.ones((DEGREE + 1, x.size))
    for k in range(DEGREE):
        np.multiply(powers[k], x, out=powers[k + 1])
    return powers


def original_moments(
    released: np.ndarray, p: float, noise: np.ndarray, noise_of_b: np.ndarray | None
) -> np.ndarray:
    """Moments of the originals by donor pool, from those of the released records, of their shape."""
    masked = np.moveaxis(released, 0, -1)
    if noise_of_b is not None:
        original = theorem_2_1(masked, p, noise, noise_of_b)
    else:
        original = masked.copy()
        original[:, 0] = theorem_2_1(masked[:, 0], p, noise)
        swapped = original[:, :1] * masked[:1, 1:]
        original[:, 1:] = theorem_2_1((masked[:, 1:] - p * swapped) / (1.0 - p), 0.0, noise)
    return np.moveaxis(original, -1, 0)
