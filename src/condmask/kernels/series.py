"""K for normal noise, summed term by term: Theorem 2.2 (T_1) and, with a bandwidth, Theorem 2.3 (T_b).

The paper's alternating series is ``K(u) = (1/p) sum_t lam^t Phi(u / sqrt(t + beta^2))``, lam = -(1-p)/p,
that is the expansion of ``1 / (1 + q x)``, q = (1-p)/p, in powers of ``x = exp(-w^2/2)``. It converges for
p > 1/2 only, and slowly near it. Here the powers are those of a near-best polynomial instead::

    Q(x) = [1 - T_N(1 - 2x) / T_N(1 + 2/q)] / (1 + q x)           T_N: Chebyshev polynomial

whose N terms leave at most, for every u, every beta >= 0 and every 0 < p < 1::

    |K_N(u) - K(u)| <= [1 + 0.59 (2 N + 2 - p)] / (p T_N(1 + 2/q))

(proof in docs/theory.rst, "The series"): the error falls by ((1 + sqrt p) / (1 - sqrt p)) a term, 7.9 at
p = .6, 5.8 at .501, 39 at .9. For p < 1/2 the coefficients grow, and rounding sets a limit, which is
checked: `coefficients` returns None where `tol` is out of reach.

Cost: one error function a term, 14 of them at p = .6 and tol = 1e-10, 16 at p = .501.
"""

from math import erf, exp, pi, sqrt

import numpy as np

from condmask._jit import SAFE_MATH, kernel


@kernel
def weight(u, c, rate):
    """K(u), from `coefficients` and `rates`."""
    v = abs(u)
    # Phi = (1 + erf)/2; the step of the bare t = 0 term belongs to u = 0, so rate = inf is set apart
    total = 0.0
    half = 0.0
    for t in range(c.size):
        half += 0.5 * c[t]
        total += 0.5 * c[t] * (1.0 if rate[t] == np.inf else erf(v * rate[t]))
    return half + total if u >= 0.0 else half - total


@kernel
def density(u, c, rate):
    """K'(u), for a bandwidth beta > 0."""
    total = 0.0
    for t in range(c.size):
        total += c[t] * rate[t] * exp(-((u * rate[t]) ** 2))
    return total / sqrt(pi)


@kernel(fastmath=SAFE_MATH)
def sum_weights(z, x, sigma, c, rate, start, stop):
    """Sum of K((x - z[j]) / sigma) over start <= j < stop."""
    total = 0.0
    for j in range(start, stop):
        total += weight((x - z[j]) / sigma, c, rate)
    return total


@kernel(fastmath=SAFE_MATH)
def sum_densities(z, x, sigma, c, rate, start, stop):
    """Sum of K'((x - z[j]) / sigma) over start <= j < stop."""
    total = 0.0
    for j in range(start, stop):
        total += density((x - z[j]) / sigma, c, rate)
    return total
