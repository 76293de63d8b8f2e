"""Time, memory and error of a whole analysis of data without a grid: T_1 at 1000 points, nine quantiles."""

import numpy as np

from benchmarks import data

DECILES = np.arange(1, 10) / 10


class Analysis:
    """From masked values, unsorted, to the answers; the summed series at one point beside it."""

    param_names = ["n"]
    params = [[1_000, 10_000, 100_000, 1_000_000, 10_000_000]]
    timeout = 300

    def setup(self, n):
        self.x, self.z = data.points(1000), data.masked(n, step=0.0)
        self.time_lattice(n)
        self.time_smoothed(n)
        self.time_rearranged_quantiles(n)
        self.time_summed_series_at_one_point(n)

    def time_lattice(self, n):
        estimate = data.estimate(n, step=0.0)
        estimate.cdf(self.x, method="lattice")
        estimate.quantile(DECILES)

    peakmem_lattice = time_lattice

    def time_smoothed(self, n):
        data.estimate(n, step=0.0).cdf(self.x, bandwidth=87.0, method="lattice")

    def time_rearranged_quantiles(self, n):
        data.estimate(n, step=0.0).quantile(DECILES, crossing="rearranged")

    def time_summed_series_at_one_point(self, n):
        data.estimate(n, step=0.0).cdf(300.0, method="series")

    def track_error(self, n):
        x = self.x[::50]
        estimate = data.estimate(n, step=0.0)
        exact = estimate.cdf(x, method="interpolant", tol=1e-13)
        return float(np.abs(estimate.cdf(x, method="lattice") - exact).max())
