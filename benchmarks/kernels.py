"""What do the kernels cost that a user calls from compiled code?"""

import numpy as np
from scipy.special import ndtr

from benchmarks import data
from condmask._blocks import blocks, ordered_map
from condmask.kernels import crossings, cycle, series

ORDER = 8


class Series:
    """The truncated alternating series over all pairs of 64 points and n records, by threads."""

    param_names = ["n", "p", "tol", "workers"]
    params = [[1_000, 100_000], [0.501, 0.6, 0.9], [1e-6, 1e-10, 1e-14], [1, 2]]

    def setup(self, n, p, tol, workers):
        self.z, self.x = data.masked(n, p), data.points(64)
        self.time_sums(n, p, tol, workers)

    def time_sums(self, n, p, tol, workers):
        c, rate, reach = series.truncated(p, 0.0, 0.0, tol)
        rows = blocks(n, 8_192)
        parts = np.zeros((len(rows), self.x.size))

        def add(k):
            series.add_weights(self.x, self.z, data.SIGMA, c, rate, reach, 0, 64, *rows[k], parts[k])

        list(ordered_map(add, range(len(rows)), workers))
        return parts.sum(axis=0)


class Bisection:
    """Quantiles of normal distributions of 50 means, as polynomials on equal cells."""

    param_names = ["cells", "probabilities", "workers"]
    params = [[100, 10_000], [9, 999], [1, 2]]

    def setup(self, cells, probabilities, workers):
        nodes = 0.5 * np.cos(np.pi * (np.arange(ORDER) + 0.5) / ORDER)
        inverse = np.linalg.inv(np.vander(nodes, ORDER, increasing=True))
        self.width = np.full(50, 16.0 / cells)
        centers = (np.arange(cells) + 0.5) * 16.0 / cells - 8.0
        shifts = np.linspace(-1.0, 1.0, 50)[:, None, None]
        values = ndtr(centers[:, None] + nodes * self.width[0] - shifts)
        self.coefficients = np.ascontiguousarray(values @ inverse.T)
        self.origin = np.full(50, -8.0)
        self.q = (np.arange(probabilities) + 0.5) / probabilities
        self.time_first_crossings(cells, probabilities, workers)

    def time_first_crossings(self, cells, probabilities, workers):
        out = np.empty((50, self.q.size))

        def invert(block):
            crossings.first_crossings_of_samples(
                self.coefficients, self.origin, self.width, self.q, *block, out
            )

        list(ordered_map(invert, blocks(50, 5), workers))
        return out


class Cycle:
    """The order of donor words, against a comparison sort of the same."""

    param_names = ["n"]
    params = [[10_000, 1_000_000]]

    def setup(self, n):
        self.words = np.random.default_rng(1).integers(0, 2**64 - 1, n, dtype=np.uint64)
        self.time_radix_argsort(n)

    def time_radix_argsort(self, n):
        cycle.radix_argsort(self.words, np.empty_like(self.words), np.empty_like(self.words))

    def time_stable_argsort(self, n):
        np.argsort(self.words, kind="stable")
