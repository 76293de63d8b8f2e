"""What heaps and the log scale cost, by n."""

import numpy as np

import condmask as cm
from benchmarks import data


class Levels:
    """Amounts of three levels: masked, T_1 at 1000 points, nine quantiles, covariance."""

    param_names = ["n", "scheme", "noise"]
    params = [[10_000, 1_000_000], ["decimals", "heaps", "log"], ["normal", "laplace"]]

    def setup(self, n, scheme, noise):
        rng = np.random.default_rng(1)
        x, share = np.rint(rng.lognormal(10.0, 0.4, n)), rng.random(n)
        x = np.where(share > 0.7, 100 * np.rint(x / 100), np.where(share > 0.4, 10 * np.rint(x / 10), x))
        if scheme == "log":
            self.scheme = cm.ConditionalMasking(0.6, 0.3, noise=noise, scale="log")
        else:
            heaps = 100 if scheme == "heaps" else None
            self.scheme = cm.ConditionalMasking(0.6, 4.0 * data.SIGMA, noise=noise, decimals=0, heaps=heaps)
        self.x, self.points = x, np.linspace(0.0, 80_000.0, 1000)
        self.z = self.scheme.mask(x, rng=1, accept_visible_coins=True)
        self.time_mask(n, scheme, noise)
        self.time_cdf(n, scheme, noise)
        self.time_quantiles(n, scheme, noise)
        self.time_covariance(n, scheme, noise)

    def time_mask(self, n, scheme, noise):
        self.scheme.mask(self.x, accept_visible_coins=True)

    def time_cdf(self, n, scheme, noise):
        self.scheme.estimate(self.z).cdf(self.points)

    peakmem_cdf = time_cdf

    def time_quantiles(self, n, scheme, noise):
        self.scheme.estimate(self.z).quantile(np.arange(1, 10) / 10)

    def time_covariance(self, n, scheme, noise):
        self.scheme.estimate(self.z).covariance(self.x)
