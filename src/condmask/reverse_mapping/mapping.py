r"""The law M by which reverse mapping moves values.

With w_a the share of the records at s_a and W its running sum, keys s_a + Y (on the log scale s_a e^Y) have
the distribution function

    H(t) = sum_a w_a P(key of a <= t),

and among many records a kept one at s_a gets the value s_b where its key lies between the thresholds
H(t_{b-1}) = W_{b-1} and H(t_b) = W_b: with the chance M(a, b), and w M = w. Nothing but the noise and the
values enters, and those that are released are the originals in another order (docs/reverse_mapping.rst,
"Other columns").

All of these are sums of distribution functions of the noise. Normal ones go through `Layer`, to 1e-12; those
of Laplace noise, which has no band limit, are exact, by recursion.

Cost: O(values) a sum, and Fourier transforms of 16 nodes for each sigma that noise reaches.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import sqrt

import numpy as np

from condmask.distribution.layer import Kernel, Layer
from condmask.kernels import exponentials

GAP = 60.0  # sigmas: no noise reaches farther
REACH, SPACING = 8.6, 1.0 / 16.0  # of normal noise, and of nodes, in sigmas
DECAY = sqrt(0.5)  # of Laplace noise of unit variance
STEPS, EXACT = 60, 1e-13  # of Newton's method, as good as bisection; a share


def bell(w: np.ndarray) -> np.ndarray:
    """The Fourier transform of normal noise."""
    return np.asarray(np.exp(-0.5 * w * w))


NORMAL = Kernel(SPACING, bell, 1.0)


class Mapping:
    """M of one donor pool.

    Parameters
    ----------
    at : ndarray of shape (v,)
        Distinct values, ascending, on the line on which noise is added to them (`places`).
    share : ndarray of shape (v,)
        w, the shares of the records.
    noise : {"normal", "laplace"}
    """

    def __init__(self, at: np.ndarray, share: np.ndarray, noise: str) -> None:
        self.at, self.share, self.noise = at, share, noise
        self.cuts = thresholds(at, share, noise)  # between the values

    def apply(self, h: np.ndarray) -> np.ndarray:
        """M h: the mean of h at what a kept record gets, by its original."""
        return np.asarray(h[0] + self._across(1, np.diff(h)))

    def adjoint(self, g: np.ndarray) -> np.ndarray:
        """The adjoint under w: the mean of g at the original of a kept record, by what it got."""
        weights = self.share * g
        below = self._across(0, weights)
        return np.asarray(np.diff(np.concatenate(([0.0], below, [weights.sum()]))) / self.share)

    @property
    def chances(self) -> np.ndarray:
        """M as a matrix: by row, where the key of a kept record falls between thresholds."""
        from scipy.special import ndtr  # takes .1 s to import

        u = np.concatenate(([-np.inf], self.cuts, [np.inf])) - self.at[:, None]
        tail = 0.5 * np.exp(-np.abs(u) / DECAY)
        below = ndtr(u) if self.noise == "normal" else np.where(u < 0.0, tail, 1.0 - tail)
        return np.asarray(np.diff(below, axis=1))

    def _across(self, side: int, weights: np.ndarray) -> np.ndarray:
        """`sums` of weights of the values at thresholds, or where `side` is 1 of those at the values."""
        here, there = (self.cuts, self.at) if side else (self.at, self.cuts)
        if not self.cuts.size:  # of one value
            return np.zeros(there.size)
        if self.noise != "normal":
            return sums(self.noise, here, weights)(there)[0]
        line, places = self._lines[side]
        return line.weighing(weights).at_places(places)

    @cached_property
    def _lines(self) -> list[tuple[Layer, np.ndarray]]:
        """Of the values and of the thresholds, and where on either the others lie."""
        layers = [Layer(each, np.zeros(each.size), 1.0, REACH, NORMAL) for each in (self.at, self.cuts)]
        return [(layers[0], layers[0].places(self.cuts)), (layers[1], layers[1].places(self.at))]


def thresholds(at: np.ndarray, share: np.ndarray, noise: str) -> np.ndarray:
    """Where H reaches the running sums of shares: by Newton's steps, or halves where they stray."""
    of_noise, wanted = sums(noise, at, share), np.cumsum(share)[:-1]
    ends = np.concatenate((at[:1] - GAP, at, at[-1:] + GAP))
    reached = np.maximum.accumulate(of_noise(ends)[0])
    k = np.searchsorted(reached, wanted)
    low, high, rest = ends[k - 1], ends[k], np.arange(wanted.size)
    found = np.interp(wanted, reached, ends)
    for _ in range(STEPS):
        below, slope = of_noise(found[rest])
        far = np.abs(below - wanted[rest]) > EXACT
        rest, excess, slope = rest[far], (below - wanted[rest])[far], slope[far]
        if not rest.size:
            break
        t = found[rest]
        low[rest], high[rest] = np.where(excess < 0.0, [t, high[rest]], [low[rest], t])
        with np.errstate(divide="ignore"):
            step = t - excess / slope
        inside = (low[rest] < step) & (step < high[rest])
        found[rest] = np.where(inside, step, 0.5 * (low[rest] + high[rest]))
    return np.asarray(found)


def sums(noise: str, values: np.ndarray, weights: np.ndarray) -> Callable[[np.ndarray], Sequence[np.ndarray]]:
    """The function sum_j c_j F(x - v_j) of ascending v, F the noise's own; and its slope."""
    if noise == "normal":
        kernels = NORMAL, NORMAL._replace(density=True)
        lines = [Layer(values, weights, 1.0, REACH, kernel) for kernel in kernels]

        def normal(x: np.ndarray) -> Sequence[np.ndarray]:
            place = lines[0].places(x)
            return [line.at_places(place) for line in lines]

        return normal
    before, (left, right) = np.append(0.0, np.cumsum(weights)), np.zeros((2, values.size + 1))
    exponentials.weighted_sums(values, weights, DECAY, left[1:], right[:-1])

    def laplace(x: np.ndarray) -> Sequence[np.ndarray]:
        i = np.searchsorted(values, x, side="right")
        down = left[i] * np.exp((values[np.maximum(i - 1, 0)] - x) / DECAY)
        up = right[i] * np.exp((x - values[np.minimum(i, values.size - 1)]) / DECAY)
        return before[i] + 0.5 * (up - down), 0.5 / DECAY * (down + up)

    return laplace


def places(values: np.ndarray, sigma: float, scale: str) -> np.ndarray:
    """Where ascending values lie on the line on which noise is added, in sigmas.

    On the log scale negative values, zero and positive ones are out of reach of each other.
    """
    with np.errstate(over="ignore"):
        apart = np.diff(on_line(values, sigma, scale)) / sigma
    if scale != "linear":
        apart[np.diff(np.sign(values)) != 0.0] = GAP
    return np.append(0.0, np.cumsum(np.minimum(apart, GAP)))


def on_line(values: np.ndarray, sigma: float, scale: str) -> np.ndarray:
    """Values or their logarithms, which ascend as the values do: a sigma from zero at least."""
    if scale == "linear":
        return values
    logs = np.log(np.abs(np.where(values == 0.0, 1.0, values)))
    return np.asarray(np.sign(values) * (logs - logs.min(initial=np.inf) + sigma))
