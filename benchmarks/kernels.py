"""What do the kernels cost that a user calls from compiled code?"""

import numpy as np
from scipy.special import ndtr

from benchmarks import data
from condmask._blocks import blocks, ordered_map
from condmask.kernels import cycle, replication, series


class Series:
    """The truncated alternating series over all pairs of 64 points and n records, by threads."""

    param_names = ["n", "p", "tol", "workers"]
    params = [[1_000, 100_000], [0.501, 0.6, 0.9], [1e-6, 1e-10, 1e-14], [1, 2]]

    def setup(self, n, p, tol, workers):
        self.z = data.masked(n, p)
        self.x = data.points(64)
        self.time_sums(n, p, tol, workers)

    def time_sums(self, n, p, tol, workers):
        c, rate, reach = series.truncated(p, 0.0, 0.0, tol)
        rows = blocks(n, 8_192)
        parts = np.zeros((len(rows), self.x.size))

        def add(k):
            series.add_weights(
                self.x, self.z, data.SIGMA, c, rate, reach, 0, 64, *rows[k], parts[k]
            )

        list(ordered_map(add, range(len(rows)), workers))
        return parts.sum(axis=0)


class Bisection:
    """Quantiles of 50 samples, of which what no record jumps is known at nodes."""

    param_names = ["nodes", "probabilities", "workers"]
    params = [[100, 10_000], [9, 999], [1, 2]]

    def setup(self, nodes, probabilities, workers):
        width = 16.0 / nodes
        shifts = np.linspace(-1.0, 1.0, 50)
        self.rows = np.sort(np.random.default_rng(1).normal(size=(50, 100)))
        self.origin = np.full(50, -8.0)
        self.nodes = 100.0 * ndtr(-8.0 + width * np.arange(nodes) - shifts[:, None])
        self.rule = width, 1.0, width**2, False
        self.targets = 200.0 * (np.arange(probabilities) + 0.5) / probabilities
        self.time_quantiles_of_rows(nodes, probabilities, workers)

    def time_quantiles_of_rows(self, nodes, probabilities, workers):
        out = np.empty((50, self.targets.size))

        def invert(block):
            own = slice(*block)
            replication.quantiles_of_rows(
                self.rows[own],
                self.nodes[own],
                self.origin[own],
                *self.rule,
                self.targets,
                False,
                out[own],
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
