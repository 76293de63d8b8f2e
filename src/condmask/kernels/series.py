"""Sums K for normal noise term by term: Theorem 2.2 (T_1) and, with a bandwidth, 2.3 (T_b).

The paper's alternating series is ``K(u) = (1/p) sum_t lam^t Phi(u / sqrt(t + beta^2))``, lam =
-(1-p)/p, p > 1/2; cut off, it leaves up to ``|lam|^T/p`` after T terms, thousands of them near p =
1/2. `truncated` takes T plain terms and sums the rest by J forward differences (Euler), as few of
both as a tolerance needs::

    |K_N(u) - K(u)| <= |lam|^T (1-p)^J B(T, J) / (2 pi p)

with Euler's beta function B and N = T + J, for every u and beta >= 0 (docs/theory.rst, "The
series"); N is 10 / 17 / 25 at p = .6 for tol = 1e-6 / 1e-10 / 1e-15, 13 / 21 / 31 at .501. So it
serves from p = .45 on; there the coefficients grow to 100. Beyond a reach, where they add up to
less than the tolerance, none is summed. Rounding adds up to 4e-16 of the sum of abs(c_t), 2e-14 at
p = .501, 2e-15 at .6.

On a grid with steps of `delta` sigma each noise was rounded, which adds delta^2/12 to its
variance; without a bandwidth u must lie half a step to the right of a grid point, where one of the
roundings cancels. The normal law with that variance errs by at most ``(1-p)/p^3 delta^4/2880
2/pi``: at p = .6 4e-16 on a default grid, 4e-8 at a step of sigma/10. Where that is more than half
of the tolerance, ``reach`` is NaN.

Cost: one error function a term and pair within reach.

T_1 with threads, over blocks of points and of records; parts are added in the order of the blocks,
so that bits do not depend on the threads:

>>> from concurrent.futures import ThreadPoolExecutor
>>> import numpy as np
>>> from condmask.kernels import series
>>> z, x = np.random.default_rng(1).normal(0.0, 2.0, 1000), np.linspace(-4.0, 4.0, 5)
>>> c, rate, reach = series.truncated(0.6, 0.0, 0.0, 1e-10)
>>> parts = np.zeros((4, x.size))
>>> def add(k):
...     series.add_weights(x, z, 1.0, c, rate, reach, 0, x.size, 250 * k, 250 * (k + 1), parts[k])
>>> with ThreadPoolExecutor(2) as pool:
...     done = list(pool.map(add, range(4)))
>>> (parts.sum(axis=0) / z.size).round(3)
array([0.021, 0.168, 0.508, 0.895, 0.986])

The same calls work in a user's compiled code.
"""

from math import erf, erfc, exp, inf, lgamma, log, nan, pi, sqrt

import numpy as np

from condmask._jit import SAFE_MATH, kernel

MAX_TERMS = 120


@kernel
def truncated(p, beta, delta, tol):
    """Return c, rate and reach with which `add_weights` errs by at most `tol` a pair, .45 <= p <
    1."""
    bound = inf
    plain = 0
    differences = 1
    while bound > 0.5 * tol and plain + differences < MAX_TERMS:
        # T/J = p has the smallest error for their sum
        if plain <= p * differences:
            plain += 1
        else:
            differences += 1
        beta_function = lgamma(plain) + lgamma(differences) - lgamma(plain + differences)
        powers = plain * log((1.0 - p) / p) + differences * log(1.0 - p)
        bound = exp(powers + beta_function) / (2.0 * pi * p)
    c = np.zeros(plain + differences)
    rate = np.empty(plain + differences)
    sign = 1.0
    for t in range(plain):
        c[t] = sign / p
        sign *= -(1.0 - p) / p
    power = np.zeros(differences)  # ((1-p) (1-x))^j by powers of x
    power[0] = sign
    for _ in range(differences):
        for t in range(differences - 1, -1, -1):
            c[plain + t] += power[t]
            power[t] = (1.0 - p) * (power[t] - (power[t - 1] if t > 0 else 0.0))
    for t in range(c.size):
        rounded = t if beta > 0.0 else max(t - 1, 0)
        variance = t + beta * beta + rounded * delta * delta / 12.0
        rate[t] = inf if variance == 0.0 else 1.0 / sqrt(2.0 * variance)
    if bound > 0.5 * tol or (1.0 - p) / p**3 * delta**4 / 2880.0 * 2.0 / pi > 0.5 * tol:
        return c, rate, nan
    reach = 1.0
    while _rest(reach, c, rate) > 0.5 * tol:
        reach *= 1.03
    return c, rate, reach


@kernel
def _rest(v, c, rate):
    """Return an upper bound on the distance of the sum from 0 or 1 at distance v."""
    total = 0.0
    for t in range(c.size):
        total += 0.5 * abs(c[t]) * erfc(v * rate[t])
    return total


@kernel
def weight(u, c, rate):
    """Return K(u), given coefficients c and rates 1 / sqrt(2 (t + beta^2))."""
    v = abs(u)
    # Phi = (1 + erf)/2; without a bandwidth the term t = 0 is a step at u = 0, with rate = inf
    total = 0.0
    half = 0.0
    for t in range(c.size):
        half += 0.5 * c[t]
        total += 0.5 * c[t] * (1.0 if rate[t] == np.inf else erf(v * rate[t]))
    return half + total if u >= 0.0 else half - total


@kernel(fastmath=SAFE_MATH)
def add_weights(x, z, sigma, c, rate, reach, first, last, start, stop, total):
    """Add to total[i] the sum of K((x[i] - z[j]) / sigma) over start <= j < stop, for
    first <= i < last."""
    for i in range(first, last):
        part = 0.0
        for j in range(start, stop):
            u = (x[i] - z[j]) / sigma
            part += (1.0 if u > 0.0 else 0.0) if abs(u) >= reach else weight(u, c, rate)
        total[i] += part
