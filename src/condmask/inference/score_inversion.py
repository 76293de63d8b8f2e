"""Between which points a quantile lies: where T* does not differ significantly from the probability.

T* is the monotone rearrangement of T. A point x is excluded where |T*(x) - q| is more than a radius r(x); the
interval reaches from the first point after the last that is excluded for T* < q to the first that is excluded
for T* > q, so that at an atom, where T* jumps across q, the atom itself stays.

Where a transform gives T as a whole, only its values near q are sorted. Without, the same is found by
bisection.
"""

from collections.abc import Callable

import numpy as np

from condmask.engines.cdf import CDF
from condmask.engines.rearrangement import Rearrangement

CANDIDATES = 24  # places at which an end is looked for at a time
MESH, HALVINGS = 32, 16  # values of T*
SHARES = np.arange(1, CANDIDATES) / CANDIDATES

Radius = Callable[[np.ndarray, np.ndarray], np.ndarray]  # at points, for the probabilities of these places


def invert_score_test(
    cdf: CDF, q: np.ndarray, radius: Radius, widest: float, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval for each probability, in the units of the distribution function T.

    Parameters
    ----------
    cdf : CDF
    q : ndarray
        Probabilities.
    radius : callable
        How far T* may lie from q: takes points, and for each the place of its probability in q.
    widest : float
        No radius is larger.
    tol : float
        By so much T* may stay below a probability that counts as reached, where it is searched.
    """
    known = cdf.rearrangement
    if known is None:
        return _searched(lambda values: cdf.quantile(values - tol, "rearranged"), q, radius, widest)
    return _looked_up(known, q, radius, widest)


def _looked_up(
    known: Rearrangement, q: np.ndarray, radius: Radius, widest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends from T* as a whole."""
    near = [known.between(float(each) - widest, float(each) + widest) for each in q]
    sizes, many = np.array([values.size for values, _ in near]), q.size
    own, lower = np.tile(np.arange(many), 2), np.repeat([True, False], many)

    def at(places: np.ndarray) -> np.ndarray:
        """Where T* has the values at these places, row by row; the left end where it has none."""
        found = np.zeros(places.shape)
        for row, k in enumerate(own.tolist()):
            edges = near[k][1]  # T* has value k from edge k to edge k + 1
            found[row] = edges[places[row]]
            if known.smooth and sizes[k]:
                found[row] = 0.5 * (found[row] + edges[places[row] + 1])
        return found

    def differences(places: np.ndarray) -> np.ndarray:
        """r + T* - q at the lower ends, r - T* + q at the upper ones: below 0 where x is excluded."""
        t = np.zeros(places.shape)
        for row, k in enumerate(own.tolist()):
            if sizes[k]:
                t[row] = np.clip(near[k][0][places[row]], 0.0, 1.0) - q[k]
        which = np.broadcast_to(own[:, None], places.shape)
        r = radius(at(places).ravel(), which.ravel()).reshape(places.shape)
        return np.asarray(np.where(lower[:, None], t, -t) + r)

    # an end lies between places `left` and `right`
    left, right = np.full(2 * many, -1), sizes[own]
    places = np.tile(np.array([_spread_out(values) for values, _ in near]), (2, 1))
    while np.any(right - left > 1):
        open_ = right - left > 1
        places = np.where(open_[:, None], np.clip(places, left[:, None] + 1, right[:, None] - 1), 0)
        excluded = differences(places) < 0.0
        most = places.shape[1]
        last = np.where(excluded.any(axis=1), most - 1 - np.argmax(excluded[:, ::-1], axis=1), -1)
        first = np.where(excluded.any(axis=1), np.argmax(excluded, axis=1), most)
        before, after = np.where(lower, last, first - 1), np.where(lower, last + 1, first)
        every = np.arange(2 * many)
        new = np.where(before >= 0, places[every, before], left)
        right = np.where(open_ & (after < most), places[every, np.minimum(after, most - 1)], right)
        left = np.where(open_, new, left)
        places = left[:, None] + np.rint((right - left)[:, None] * SHARES).astype(np.int64)
    ends = np.array([near[k][1][right[row]] for row, k in enumerate(own.tolist())])
    inside = (left >= 0) & (right < sizes[own])
    if known.smooth and inside.any():
        pair = np.column_stack((np.maximum(left, 0), np.minimum(right, np.maximum(sizes[own] - 1, 0))))
        d, x = differences(pair), at(pair)
        share = d[:, 0] / np.where(inside, d[:, 0] - d[:, 1], 1.0)
        ends = np.where(inside, x[:, 0] + share * (x[:, 1] - x[:, 0]), ends)
    low, high = np.split(ends, 2)
    return low, high


def _searched(
    quantiles: Callable[[np.ndarray], np.ndarray], q: np.ndarray, radius: Radius, widest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends from the quantiles of T* alone: the values of T* there are searched for."""
    own, lower = np.tile(np.arange(q.size), 2), np.repeat([True, False], q.size)

    known: dict[float, float] = {}

    def at(values: np.ndarray) -> np.ndarray:
        """Where T* has these values: 0 and 1, for which a search is long, come up again and again."""
        once, place = np.unique(values, return_inverse=True)
        new = [each for each in once.tolist() if each not in known]
        known.update(zip(new, quantiles(np.array(new)).tolist(), strict=True))
        return np.array([known[each] for each in once.tolist()])[place]

    def before(values: np.ndarray) -> np.ndarray:
        """Whether the ends lie after the first points where T* has these values."""
        x = at(values.ravel())
        side = np.broadcast_to(lower, values.shape).ravel()
        each = np.broadcast_to(own, values.shape).ravel()
        reached = q[each] + np.where(side, -1.0, 1.0) * radius(x, each)
        after, inside = np.zeros(x.size, dtype=bool), (reached > 0.0) & (reached < 1.0)
        after[inside] = x[inside] < at(reached[inside])
        found = np.where(side, after & (reached > 0.0), after | (reached >= 1.0))
        return np.asarray(found.reshape(values.shape))

    left = np.where(lower, np.maximum(q[own] - widest, 0.0), q[own])
    right = np.where(lower, q[own], np.minimum(q[own] + widest, 1.0))
    mesh = left + (right - left) * np.linspace(0.0, 1.0, MESH + 1)[:, None]
    held = before(mesh[:-1])
    last = np.where(held.any(axis=0), MESH - np.argmax(held[::-1], axis=0), 0)
    left, right = mesh[np.maximum(last - 1, 0), np.arange(own.size)], mesh[last, np.arange(own.size)]
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        still = before(middle)
        left, right = np.where(still, middle, left), np.where(still, right, middle)
    low, high = np.split(at(right), 2)
    return low, high


def _spread_out(values: np.ndarray) -> np.ndarray:
    """Places among ascending values, evenly by themselves and by value."""
    if values.size == 0:
        return np.zeros(2 * CANDIDATES, dtype=np.int64)
    even = np.linspace(float(values[0]), float(values[-1]), CANDIDATES)
    by_place = np.rint(np.linspace(0.0, values.size - 1.0, CANDIDATES)).astype(np.int64)
    return np.sort(np.append(np.searchsorted(values, even), by_place))
