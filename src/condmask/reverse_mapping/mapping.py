r"""Computes the law M by which reverse mapping moves values.

With w_a the share of the records at s_a and W its running sum, keys s_a + Y (on the log scale s_a
e^Y) have the distribution function

    H(t) = sum_a w_a P(key of a <= t),

and among many records a kept one at s_a gets the value s_b where its key lies between the
thresholds H(t_{b-1}) = W_{b-1} and H(t_b) = W_b: with the chance M(a, b), and w M = w. Nothing but
the noise and the values enters, and those that are released are the originals in another order
(docs/reverse_mapping.rst, "Other columns").

All of these are sums of distribution functions of the noise. Normal ones go through `Layer`, to
1e-12; those of Laplace noise, which has no band limit, are exact, by recursion.

Cost: O(values) a sum, and Fourier transforms of 16 nodes for each sigma that noise reaches.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from condmask.distribution.layer import Kernel, Layer
from condmask.distribution.t_1 import SPACING, laplace_sum
from condmask.kernels.exponentials import weighted_sums

GAP = 60.0  # sigmas: no noise reaches farther
REACH = 8.6  # of normal noise, in sigmas
DECAY = 0.5**0.5  # of Laplace noise of unit variance
MAX_SECANT_STEPS = 64
MAX_SHARE_ERROR = 1e-13  # of H at a threshold
NORMAL = Kernel(SPACING, lambda w: np.exp(-0.5 * w * w), 1.0)


class Mapping:
    """Computes M of one donor pool.

    Parameters
    ----------
    at : ndarray of shape (v,)
        Distinct values, ascending, on the line on which noise is added to them (`places`).
    share : ndarray of shape (v,)
        w, the shares of the records.
    noise : {"normal", "laplace"}
    """

    def __init__(self, at: np.ndarray, share: np.ndarray, noise: str) -> None:
        self.at = at
        self.share = share
        self.noise = noise
        self.cuts: np.ndarray = thresholds(at, share, noise)  # between the values

    def apply(self, h: np.ndarray) -> np.ndarray:
        """Return M h, the mean of h at the value that a kept record gets, by its original."""
        steps = sums(self.noise, self.cuts, np.diff(h))(self.at) if h.size > 1 else 0.0
        return np.asarray(h[0] + steps)

    def adjoint(self, g: np.ndarray) -> np.ndarray:
        """Return the adjoint under w: the mean of g at a kept record's original, by its new
        value."""
        weights = self.share * g
        below = sums(self.noise, self.at, weights)(self.cuts)
        return np.asarray(np.diff(below, prepend=0.0, append=weights.sum()) / self.share)

    @property
    def chances(self) -> np.ndarray:
        """Return M as a matrix: by row, the probabilities of a kept key between thresholds."""
        from scipy.special import ndtr  # takes .1 s to import

        u = np.concatenate(([-np.inf], self.cuts, [np.inf])) - self.at[:, None]
        tail = 0.5 * np.exp(-np.abs(u) / DECAY)
        below = ndtr(u) if self.noise == "normal" else np.where(u < 0.0, tail, 1.0 - tail)
        return np.asarray(np.diff(below, axis=1))


def thresholds(at: np.ndarray, share: np.ndarray, noise: str) -> np.ndarray:
    """Return where H reaches the running sums of shares, by secants or, if these leave the
    interval, by halving."""
    of_noise = sums(noise, at, share)
    wanted = np.cumsum(share)[:-1]
    found = np.interp(wanted, of_noise(at), at)
    rest = np.arange(wanted.size)
    low, high = np.full((2, wanted.size), [[at[0] - GAP], [at[-1] + GAP]])
    before = low
    was_off = -wanted
    for _ in range(MAX_SECANT_STEPS):
        off = of_noise(found[rest]) - wanted[rest]
        far = np.abs(off) > MAX_SHARE_ERROR
        rest, off, before, was_off, low, high = (
            each[far] for each in (rest, off, before, was_off, low, high)
        )
        if not rest.size:
            break
        t = found[rest]
        low, high = np.where(off < 0.0, [t, high], [low, t])
        with np.errstate(invalid="ignore", divide="ignore"):
            secant = t - off * (t - before) / (off - was_off)
        found[rest] = np.where((low < secant) & (secant < high), secant, 0.5 * (low + high))
        before = t
        was_off = off
    return np.asarray(found)


def sums(
    noise: str, values: np.ndarray, weights: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function sum_j c_j F(x - v_j) for ascending v, where F is the distribution
    function of the noise."""
    if noise == "normal":
        return Layer(values, weights, 1.0, REACH, NORMAL).at
    below = np.append(0.0, np.cumsum(weights))
    parts = np.empty((2, values.size))
    weighted_sums(values, weights, DECAY, *parts)
    return partial(laplace_sum, values, below, parts, DECAY)


def places(values: np.ndarray, sigma: float, scale: str) -> np.ndarray:
    """Return the places of ascending values on the line on which noise is added, in sigmas.

    On the log scale negative values, zero and positive ones are out of reach of each other.
    """
    with np.errstate(over="ignore"):
        apart = np.diff(on_line(values, sigma, scale)) / sigma
    if scale != "linear":
        apart[np.diff(np.sign(values)) != 0.0] = GAP
    return np.append(0.0, np.cumsum(np.minimum(apart, GAP)))


def on_line(values: np.ndarray, sigma: float, scale: str) -> np.ndarray:
    """Return values, or signed logarithms in the order of the values, at least a sigma from 0."""
    if scale == "linear":
        return values
    logs = np.log(np.abs(np.where(values == 0.0, 1.0, values)))
    return np.asarray(np.sign(values) * (logs - logs.min(initial=np.inf) + sigma))
