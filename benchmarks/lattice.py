"""Time, memory and error of a whole analysis by n: T_1 at 1000 points and nine quantiles."""

import numpy as np

from benchmarks import data

DECILES = np.arange(1, 10) / 10


class Analysis:
    """From masked values, unsorted, to the answers; the summed series at one point beside it."""

    param_names = ["n"]
    params = [[1_000, 10_000, 100_000, 1_000_000, 10_000_000]]
    timeout = 300

    def setup(self, n):
        self.x = data.points(1000)
        self.z = data.masked(n)
        self.time_lattice(n)
        self.time_smoothed(n)
        self.time_summed_series_at_one_point(n)

    def time_lattice(self, n):
        estimate = data.estimate(n)
        estimate.cdf(self.x, method="lattice")
        estimate.quantile(DECILES)

    peakmem_lattice = time_lattice

    def time_smoothed(self, n):
        data.estimate(n).cdf(self.x, bandwidth=87.0, method="lattice")

    def time_rearranged_quantiles(self, n):
        data.estimate(n).quantile(DECILES, crossing="rearranged")

    def time_summed_series_at_one_point(self, n):
        data.estimate(n).cdf(300.0, method="series")

    def track_error(self, n):
        x = self.x[::50]
        estimate = data.estimate(n)
        exact = estimate.cdf(x, method="interpolant", tol=1e-13)
        return float(np.abs(estimate.cdf(x, method="lattice") - exact).max())


class Summary:
    """One pass over a stream in parts of 65,536 values."""

    param_names = ["n"]
    params = [[1_000, 1_000_000]]

    def setup(self, n):
        self.z = data.masked(n)
        self.time_summary(n)

    def time_summary(self, n):
        import condmask as cm

        summary = cm.Summary(data.estimate(1_000).scheme)
        for start in range(0, n, 65_536):
            summary.update(self.z[start : start + 65_536])
        return summary
