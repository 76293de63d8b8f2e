"""The ends of intervals of parameters between -1 and 1, by the order of Feldman and Cousins.

What an interval is, `variance.bounded` says: a parameter is in it if estimates that it explains
better than this one, by the likelihood ratio, have less chance than the level. An end is looked
for from the bound inwards, on a mesh and then by halving.

The order of acceptance is explained in docs/inference.rst, "Groups, weights, regressions, pairs".
"""

import math

from condmask._jit import kernel

MESH = 64  # parameters between the estimate and the bound
HALVINGS = 40  # of the last step of an end
ROOT = math.sqrt(2.0)


@kernel
def ends(estimate, square, level, low, high):
    """Both ends for every estimate; square[k]: the factors of 1, r and r^2 in its squared standard
    error."""
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
    for step in range(MESH - 1, 0, -1):
        parameter = nearest + (side - nearest) * step / MESH
        if _accepted(estimate, parameter, square, level):
            accepted = parameter
            break
        beyond = parameter
    for _ in range(HALVINGS):
        middle = 0.5 * (accepted + beyond)
        if _accepted(estimate, middle, square, level):
            accepted = middle
        else:
            beyond = middle
    return accepted


@kernel
def _accepted(estimate, r, square, level):
    """Whether a parameter explains the estimate well enough."""
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
    # those explained worse, whose chances are small numbers and not 1 minus such
    beyond = math.erfc(_reach(ratio, above) / ROOT) + math.erfc(_reach(ratio, below) / ROOT)
    return 0.5 * beyond >= 1.0 - level


@kernel
def _reach(c, d):
    """At how many standard errors this likelihood ratio is on the side of a bound that is d of
    them away."""
    root = math.sqrt(c)
    return root if root <= d else 0.5 * (d + c / max(d, 1e-300))  # of the bound itself all: d is 0
