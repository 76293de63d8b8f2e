"""Sums over counted values of one kernel, known at nodes and read anywhere: smooth part of T_1,
T_b, H.

The sums of Theorems 2.2 and 2.3 (docs/theory.rst, "Nodes").
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, pi
from typing import Any, NamedTuple

import numpy as np

from condmask.kernels.nodes import POINTS, read, spread

STRETCH = 1 << 14  # nodes of a transform
KEPT = 64  # stretches
ODD: tuple[int, ...] = tuple(3**threes * 5**fives for threes in range(9) for fives in range(7))


class Kernel(NamedTuple):
    """A kernel k from 0 to `total`, or its density k'.

    Attributes
    ----------
    spacing : float
        Of the nodes, in units of the kernel's argument.
    symbol : callable
        The Fourier transform of k' at frequencies w > 0, in 1 / units.
    total : float
        The limit of k to the right: the transform of k' at 0.
    density : bool
    """

    spacing: float
    symbol: Callable[[np.ndarray], Any]
    total: float
    density: bool = False


class Layer:
    """sum_j c_j k((x - v_j) / unit), k settled beyond `reach`.

    Nodes are `spacing` units apart, on a line whose gaps are no longer than two reaches; a stretch
    of it has one transform, made when it is first asked for.

    Parameters
    ----------
    values, counts : ndarray of shape (v,)
        Distinct values, ascending, and how often each occurs.
    unit : float
        What the kernel's argument is measured in.
    reach : float
        In units.
    kernel : Kernel
    """

    def __init__(
        self, values: np.ndarray, counts: np.ndarray, unit: float, reach: float, kernel: Kernel
    ) -> None:
        self.values = values
        self.kernel = kernel
        self.node = unit * kernel.spacing
        self.beyond = reach / kernel.spacing + 2 * POINTS
        self.scale = 1.0 / unit if kernel.density else 1.0
        apart = np.minimum(np.diff(values) / self.node, 2.0 * self.beyond)
        self.place = self.beyond + np.append(0.0, np.cumsum(apart))
        self.size = int(self.place[-1] + self.beyond) + 2
        # margins are no more than half of a stretch
        self.length = min(self.size, max(STRETCH, int(4.0 * self.beyond)))
        self.counts = counts
        self.kept = dict[int, np.ndarray]()

    def at(self, x: np.ndarray) -> np.ndarray:
        """The sum at any points."""
        place = self.places(x)
        out = np.zeros(x.size)
        number = (place // self.length).astype(np.int64)
        for k in np.unique(number):
            own = number == k
            part = np.zeros(np.count_nonzero(own))
            read(place[own] - k * self.length + POINTS, self.stretch(k), part)
            out[own] = part
        return out

    def places(self, x: np.ndarray) -> np.ndarray:
        """Where points lie on the line of nodes; across a gap, as seen from the nearer value."""
        i = np.maximum(np.searchsorted(self.values, x) - 1, 0)
        following = np.minimum(i + 1, self.values.size - 1)
        far = self.beyond - POINTS
        with np.errstate(over="ignore"):  # enormous points
            ahead, behind = ((x - self.values[near]) / self.node for near in (i, following))
        place = self.place[i] + np.clip(ahead, -far, far)
        return np.asarray(
            np.where((behind > -far) & (i < following), self.place[following] + behind, place)
        )

    def points(self, place: np.ndarray) -> np.ndarray:
        """The points at places on the line, as seen from the nearer value."""
        i = np.maximum(np.searchsorted(self.place, place, side="right") - 1, 0)
        following = np.minimum(i + 1, self.values.size - 1)
        past = place - self.place[i]
        ahead = self.place[following] - place
        near = (ahead < past) & (i < following)
        return np.asarray(
            np.where(
                near, self.values[following] - ahead * self.node, self.values[i] + past * self.node
            )
        )

    def nodes(self, k: int) -> np.ndarray:
        """The nodes of a stretch, and `POINTS` more on either side."""
        return np.arange(
            k * self.length - POINTS, (k + 1) * self.length + POINTS, dtype=np.float64
        )

    def around(self, k: int) -> slice:
        """The values on a stretch, and those on either side that nodes may be seen from."""
        ends = k * self.length - 3.0 * self.beyond, (k + 1) * self.length + 3.0 * self.beyond
        return slice(*np.searchsorted(self.place, ends).tolist())

    def stretch(self, k: int) -> np.ndarray:
        """The sum at the nodes of a stretch, and at `POINTS` more on either side."""
        if k not in self.kept:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            first = k * self.length - POINTS
            margin = ceil(self.beyond)
            length = self.length + 2 * POINTS
            a, b = np.searchsorted(self.place, (first - margin, first + length + margin))
            place = self.place[a:b] - first + 2 * margin
            spread_to = np.zeros(fast_length(length + 4 * margin))
            spread(place, self.counts[a:b], spread_to)
            own = summed(spread_to, kept_response(spread_to.size, self.kernel), self.kernel)
            before = 0.0 if self.kernel.density else self.counts[:a].sum() * self.kernel.total
            self.kept[k] = own[2 * margin : 2 * margin + length] * self.scale + before
        return self.kept[k]


def summed(nodes: np.ndarray, response: np.ndarray, kernel: Kernel) -> np.ndarray:
    """The sums at nodes along the last axis, from one Fourier transform of the counts spread to
    them."""
    size = nodes.shape[-1]
    waves = np.fft.rfft(nodes)
    n = waves[..., :1].real.copy()
    waves[..., :1] = n * kernel.total / kernel.spacing if kernel.density else 0.0
    waves[..., 1:] *= response
    out = np.fft.irfft(waves, size)
    if not kernel.density:
        out += n * kernel.total / size * np.arange(size) - out[..., :1]
    return out


def response(size: int, kernel: Kernel) -> np.ndarray:
    """What a transform of so many nodes is multiplied by, at frequencies above 0."""
    w = 2.0 * pi / (size * kernel.spacing) * np.arange(1, size // 2 + 1)
    slope = 1.0 if kernel.density else 1j * w
    return np.asarray(kernel.symbol(w) / (slope * kernel.spacing))


kept_response = lru_cache(response)


@lru_cache(64)
def fast_length(least: int) -> int:
    """The next length whose Fourier transform is fast: 2, 3 and 5 are its prime factors.

    SciPy's takes .1 s to import, which every command would wait for.
    """
    return min(odd << (-(-least // odd) - 1).bit_length() for odd in ODD)
