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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.errors import ArgumentError
from condmask.kernels import reverse_mapping

REACH = {"normal": 6.5, "laplace": 15.0}  # sigma; beyond lies less than 1e-9 of the noise
BINS, NODES = 16.0, 8.0  # in a sigma
MOST_NODES = 1 << 22  # in all: a hundred and more for each value without neighbours


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

    Raises
    ------
    ArgumentError
        If noise reaches so few neighbours that this takes too much memory.
    """

    def __init__(self, values: np.ndarray, counts: np.ndarray, noise: str, sigma: float, scale: str) -> None:
        self.values, self.n = values, int(counts.sum())
        self.normal, self.reach = noise == "normal", REACH[noise]
        self.weights = np.divide(counts, self.n, out=np.empty(values.size))
        self.at = on_a_line(values, sigma, scale, 3.0 * self.reach)
        first = starts(self.at.size, lambda rows: [np.floor(self.at[rows] * BINS)])
        mass = np.add.reduceat(self.weights, first)
        middle = self.middle(first, mass)
        stretches = around(middle, self.reach)
        if stretches.nodes > MOST_NODES:
            raise ArgumentError(
                f"sigma must reach more of the {values.size:,} values from each, got {sigma:g}; "
                f"{enough(values, sigma, scale, self.reach):g} is enough"
            )
        self.nodes = stretches.places()
        self.below, self.slope = np.empty((2, self.nodes.size))
        before = np.append(0.0, np.cumsum(mass))
        reverse_mapping.sum_keys(
            self.nodes, middle, mass, before, self.reach, self.normal, self.below, self.slope
        )

    def middle(self, first: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """The means of bins of values, which begin at these and have these shares of the records."""
        moments = np.multiply(self.weights, self.at, out=np.empty(self.at.size))
        return np.asarray(np.add.reduceat(moments, first) / mass)

    def thresholds(self, ranks: np.ndarray) -> np.ndarray:
        """Below which keys so many records lie, in expectation; infinite for none and for all."""
        thresholds = np.empty(ranks.size)
        for start, stop in blocks(ranks.size):
            some, found = ranks[start:stop], thresholds[start:stop]
            reverse_mapping.solve(some / self.n, self.nodes, self.below, self.slope, 1.0 / NODES, found)
            found[some <= 0] = -np.inf
            found[some >= self.n] = np.inf
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
    line = np.empty(values.size)
    line[0] = 0.0
    for start, stop in blocks(values.size - 1):
        some = values[start : stop + 1]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if scale == "linear":
                apart = np.diff(some) / sigma
            else:
                apart = np.abs(np.diff(np.log(np.abs(some)))) / sigma
                apart[np.diff(np.sign(some)) != 0.0] = np.inf
        apart = np.minimum(apart, gap)
        apart[0] += line[start]
        np.cumsum(apart, out=line[start + 1 : stop + 1])
    return line


def starts(size: int, cells: Callable[[slice], list[np.ndarray]]) -> np.ndarray:
    """Where ascending values begin a bin: those with another cell than the value before, in any division."""
    parts = [np.zeros(1, dtype=np.int64)]
    for start, stop in blocks(size):
        before = max(0, start - 1)
        new = np.logical_or.reduce([np.diff(cell) != 0.0 for cell in cells(slice(before, stop))])
        parts.append(before + 1 + np.flatnonzero(new))
    return np.concatenate(parts)


class Stretches(NamedTuple):
    """Nodes from some on up to others, in eighths of a sigma."""

    first: np.ndarray
    last: np.ndarray

    @property
    def nodes(self) -> int:
        """How many they are."""
        return int(np.sum(self.last - self.first + 1))

    def places(self) -> np.ndarray:
        """Where they stand."""
        size = self.last - self.first + 1
        start = np.cumsum(size) - size
        return np.asarray((np.arange(size.sum()) + np.repeat(self.first - start, size)) / NODES)


def around(places: np.ndarray, reach: float) -> Stretches:
    """Nodes that cover ascending places as far as noise goes."""
    low = np.floor((places - reach) * NODES).astype(np.int64)
    high = np.ceil((places + reach) * NODES).astype(np.int64)
    new = np.append(True, low[1:] > high[:-1])
    return Stretches(low[new], high[np.append(np.flatnonzero(new)[1:] - 1, low.size - 1)])


def enough(values: np.ndarray, sigma: float, scale: str, reach: float) -> float:
    """A larger sigma, with which nodes around these values are few enough."""
    nodes = MOST_NODES
    while nodes > 0.9 * MOST_NODES:
        sigma = float(f"{2.0 * sigma:.1e}")
        nodes = around(on_a_line(values, sigma, scale, 3.0 * reach), reach).nodes
    return sigma
