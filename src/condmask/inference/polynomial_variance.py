r"""Computes the variance of an estimate that is, to first order, the mean of a polynomial.

Such an estimate is a mean of phi(Z, W), where W is a second column, if there is one. The variances
in the theorem (see `theorem`) are then means of products of polynomials: over the released
records, of phi; over the originals, of h, the influence function of the target, of the mean of phi
given the file, and of the two margins of phi (docs/inference.rst, "The theorem").

Polynomials are arrays: entry [..., i, j] is the factor of x^i w^j; in an array of moments it is
the mean of x^i w^j. Leading axes are free; the last of them, in moments as well, runs over donor
pools.
"""

from typing import NamedTuple

import numpy as np

from condmask.inference.theorem import Variance, given_file


class Influence(NamedTuple):
    """Influence functions: polynomials of shape (..., pools, degrees, degrees), up to constants.

    Attributes
    ----------
    phi : ndarray
        The influence of a released record on the estimate.
    h : ndarray
        The influence of an original record on the target.
    at, margin : ndarray
        The mean of phi over other records' w, a polynomial in x, and over other records' x, a
        polynomial in w; phi and 0 if both columns are swapped together.
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
    """Return n times the variances of estimates with these influence functions, in the shape of
    their leading axes.

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
        Factor of the variances of released records: n / (n - 1) for those of a sample.
    nonnegative : bool
        Whether negative estimates of variances over the originals are set to 0. If the variances
        of several functions are to be combined as a quadratic form, they must not be.
    """
    phi, h, at, margin = influence
    without_donors = h - p * at  # the influence of a record other than as a donor
    v, d, inside, a = (
        np.sum(share * each, axis=-1)
        for each in (
            correction * polynomial_covariance(phi, phi, released),
            polynomial_covariance(without_donors, without_donors, original),
            polynomial_covariance(h, h, original),
            polynomial_covariance(margin, at, original),
        )
    )
    if nonnegative:
        d = np.maximum(d, 0.0)
        inside = np.maximum(inside, 0.0)
    file = np.maximum(given_file(v, d, inside, a, shared_donors=shared_donors, p=p), 0.0)
    mean, square = (
        np.sum(share * polynomial_mean(each, original), axis=-1) for each in (h, product(h, h))
    )
    return Variance(file, np.maximum(square - mean**2, 0.0))


def polynomial_covariance(one: np.ndarray, other: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return the covariance of two polynomials, by donor pool."""
    means = polynomial_mean(one, moments) * polynomial_mean(other, moments)
    return np.asarray(polynomial_mean(product(one, other), moments) - means)


def polynomial_mean(polynomial: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return the mean of a polynomial, by donor pool."""
    rows, columns = polynomial.shape[-2:]
    return np.asarray(np.sum(polynomial * moments[..., :rows, :columns], axis=(-2, -1)))


def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the product of two polynomials."""
    (rows, columns) = one.shape[-2:]
    shape = other.shape[-2:]
    leading = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    terms = np.zeros((*leading, rows + shape[0] - 1, columns + shape[1] - 1))
    for i, j in np.ndindex(rows, columns):
        terms[..., i : i + shape[0], j : j + shape[1]] += one[..., i, j, None, None] * other
    return terms
