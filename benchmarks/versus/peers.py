"""What the package is timed against: the plain NumPy and SciPy way to the same answer."""

import numpy as np
from scipy.special import ndtr


def plain_mask(x, p, sigma, rng):
    """Eq. (1) as one writes it in NumPy: all donors, all noise, np.where."""
    n = x.size
    swapped = rng.random(n) < p
    donor = rng.integers(0, n - 1, n)
    donor += donor >= np.arange(n)
    return np.where(swapped, x[donor], x + rng.normal(0.0, sigma, n))


def plain_series(z, x, p, sigma, tol):
    """T_1(x) by the paper's series, term by term with ndtr, truncated where its terms fall below
    tol."""
    lam = -(1.0 - p) / p
    u = (x - z) / sigma
    total = np.mean(u >= 0.0)
    term = 1
    while abs(lam) ** term / p >= tol:
        total += lam**term * np.mean(ndtr(u / np.sqrt(term)))
        term += 1
    return total / p
