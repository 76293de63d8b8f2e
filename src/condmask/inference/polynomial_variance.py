r"""The variance of an estimate whose linearisation is the mean of a polynomial: the theorem, by
moments.

Such an estimate is a mean of phi(Z, W), W a second column where there is one. All that the theorem
asks (see `theorem`) are then means of products of polynomials: of phi over the released records,
and over the originals of h, the influence function of the target, of what phi is on average given
the file, and of its two margins (docs/inference.rst, "The theorem").

Polynomials are arrays: entry [..., i, j] is the factor of x^i w^j, and in moments it is the mean
of that. Leading axes are free; the last of them, which moments have too, is that of the donor
pools.
"""

from typing import NamedTuple

import numpy as np

from condmask.inference.theorem import Variance, given_file


class Influence(NamedTuple):
    """Influence functions, polynomials of shape (..., pools, degrees, degrees), up to constants.

    Attributes
    ----------
    phi : ndarray
        Of the estimate on a released record.
    h : ndarray
        Of its target on an original one.
    at, margin : ndarray
        The means of phi over other records' w, a polynomial in x, and over other records' x, one
        in w; phi and 0 where all that phi is of is swapped together.
    """

    phi: np.ndarray
    h: np.ndarray
    at: np.ndarray
    margin: np.ndarray


def polynomial_variance(
    released: np.ndarray,
    original: np.ndarray,
    influence: Influence,
    p: float,
    *,
    shared_donors: bool,
    share: np.ndarray | float = 1.0,
    correction: np.ndarray | float = 1.0,
    nonnegative: bool = True,
) -> Variance:
    """n times the variances of estimates with these influence functions, in the shape of their
    leading axes.

    Parameters
    ----------
    released, original : ndarray of shape (..., pools, orders, orders)
        The means of x^i w^j over the released records and over the originals.
    influence : Influence
    p : float
    shared_donors : bool
        Whether several records may share a donor.
    share : ndarray of shape (pools,)
        The share of the records in each donor pool.
    correction : ndarray of shape (pools,)
        By what variances of released records are multiplied: n / (n - 1) where they are those of a
        sample.
    nonnegative : bool
        Whether variances over the originals, which may be estimated negative, are then 0. Those of
        several functions that are to be combined must not be, or they are no quadratic form.
    """
    phi, h, at, margin = influence
    itself = h - p * at  # what a record shows itself, and not as a donor
    v, d, inside, a = (
        np.sum(share * each, axis=-1)
        for each in (
            correction * covariance(phi, phi, released),
            covariance(itself, itself, original),
            covariance(h, h, original),
            covariance(margin, at, original),
        )
    )
    if nonnegative:
        d = np.maximum(d, 0.0)
        inside = np.maximum(inside, 0.0)
    file = np.maximum(given_file(v, d, inside, a, shared_donors=shared_donors, p=p), 0.0)
    mean, square = (
        np.sum(share * mean_of(each, original), axis=-1) for each in (h, product(h, h))
    )
    return Variance(file, np.maximum(square - mean**2, 0.0))


def covariance(one: np.ndarray, other: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """The covariance of two polynomials, by donor pool."""
    means = mean_of(one, moments) * mean_of(other, moments)
    return np.asarray(mean_of(product(one, other), moments) - means)


def mean_of(polynomial: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """The mean of a polynomial, by donor pool."""
    rows, columns = polynomial.shape[-2:]
    return np.asarray(np.sum(polynomial * moments[..., :rows, :columns], axis=(-2, -1)))


def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The product of two polynomials."""
    (rows, columns) = one.shape[-2:]
    shape = other.shape[-2:]
    leading = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    terms = np.zeros((*leading, rows + shape[0] - 1, columns + shape[1] - 1))
    for i, j in np.ndindex(rows, columns):
        terms[..., i : i + shape[0], j : j + shape[1]] += one[..., i, j, None, None] * other
    return terms
