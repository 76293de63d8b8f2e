r"""Computes influence functions of moments, and of functions of a covariance and two variances.

On the originals, h is the derivative of the target. On the released records the estimate has an
influence function phi. If both columns are swapped together, phi is the polynomial whose mean over
the masked values equals that of h over the originals (Theorem 2.1 of Ghatak & Roy). If the second
column is unmasked, and so stays with its record, only the product is divided by the factor by
which masking shrinks a covariance (Theorem 2.5).
"""

from math import comb

import numpy as np

from condmask.inference.polynomial_variance import Influence
from condmask.moments.theorem_2_1 import shift, theorem_2_1


def influence_of_moment(
    means: np.ndarray, order: int, about: float | np.ndarray | None, noise: np.ndarray, p: float
) -> Influence:
    """Return the influence functions of a moment of one column, polynomials in its deviations from
    a centre.

    Parameters
    ----------
    means : ndarray of shape (orders, ...)
        Moments of the original about the centre, up to `order` at least; of one sample or of
        several.
    order : int
    about : float or ndarray, optional
        The centre less the point about which the moment is taken; None for a central moment, for
        which the mean is estimated, too.
    noise : ndarray
        Moments of the noise, up to `order`.
    p : float
    """
    distance = -means[1] if about is None else np.asarray(about)
    moments = shift(means, distance)
    h = np.array([comb(order, k) * distance ** (order - k) for k in range(order + 1)])
    if about is None:
        slope = order * moments[order - 1]
        h[0] -= slope * distance
        h[1] -= slope
    h[0] -= moments[order]
    phi = theorem_2_1(np.eye(order + 1), p, noise).T @ h
    h, phi = (np.moveaxis(each, 0, -1)[..., None, :, None] for each in (h, phi))
    return Influence(phi, h, phi, 0.0 * phi)


def influence_of_pair(
    weights: np.ndarray,
    means: tuple[np.ndarray | float, np.ndarray | float],
    *,
    plain: tuple[np.ndarray, np.ndarray] | None = None,
    factor: np.ndarray | float = 1.0,
) -> Influence:
    """Return the influence functions of functions of the covariance and variances of two columns.

    Parameters
    ----------
    weights : array_like of shape (..., functions, 3)
        The derivatives of each function by the covariance and by both variances.
    means : (float, float), or arrays that broadcast to (..., functions, 1)
        Of the originals of all donor pools.
    plain : (ndarray, ndarray) that broadcast to (..., functions, pools), optional
        The means of both columns by donor pool if the second is unmasked; None if both are
        masked.
    factor : ndarray that broadcasts to the same shape
        The factor by which masking shrinks a covariance with an unmasked column.
    """
    c, first, second = np.moveaxis(np.asarray(weights), -1, 0)[..., None]
    (m, n) = means
    pools = 1 if plain is None else plain[0].shape[-1]
    h = np.zeros((*c.shape[:-1], pools, 3, 3))
    h[..., 1, 1] = c
    h[..., 2, 0] = first
    h[..., 0, 2] = second
    h[..., 1, 0] = -n * c - 2.0 * m * first
    h[..., 0, 1] = -m * c - 2.0 * n * second
    if plain is None:
        return Influence(h, h, h, 0.0 * h)
    mu, nu = plain
    phi = h.copy()
    at = np.zeros(h.shape)
    margin = np.zeros(h.shape)
    phi[..., 1, 1] = c / factor
    phi[..., 1, 0] += c * (nu - nu / factor)
    phi[..., 0, 1] += c * (mu - mu / factor)
    at[..., 2, 0] = first
    at[..., 1, 0] = h[..., 1, 0] + c * nu
    margin[..., 0, 2] = second
    margin[..., 0, 1] = h[..., 0, 1] + c * mu
    return Influence(phi, h, at, margin)
