"""Laws with modes, atoms and heavy tails, for which intervals are harder to get right."""

import math
from types import SimpleNamespace

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def _mixture():
    """30% of the records in a mode a tenth as wide as the other, and a twelfth as wide as the noise."""
    parts, weights = (stats.norm(0.0, 1.0), stats.norm(30.0, 10.0)), (0.3, 0.7)
    mean = 0.7 * 30.0
    second = 0.3 * 1.0 + 0.7 * (30.0**2 + 10.0**2)

    def cdf(t):
        return sum(w * part.cdf(t) for w, part in zip(weights, parts, strict=True))

    def rvs(n, rng):
        return np.where(rng.random(n) < 0.3, parts[0].rvs(n, rng), parts[1].rvs(n, rng))

    def ppf(q):
        return np.array([brentq(lambda t, a=a: cdf(t) - a, -20.0, 120.0, xtol=1e-13) for a in np.ravel(q)])

    return SimpleNamespace(
        cdf=cdf, rvs=rvs, ppf=ppf, mean=lambda: mean, std=lambda: math.sqrt(second - mean**2)
    )


def _zeros():
    """A fifth of the records are 0, the others exponential."""

    def cdf(t):
        return np.where(np.asarray(t) < 0.0, 0.0, 1.0 - 0.8 * np.exp(-np.maximum(t, 0.0) / 10.0))

    def rvs(n, rng):
        return np.where(rng.random(n) < 0.2, 0.0, rng.exponential(10.0, n))

    def ppf(q):
        return 10.0 * np.log(0.8 / np.minimum(1.0 - np.asarray(q), 0.8))

    return SimpleNamespace(cdf=cdf, rvs=rvs, ppf=ppf, mean=lambda: 8.0, std=lambda: math.sqrt(96.0))


LAWS = {
    "mixture": _mixture(),
    "zeros": _zeros(),
    "t4": stats.t(4.0),
    "scores": stats.randint(1, 11),
}
STEPS = {"scores": 1.0}  # of the grid, where it is not the default
