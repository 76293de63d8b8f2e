"""Computes ends of intervals of parameters between -1 and 1, in the order of Feldman and Cousins.

`inference.bounded` defines the interval: it contains a parameter if estimates with a higher
likelihood ratio than this one have less probability than the level. An end is searched from the
bound inwards, on a mesh and then by halving.

The order of acceptance is explained in docs/inference.rst, "Groups, weights, regressions, pairs".
"""

import math

from condmask._jit import kernel

MESH_POINTS = 64  # between the estimate and the bound
MESH_HALVINGS = 40  # of the last mesh step
SQRT_2 = math.sqrt(2.0)


@kernel
def ends(estimate, square, level, low, high):
    """Compute low[k] and high[k], the ends for estimate[k].

    square[k] holds the factors of 1, r and r^2 in its squared standard error.
    """
    for k in range(estimate.size):
        low[k] = _end(estimate[k], square[k], level, -1.0)
        high[k] = _end(estimate[k], square[k], level, 1.0)


@kernel
def _end(estimate, square, level, side):
    nearest = min(max(estimate, -1.0), 1.0)
    if _accepted(estimate, side, square, level):
        return side
    beyond = side
    accepted = nearest
    for step in range(MESH_POINTS - 1, 0, -1):
        parameter = nearest + (side - nearest) * step / MESH_POINTS
        if _accepted(estimate, parameter, square, level):
            accepted = parameter
            break
        beyond = parameter
    for _ in range(MESH_HALVINGS):
        middle = 0.5 * (accepted + beyond)
        if _accepted(estimate, middle, square, level):
            accepted = middle
        else:
            beyond = middle
    return accepted


@kernel
def _accepted(estimate, r, square, level):
    """Return whether the interval contains the parameter r."""
    if estimate == r:
        return True
    error = math.sqrt(max(square[0] + (square[1] + square[2] * r) * r, 0.0))
    if error == 0.0:
        return False
    above = (1.0 - r) / error
    below = (1.0 + r) / error
    apart = (estimate - r) / error
    own = above if apart > 0.0 else below
    apart = abs(apart)
    ratio = apart * apart if apart <= own else own * (2.0 * apart - own)
    # the probability of a lower ratio, as a sum of tails so that small ones keep their digits
    beyond = math.erfc(_reach(ratio, above) / SQRT_2) + math.erfc(_reach(ratio, below) / SQRT_2)
    return 0.5 * beyond >= 1.0 - level


@kernel
def _reach(c, d):
    """Return the distance, in standard errors, with likelihood ratio c towards a bound d away."""
    root = math.sqrt(c)
    return root if root <= d else 0.5 * (d + c / max(d, 1e-300))
