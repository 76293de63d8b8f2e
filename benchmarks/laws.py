"""The populations of the studies of coverage: plain laws, and those with modes, atoms and heavy
tails."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

CORRELATION = 0.6  # with a column that is not masked, which is normal with variance 1


@dataclass(frozen=True)
class Population:
    """A law as `condmask.simulate` takes it; `grid` has the step that is not the default."""

    law: Any  # what a frozen SciPy distribution has: rvs, cdf, ppf, mean and std
    grid: dict[str, float] = field(default_factory=dict)

    def __call__(self, rng, replications, n):
        x = np.reshape(self.law.rvs(replications * n, rng), (replications, n))
        return x, self.related(x, rng)

    def related(self, x, rng):
        """A column with the correlation."""
        alone = math.sqrt(1.0 - CORRELATION**2) * rng.standard_normal(x.shape)
        return CORRELATION * (x - self.mean()) / self.std() + alone

    def mean(self):
        return float(self.law.mean())

    def std(self):
        return float(self.law.std())

    def quantile(self, q):
        return np.asarray(self.law.ppf(q))

    def cdf(self, t):
        return np.asarray(self.law.cdf(t))

    def correlation(self):
        return CORRELATION


class Mixture:
    """30% of the records in a mode a tenth as wide as the other, and a twelfth as wide as the
    noise."""

    parts = (stats.norm(0.0, 1.0), stats.norm(30.0, 10.0))
    weights = (0.3, 0.7)

    def cdf(self, t):
        return sum(w * part.cdf(t) for w, part in zip(self.weights, self.parts, strict=True))

    def rvs(self, size, rng):
        return np.where(rng.random(size) < 0.3, *(part.rvs(size, rng) for part in self.parts))

    def ppf(self, q):
        low = np.full(np.shape(q), -20.0)
        high = np.full(np.shape(q), 120.0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < q
            low = np.where(below, middle, low)
            high = np.where(below, high, middle)
        return high

    def mean(self):
        return 21.0

    def std(self):
        return math.sqrt(0.3 * 1.0 + 0.7 * (30.0**2 + 10.0**2) - self.mean() ** 2)


class Zeros:
    """A fifth of the records are 0, the others exponential."""

    def cdf(self, t):
        return np.where(np.asarray(t) < 0.0, 0.0, 1.0 - 0.8 * np.exp(-np.maximum(t, 0.0) / 10.0))

    def rvs(self, size, rng):
        return np.where(rng.random(size) < 0.2, 0.0, rng.exponential(10.0, size))

    def ppf(self, q):
        return 10.0 * np.log(0.8 / np.minimum(1.0 - np.asarray(q), 0.8))

    def mean(self):
        return 8.0

    def std(self):
        return math.sqrt(96.0)


LOG = 0.6  # standard deviation of the logarithm
LAWS = {
    "normal": Population(stats.norm()),
    "laplace": Population(stats.laplace()),
    "uniform": Population(stats.uniform()),
    "lognormal": Population(stats.lognorm(LOG)),
    "mixture": Population(Mixture()),
    "zeros": Population(Zeros()),
    "t4": Population(stats.t(4.0)),
    "scores": Population(stats.randint(1, 11), {"step": 1.0}),
}
