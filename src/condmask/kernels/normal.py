"""The normal law: how much of it lies within a distance of its mean.

The same function of SciPy brings a package along that takes longer to import than a small file to
mask.

The noise of eq. (1).
"""

from math import erf, sqrt

from condmask._jit import kernel


@kernel
def within(u, shares):
    """shares[k] = P(-u[k] < Y < u[k]) of standard normal noise, u >= 0."""
    for k in range(u.size):
        shares[k] = erf(u[k] / sqrt(2.0))
