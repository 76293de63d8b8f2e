"""Interval of a parameter between -1 and 1 from a normal estimate that may lie outside (Feldman and Cousins).

Under the hypothesis r the estimate has the mean r and the standard error s(r). Of all estimates x those are
accepted, up to the level, that r explains best compared with the r in [-1, 1] that explains them best. With
d = (1 - r)/s the distance to the upper bound, x is accepted up to (x - r)/s = sqrt(c) where that is within
the bound, and else, the best being the bound itself, up to (d + c/d)/2. On the other side likewise; c is what
gives the level. The r that accept an estimate are its interval: never empty, never a point, and of the level
right up to the bounds, where an interval that is cut off there misses or covers too much.

G. J. Feldman and R. D. Cousins, "Unified approach to the classical statistical analysis of small signals",
Phys. Rev. D 57 (1998) 3873-3889.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

HALVINGS = 40  # of the likelihood ratio: to 1e-11
# where an end is looked for, from the estimate outwards: in standard errors, and over the whole range
NEAR, FAR = np.linspace(0.0, 6.0, 49), np.linspace(0.0, 2.0, 65)
WITHIN, TIMES = np.linspace(0.0, 1.0, 33), 5  # by how many finer ones, again and again: to 32^-4 of a step


def interval(estimate: float, error: Callable[[np.ndarray], np.ndarray], level: float) -> tuple[float, float]:
    """The ends, for a standard error that depends on the parameter."""
    nearest = float(np.clip(estimate, -1.0, 1.0))
    unit = float(error(np.array([nearest]))[0])
    steps = np.unique(np.concatenate((unit * NEAR, FAR)))
    found = []
    for side in (-1.0, 1.0):
        points = np.unique(np.clip(nearest + side * steps, -1.0, 1.0))[:: int(side)]
        for _ in range(TIMES):
            last = int(np.flatnonzero(_accepted(estimate, points, error(points), level)).max(initial=0))
            end = float(points[last])
            if last == points.size - 1:
                break
            points = end + (points[last + 1] - end) * WITHIN
        found.append(end)
    return found[0], found[1]


def placed(
    value: np.ndarray, error: np.ndarray, low: float, high: np.ndarray | float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends for parameters between `low` and `high`, of known standard errors."""
    from scipy.special import ndtri  # takes .1 s to import

    reach = float(ndtri(0.5 + 0.5 * level)) * error
    ends = np.array([value - reach, value + reach])
    high = np.broadcast_to(high, value.shape)
    # further in than that no bound matters
    for at in zip(*np.nonzero((ends[0] - reach < low) | (ends[1] + reach > high)), strict=True):
        half = 0.5 * (high[at] - low)
        own = interval(
            (value[at] - low) / half - 1.0, partial(np.full_like, fill_value=error[at] / half), level
        )
        ends[(slice(None), *at)] = low + half * (1.0 + np.array(own))
    return ends[0], ends[1]


def _accepted(estimate: float, r: np.ndarray, error: np.ndarray, level: float) -> np.ndarray:
    """Which of the parameters explain the estimate well enough."""
    from scipy.special import ndtr, ndtri  # takes .1 s to import

    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = (1.0 - r) / error, (1.0 + r) / error
        apart = (estimate - r) / error
        least, most = np.zeros(r.size), np.full(r.size, ndtri(0.5 + 0.5 * level) ** 2)
        near = np.flatnonzero(np.minimum(above, below) ** 2 < most)  # elsewhere no bound matters
        for _ in range(HALVINGS if near.size else 0):
            c = 0.5 * (least[near] + most[near])
            enough = ndtr(_reach(c, above[near])) - ndtr(-_reach(c, below[near])) >= level
            least[near], most[near] = np.where(enough, least[near], c), np.where(enough, c, most[near])
        known = (-_reach(most, below) <= apart) & (apart <= _reach(most, above))
    return np.asarray(known | (estimate == r))


def _reach(c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """How many standard errors an estimate may lie on the side of a bound that is d of them away."""
    root = np.sqrt(c)
    return np.asarray(np.where(root <= d, root, 0.5 * (d + c / d)))
