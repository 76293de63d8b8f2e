"""Computes the probability of normal noise, that of eq. (1), within a distance of 0.

SciPy's version is avoided because importing scipy.special takes longer than masking a small file.
"""

from math import erf, sqrt

from condmask._jit import kernel


@kernel
def within(u, shares):
    """Set shares[k] to P(-u[k] < Y < u[k]) for standard normal noise Y, u >= 0."""
    for k in range(u.size):
        shares[k] = erf(u[k] / sqrt(2.0))
