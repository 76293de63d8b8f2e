"""How long does the analyst wait, and how does it grow with n and with the number of points?"""

from benchmarks import data


class Pairs:
    """T_1 at m points from n masked values without a grid, summed pair by pair."""

    param_names = ["n", "m", "p"]
    params = [[1_000, 1_000_000], [1, 10], [0.501, 0.6, 0.9]]

    def setup(self, n, m, p):
        self.estimate = data.estimate(n, p, step=0.0)
        self.x = data.points(m)
        self.time_cdf(n, m, p)

    def time_cdf(self, n, m, p):
        self.estimate.cdf(self.x, method="series")


class Quantile:
    """Nine deciles."""

    param_names = ["n", "bandwidth"]
    params = [[1_000, 1_000_000], [None, "scott"]]

    def setup(self, n, bandwidth):
        self.time_quantile(n, bandwidth)

    def time_quantile(self, n, bandwidth):
        # a fresh Estimate, so that counting is inside the clock
        data.estimate(n).quantile(
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], bandwidth=bandwidth
        )


class Moments:
    """Mean, s.d., the fourth moment and a correlation."""

    param_names = ["n"]
    params = [[1_000, 1_000_000]]

    def setup(self, n):
        x = data.original(n)
        self.estimate = data.estimate(n)
        self.x = x + x[::-1]  # .7; with x itself it may be estimated above 1
        self.time_moments(n)

    def time_moments(self, n):
        self.estimate.mean(), self.estimate.std(), self.estimate.moment(4)
        self.estimate.correlation(self.x)
