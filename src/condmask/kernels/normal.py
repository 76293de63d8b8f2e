"""The normal law: how much of it lies within a distance of its mean, or below a point.

The same functions of SciPy bring a package along that takes longer to import than a small file to mask.

The noise of eq. (1).
"""

from math import erf, erfc, sqrt

from condmask._jit import kernel


@kernel
def within(u, shares):
    """shares[k] = P(-u[k] < Y < u[k]) of standard normal noise, u >= 0."""
    for k in range(u.size):
        shares[k] = erf(u[k] / sqrt(2.0))


@kernel
def share_below(x):
    """P(Y < x) of standard normal noise."""
    return 0.5 * erfc(-x / sqrt(2.0))
