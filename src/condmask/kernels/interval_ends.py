"""Between which points of T* quantiles lie: where a test first and last excludes it.

A probability q is excluded at a point where T*, within [0, 1], lies farther from it than its
radius, whose square is ``share * (variance + binomial)``. Between an excluded point and the next
that is not, the test is taken to change as straight lines do. Cost: that of the points between the
ends.

See docs/inference.rst, "Quantiles".
"""

import numpy as np

from condmask._jit import kernel

ROUNDING = 1e-10  # of T, by which it must differ more where it does not vary


@kernel
def read_sums(x, place, own, first, values, below, nodes, up_to, limits, jumps, total):
    """Sums of kernels over records, between the cells at which they are known.

    Parameters
    ----------
    x, place : ndarray of shape (points,)
        Points, and where they are, in cells.
    own : ndarray of shape (those asked for,)
        Which of them are looked at.
    first : int
        The place of the first cell.
    values, below : ndarray of shape (v,) and (v + 1,)
        Values, ascending, and the number of records before each and in all.
    nodes : ndarray of shape (cells, kernels)
        The sums at cells, but for the limits of kernels.
    up_to : ndarray of shape (cells,)
        The number of records up to each cell.
    limits, jumps : ndarray of shape (kernels,)
        What a record adds far to the right, and at its place at once.
    total : ndarray of shape (the first kernels, points)
        Takes the sums.
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
    """The last points excluded on the way up to each quantile, and the first beyond it.

    Parameters
    ----------
    places, values, variance : ndarray of shape (points,)
        T*, ascending, and n times the variance of T there.
    q, share, binomial : ndarray of shape (probabilities,)
        The probabilities, and what makes their radii.
    low, high : ndarray of shape (probabilities,)
        Take the ends; the outermost points where none is excluded.
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
    """How much farther than its radius T* lies from q."""
    return abs(min(max(value, 0.0), 1.0) - q) - np.sqrt(share * (variance + binomial)) - ROUNDING


@kernel
def _edge(places, values, variance, out, inside, q, share, binomial):
    """Between an excluded point and its neighbour: where the test begins to exclude."""
    if out < 0 or out == values.size:
        return places[inside]
    beyond = _beyond(q, values[out], variance[out], share, binomial)
    within = _beyond(q, values[inside], variance[inside], share, binomial)
    along = beyond / (beyond - within) if within < beyond else 1.0
    return places[out] + min(max(along, 0.0), 1.0) * (places[inside] - places[out])
