"""The normal law: how much of it lies within a distance of its mean or below a point, and its quantiles.

The same functions of SciPy bring a package along that takes longer to import than a small file to mask.

The noise of eq. (1).
"""

from math import erf, erfc, exp, log, pi, sqrt

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


@kernel
def below(x, shares):
    """shares[k] = P(Y < x[k]) of standard normal noise."""
    for k in range(x.size):
        shares[k] = share_below(x[k])


@kernel
def quantiles(p, x):
    """x[k] = the point below which standard normal noise lies with chance p[k], 0 < p < 1.

    A start to 4.5e-4 (Abramowitz and Stegun, 26.2.23), and two of Halley's steps, which cube an error.
    """
    for k in range(p.size):
        tail = min(p[k], 1.0 - p[k])
        t = sqrt(-2.0 * log(tail))
        y = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (
            1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
        )
        for _ in range(2):
            error = (share_below(-y) - tail) * sqrt(2.0 * pi) * exp(0.5 * y * y)
            y += error / (1.0 - 0.5 * y * error)
        x[k] = -y if p[k] < 0.5 else y
