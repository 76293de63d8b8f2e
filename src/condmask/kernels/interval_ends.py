"""Computes ends of intervals for quantiles: the points at which a test last and first excludes.

A point is excluded for q if T*, within [0, 1], lies farther from q than a radius with the square
``share * (variance + binomial)``. Between an excluded point and its neighbour that is not, the
test is interpolated linearly. Cost: that of the points between the ends.

Of quantiles by Theorem 2.2 of Ghatak & Roy; see docs/inference.rst, "Quantiles".
"""

import numpy as np

from condmask._jit import kernel

MIN_DIFFERENCE = 1e-10  # of T from q at an excluded point, beyond the radius


@kernel
def read_sums(x, place, own, first, values, below, nodes, up_to, limits, jumps, total):
    """Interpolate sums of kernels over records between the cells at which they are known.

    Parameters
    ----------
    x, place : ndarray of shape (points,)
        Points, and their places in cells.
    own : ndarray of int
        The points for which sums are computed.
    first : int
        The place of the first cell.
    values, below : ndarray of shape (v,) and (v + 1,)
        Values, ascending, and the number of records before each and in all.
    nodes : ndarray of shape (cells, kernels)
        The sums at cells, without the limits of kernels.
    up_to : ndarray of shape (cells,)
        The number of records up to each cell.
    limits, jumps : ndarray of shape (kernels,)
        The contribution of a record far to the right of it, and its jump at the record.
    total : ndarray of shape (kernels used, points)
        Receives the sums.
    """
    for r in own:
        exact = below[np.searchsorted(values, x[r], side="right")]
        i = min(np.int64(place[r] - first), up_to.size - 2)
        along = place[r] - first - i
        between = up_to[i] + along * (up_to[i + 1] - up_to[i])
        for k in range(total.shape[0]):
            smooth = nodes[i, k] + along * (nodes[i + 1, k] - nodes[i, k])
            total[k, r] = smooth + limits[k] * between + jumps[k] * (exact - between)


@kernel
def interval_ends(places, values, variance, q, share, binomial, low, high):
    """Find the last excluded point below each quantile, and the first one above it.

    Parameters
    ----------
    places, values, variance : ndarray of shape (points,)
        T*, ascending, and n times the variance of T there.
    q, share, binomial : ndarray of shape (probabilities,)
        The probabilities, and the factor and summand of their squared radii.
    low, high : ndarray of shape (probabilities,)
        Receive the ends; the outermost points if none is excluded.
    """
    last = values.size - 1
    for j in range(q.size):
        k = np.searchsorted(values, q[j])
        i = k - 1
        while i >= 0 and _beyond(q[j], values[i], variance[i], share[j], binomial[j]) <= 0.0:
            i -= 1
        low[j] = _edge(places, values, variance, i, min(i + 1, last), q[j], share[j], binomial[j])
        i = k
        while i <= last and _beyond(q[j], values[i], variance[i], share[j], binomial[j]) <= 0.0:
            i += 1
        high[j] = _edge(places, values, variance, i, max(i - 1, 0), q[j], share[j], binomial[j])


@kernel(inline="always")
def _beyond(q, value, variance, share, binomial):
    """Return the distance of T* from q beyond the radius."""
    return (
        abs(min(max(value, 0.0), 1.0) - q)
        - np.sqrt(share * (variance + binomial))
        - MIN_DIFFERENCE
    )


@kernel
def _edge(places, values, variance, out, inside, q, share, binomial):
    """Return the point, between an excluded one and its neighbour, at which exclusion begins."""
    if out < 0 or out == values.size:
        return places[inside]
    beyond = _beyond(q, values[out], variance[out], share, binomial)
    within = _beyond(q, values[inside], variance[inside], share, binomial)
    along = beyond / (beyond - within) if within < beyond else 1.0
    return places[out] + min(max(along, 0.0), 1.0) * (places[inside] - places[out])
