"""Coefficients of the series for K under normal noise: few terms for a tolerance, by a proven bound.

The paper's alternating series is the expansion of ``1 / (1 + q x)``, q = (1-p)/p, in powers of
``x = exp(-w^2/2)``. It converges for p > 1/2 only, and slowly near it. Here the powers are those of a
near-best polynomial instead::

    Q(x) = [1 - T_N(1 - 2x) / T_N(1 + 2/q)] / (1 + q x)           T_N: Chebyshev polynomial

whose N terms leave at most, for every u, every beta >= 0 and every 0 < p < 1::

    |K_N(u) - K(u)| <= [1 + 0.59 (2 N + 2 - p)] / (p T_N(1 + 2/q))

(proof in docs/theory.rst, "The series"): the error falls by ((1 + sqrt p) / (1 - sqrt p)) a term, 7.9 at
p = .6, 5.8 at .501, 39 at .9. For p < 1/2 the coefficients grow, and rounding sets a limit, which is
checked: `coefficients` returns None where `tol` is out of reach.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb, pi, sqrt

import numpy as np

MOST_TERMS = 80


@lru_cache(maxsize=64)
def coefficients(p: float, tol: float) -> np.ndarray | None:
    """c with K(u) = sum_t c[t] Phi(u / sqrt(t + beta^2)) within `tol`; None where rounding forbids it."""
    q = (1 - Fraction(p)) / Fraction(p)
    terms = next((n for n in range(2, MOST_TERMS) if truncation_bound(p, n) <= 0.5 * tol), None)
    if terms is None:
        return None
    # T_N(1 - 2x) = sum_j (-4)^j N/(N+j) binom(N+j, 2j) x^j, in whole numbers
    powers = [Fraction((-4) ** j * terms * comb(terms + j, 2 * j), terms + j) for j in range(terms + 1)]
    scale = _chebyshev(terms, 1 + 2 / q)
    series, carry = [], Fraction(0)
    for j in range(terms):
        carry = (1 if j == 0 else 0) - powers[j] / scale - q * carry
        series.append(carry / Fraction(p))
    c = np.array([float(term) for term in series])
    return c if 4e-16 * np.abs(c).sum() <= 0.5 * tol else None


def truncation_bound(p: float, terms: int) -> float:
    """The proven bound on the error of K with this many terms."""
    root = sqrt(p)
    growth = (1.0 + root) / (1.0 - root) if root < 1.0 else np.inf
    return (1.0 + 0.59 * (2.0 * terms + 2.0 - p)) * 2.0 * growth**-terms / p


def rounding_bound(p: float, delta: float) -> float:
    """The error of taking rounded noise for a normal law of variance 1 + delta^2/12, in the terms of `rates`.

    Their transforms differ by at most ``exp(-w^2/2) (delta w)^4 / 2880``, the sinc's fourth-order term, and
    K by at most (1-p)/p^3 times that, integrated over dw/(pi w).
    """
    return (1.0 - p) / p**3 * delta**4 / 2880.0 * 2.0 / pi


def rates(beta: float, terms: int, delta: float = 0.0) -> np.ndarray:
    """1 / sqrt(2 v): what the error function multiplies u by, v the variance of a term; inf for the step.

    v is t + beta^2 and, of data on a grid of `delta`, what rounding adds: delta^2/12 for each of t noises,
    one less without a bandwidth, since u is then taken half a step off the grid.
    """
    t = np.arange(terms)
    rounded = t if beta > 0.0 else np.maximum(t - 1, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.sqrt(2.0 * (t + beta * beta + rounded * delta * delta / 12.0)))


def _chebyshev(n: int, x: Fraction) -> Fraction:
    previous, current = Fraction(1), x
    for _ in range(n - 1):
        previous, current = current, 2 * x * current - previous
    return current
