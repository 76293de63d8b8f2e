"""Computes Gini coefficient and Lorenz curve as integrals of T, with their influence functions.

T is given at ascending points and just before each of them, and is taken as straight in between.

Of T by Theorem 2.2 of Ghatak & Roy; see docs/inference.rst, "Means of any function".
"""

from typing import NamedTuple

import numpy as np

from condmask.distribution.expectation import Function
from condmask.distribution.quantiles import Points, points
from condmask.distribution.t_1 import T_1
from condmask.errors import ArgumentError

INTEGRAL_POINTS_PER_NODE = 4
MAX_NODES = 1 << 21  # on the line of T, sixteen for each sigma


class Functional(NamedTuple):
    """An estimate and its influence function, which gives its change per original value."""

    value: float
    influence: Function


def points_of(t: T_1, in_units: Function) -> Points:
    """Return ascending points in the units of the data, from where T is 0 to where it is 1, T at
    these, and T just before them."""
    if t.masking.p == 1.0:
        below = t.counted.below / t.n
        return in_units(t.counted.values), below[1:], below[:-1]
    if t.line.size > MAX_NODES:
        raise ArgumentError(
            "the data must lie closer together for the Gini coefficient and the Lorenz curve, got "
            f"values with gaps around which T varies over more than {MAX_NODES // 16:,} times "
            "sigma; use quantile or moment instead"
        )
    steps, right, left = points(t, 0, t.line.size - 1, INTEGRAL_POINTS_PER_NODE)
    return in_units(steps), right, left


def gini(points: Points, mean: float, variance: np.ndarray) -> Functional:
    """Estimate the Gini coefficient: the integral of T (1 - T) + Var T, divided by the mean.

    Parameters
    ----------
    points : tuple of ndarray of shape (points,)
        Made by `points_of`.
    mean : float
        The estimated mean of the original, positive.
    variance : ndarray of shape (points,)
        Var T at the points, by which T (1 - T) is too small on average.
    """
    x, right, left = points
    length = np.diff(x)
    start = right[:-1]
    end = left[1:]
    products = 0.5 * (start + end) - (start * start + start * end + end * end) / 3.0
    value = float(length @ (products + variance[:-1])) / mean
    running = np.append(0.0, np.cumsum(length * (1.0 - start - end)))

    def influence(at: np.ndarray) -> np.ndarray:
        before = np.minimum(at - x[0], 0.0)
        beyond = np.maximum(at - x[-1], 0.0)
        return np.asarray(-(np.interp(at, x, running) + before - beyond + value * at) / mean)

    return Functional(value, influence)


def lorenz(points: Points, mean: float, share: float, quantile: float) -> Functional:
    """Estimate the ordinate of the Lorenz curve at a share of the records, from their quantile.

    Parameters
    ----------
    points : tuple of ndarray of shape (points,)
        Made by `points_of`.
    mean : float
        The estimated mean of the original, positive.
    share : float
        Between 0 and 1.
    quantile : float
        The estimated quantile of this share.
    """
    x, right, left = points
    length = np.diff(x)
    start = right[:-1]
    end = left[1:]
    # the length of each stretch before the quantile
    below = np.clip(quantile - x[:-1], 0.0, length)
    rise = np.where(length > 0.0, (end - start) / np.where(length > 0.0, length, 1.0), 0.0)
    value = (x[0] * share + float(below @ (share - start - 0.5 * below * rise))) / mean

    def influence(at: np.ndarray) -> np.ndarray:
        return np.asarray((np.minimum(at - quantile, 0.0) - value * at) / mean)

    return Functional(value, influence)
