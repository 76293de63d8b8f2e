"""Time and error of a whole analysis of a release by n, and what its parts cost."""

import numpy as np

import condmask as cm
from benchmarks import data

DECILES = np.arange(1, 10) / 10


class Analysis:
    """From masked values to T_1 at 1000 points and nine quantiles."""

    param_names = ["n", "noise"]
    params = [[1_000, 100_000, 1_000_000, 10_000_000], ["normal", "laplace"]]
    timeout = 300

    def setup(self, n, noise):
        self.x = data.points(1000)
        self.z = data.masked(n, noise=noise)
        self.time_grid(n, noise)
        self.time_grid_two_workers(n, noise)
        self.time_smoothed(n, noise)
        self.time_rearranged_quantiles(n, noise)

    def time_grid(self, n, noise):
        estimate = data.estimate(n, noise=noise)
        estimate.cdf(self.x)
        estimate.quantile(DECILES)

    peakmem_grid = time_grid

    def time_grid_two_workers(self, n, noise):
        estimate = data.estimate(n, noise=noise, workers=2)
        estimate.cdf(self.x)
        estimate.quantile(DECILES)

    def time_smoothed(self, n, noise):
        data.estimate(n, noise=noise).cdf(self.x, bandwidth=87.0)

    def time_rearranged_quantiles(self, n, noise):
        data.estimate(n, noise=noise).quantile(DECILES, crossing="rearranged")


class Spread:
    """T_1 at 1000 points of widely spread data, or with a far outlier."""

    param_names = ["n", "kind"]
    params = [[10_000, 1_000_000], ["lognormal", "Cauchy", "outlier"]]

    def setup(self, n, kind):
        rng = np.random.default_rng(1)
        x = {
            "lognormal": rng.lognormal(10.0, 0.9, n),
            "Cauchy": data.SIGMA * rng.standard_cauchy(n),
            "outlier": np.append(rng.normal(0.0, data.SIGMA, n - 1), 1e12 * data.SIGMA),
        }[kind]
        self.scheme = cm.ConditionalMasking(0.6, data.SIGMA)
        self.x = data.points(1000)
        self.z = self.scheme.mask(x, rng=1, accept="all")
        self.time_cdf(n, kind)

    def time_cdf(self, n, kind):
        self.scheme.estimate(self.z).cdf(self.x)

    peakmem_cdf = time_cdf


class Counts:
    """Counts of a stream in parts of 65,536 values, and an estimate from them."""

    param_names = ["n"]
    params = [[1_000, 1_000_000]]

    def setup(self, n):
        self.scheme = cm.ConditionalMasking(0.6, data.SIGMA)
        self.z = data.masked(n)
        self.time_counts(n)

    def time_counts(self, n):
        counts = cm.Counts(self.scheme)
        for start in range(0, n, 65_536):
            counts.update(self.z[start : start + 65_536])
        return self.scheme.estimate(counts).quantile(DECILES)
