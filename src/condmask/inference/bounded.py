"""Computes intervals of a parameter between -1 and 1 from a normal estimate, which may lie
outside.

Under the hypothesis r the estimate has the mean r and the standard error s(r). Estimates x
are accepted, up to the level, in the order of the likelihood of r relative to the best r in [-1,
1]. With d = (1 - r)/s the distance to the upper bound, x is accepted up to (x - r)/s = sqrt(c)
where that is within the bound, and else, the best being the bound itself, up to (d + c/d)/2. On
the other side likewise; c is what gives the level. The r that accept an estimate are its interval:
never empty, never a point, and of the right level up to the bounds. (An interval that is simply
cut off at the bounds covers too little or too much.)

G. J. Feldman and R. D. Cousins, "Unified approach to the classical statistical analysis of small
signals", Phys. Rev. D 57 (1998) 3873-3889.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

import numpy as np

from condmask.inference.interval import multiplier
from condmask.kernels import bounded as kernels

NO_BOUND = 20.0  # standard errors: a bound at this distance has no effect at any level


def bounded_interval(
    estimate: np.ndarray, square: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals within [-1, 1], for standard errors that depend on the
    parameter.

    Parameters
    ----------
    estimate : ndarray of shape (estimates,)
    square : ndarray of shape (estimates, 3)
        The factors of 1, r and r^2 in the squared standard error if r is the parameter.
    level : float
        The confidence level.
    """
    low, high = np.empty((2, estimate.size))
    kernels.ends(estimate, square, level, low, high)
    return low, high


def interval_between(
    value: np.ndarray, error: np.ndarray, low: float, high: np.ndarray | float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals within [low, high], for known standard errors."""
    reach = multiplier(level) * error
    ends = np.array([value - reach, value + reach])
    high = np.broadcast_to(high, value.shape)
    # bounds matter only within two reaches
    near = (ends[0] - reach < low) | (ends[1] + reach > high)
    half = 0.5 * (high[near] - low)
    square = (error[near] / half)[:, None] ** 2 * np.array([1.0, 0.0, 0.0])
    ends[:, near] = low + half * (
        1.0 + np.array(bounded_interval((value[near] - low) / half - 1.0, square, level))
    )
    return ends[0], ends[1]


def not_negative(value: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals within [0, inf), for estimates in units of their standard
    errors."""
    beyond = np.maximum(value, 0.0) + NO_BOUND
    return interval_between(value, np.ones(value.shape), 0.0, beyond, level)
