r"""The law by which reverse mapping moves the values of kept records: large samples of it.

With w_a the frequency of the value s_a and W its running sum, keys s_a + Y (on the log scale s_a e^Y) have
the distribution function

    H(t) = sum_a w_a P(key of a <= t),

and among many records a kept one at s_a gets the value s_b where its key lies between the thresholds
H(t_{b-1}) = W_{b-1} and H(t_b) = W_b: with the chance M(a, b), and w M = w. Released values may be fewer than
originals, where ends are replaced by their means: then W has the shares of what is released.

Values stand on a line in units of sigma on which noise is added; on the log scale negative ones, zeros and
positive ones are parts of it, out of reach of each other. H is summed at an eighth of a sigma, over bins of
a sixteenth, and interpolated by cubics: errors are below 1e-4 of the mass within reach, and none where bins
hold a single value. Cost: O(n + bins within reach of the noise).
"""

import numpy as np

from condmask.kernels import reverse_mapping

REACH = {"normal": 6.5, "laplace": 15.0}  # sigma; beyond lies less than 1e-9 of the noise
BINS, NODES = 16.0, 8.0  # in a sigma


class Keys:
    """Where the values of one donor pool lie among the keys.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Distinct ones, ascending.
    counts : ndarray of shape (m,)
        How many records have each.
    noise : {"normal", "laplace"}
    sigma : float
    scale : {"linear", "log"}

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Shares of the records.
    at : ndarray of shape (m,)
        The values on the line, in sigmas.
    reach : float
        How far noise goes, in sigmas.
    """

    def __init__(self, values: np.ndarray, counts: np.ndarray, noise: str, sigma: float, scale: str) -> None:
        self.values, self.n = values, int(counts.sum())
        self.normal, self.reach = noise == "normal", REACH[noise]
        self.weights = counts / self.n
        self.at = on_a_line(values, sigma, scale, 3.0 * self.reach)
        first = np.flatnonzero(np.diff(np.floor(self.at * BINS), prepend=np.nan) != 0.0)
        mass = np.add.reduceat(self.weights, first)
        middle = np.add.reduceat(self.weights * self.at, first) / mass
        self.nodes = around(middle, self.reach)
        self.below, self.slope = np.empty((2, self.nodes.size))
        before = np.append(0.0, np.cumsum(mass))
        reverse_mapping.sum_keys(
            self.nodes, middle, mass, before, self.reach, self.normal, self.below, self.slope
        )

    def thresholds(self, ranks: np.ndarray) -> np.ndarray:
        """Below which keys so many records lie, in expectation; infinite for none and for all."""
        thresholds = np.empty(ranks.shape)
        reverse_mapping.solve(ranks / self.n, self.nodes, self.below, self.slope, 1.0 / NODES, thresholds)
        thresholds[ranks <= 0] = -np.inf
        thresholds[ranks >= self.n] = np.inf
        return thresholds

    def chances(self, at: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The chances of keys from places of the line to lie between two thresholds each: entries of M."""
        chances = np.empty(at.size)
        reverse_mapping.kept_between(at, low, high, self.normal, chances)
        return chances

    def density(self, t: np.ndarray) -> np.ndarray:
        """The density of keys at places of the line."""
        return np.asarray(np.interp(t, self.nodes, self.slope))

    def numbers(self, t: np.ndarray) -> np.ndarray:
        """The numbers at places of the line, between the values of the data."""
        return np.asarray(np.interp(t, self.at, self.values))


def on_a_line(values: np.ndarray, sigma: float, scale: str, gap: float) -> np.ndarray:
    """Ascending values in units of sigma, where noise is added to them; no gap is wider than `gap`."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if scale == "linear":
            apart = np.diff(values) / sigma
        else:
            apart = np.abs(np.diff(np.log(np.abs(values)))) / sigma
            apart[np.diff(np.sign(values)) != 0.0] = np.inf
    return np.append(0.0, np.cumsum(np.minimum(apart, gap)))


def around(places: np.ndarray, reach: float) -> np.ndarray:
    """Nodes that cover ascending places as far as noise goes."""
    low = np.floor((places - reach) * NODES).astype(np.int64)
    high = np.ceil((places + reach) * NODES).astype(np.int64)
    new = np.append(True, low[1:] > high[:-1])
    first, last = low[new], high[np.append(np.flatnonzero(new)[1:] - 1, low.size - 1)]
    size = last - first + 1
    start = np.cumsum(size) - size
    return np.asarray((np.arange(size.sum()) + np.repeat(first - start, size)) / NODES)
