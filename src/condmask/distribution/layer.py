"""Sums of one kernel over counted values, made at nodes and read anywhere.

The smooth part of T_1 and all of T_b and its density are such sums: Theorems 2.2 and 2.3
(docs/theory.rst, "Nodes").
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, pi
from typing import Any, NamedTuple

import numpy as np

from condmask.distribution.convolution import KeptStretches, convolve, fast_length
from condmask.kernels.nodes import POINTS, read, spread

MIN_STRETCH_NODES = 1 << 14  # unless the line is shorter
MAX_KEPT_LAYER_STRETCHES = 64


class Kernel(NamedTuple):
    """A kernel k that rises from 0 to `total`, or its density k'.

    Attributes
    ----------
    spacing : float
        Distance of the nodes, in units of the kernel's argument.
    symbol : callable
        Gives the Fourier transform of k' at frequencies w > 0, in 1 / units.
    total : float
        The limit of k to the right: the transform of k' at 0.
    density : bool
        Whether k' is summed, and not k.
    """

    spacing: float
    symbol: Callable[[np.ndarray], Any]
    total: float
    density: bool = False

    def sums_at(self, nodes: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return the sums at nodes, of shape (..., size), from the counts spread to them and the
        `multipliers` of this kernel."""
        return convolve(nodes, multipliers, None if self.density else self.total)


class Layer:
    """The sum over j of counts[j] k((x - values[j]) / unit), for a kernel k that settles.

    Nodes are `spacing` units apart, on a line on which gaps between values are shortened to two
    reaches. The line is cut into stretches; each has one transform, made when it is first needed.

    Parameters
    ----------
    values, counts : ndarray of shape (v,)
        Distinct values, ascending, and the number of records that have each.
    unit : float
        The unit of the kernel's argument, in the units of the values.
    reach : float
        The distance beyond which k is 0 or `total`, in units.
    kernel : Kernel
    """

    def __init__(
        self, values: np.ndarray, counts: np.ndarray, unit: float, reach: float, kernel: Kernel
    ) -> None:
        self.values = values
        self.kernel = kernel
        self.node: float = unit * kernel.spacing
        self.beyond: float = reach / kernel.spacing + 2 * POINTS
        self.scale: float = 1.0 / unit if kernel.density else 1.0
        apart = np.minimum(np.diff(values) / self.node, 2.0 * self.beyond)
        self.place: np.ndarray = self.beyond + np.append(0.0, np.cumsum(apart))
        self.size: int = int(self.place[-1] + self.beyond) + 2
        # margins are no more than half of a stretch
        self.length: int = min(self.size, max(MIN_STRETCH_NODES, int(4.0 * self.beyond)))
        self.counts = counts
        self._kept = KeptStretches[np.ndarray](MAX_KEPT_LAYER_STRETCHES)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the sum at any points, of shape (points,)."""
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
        """Return the places of points on the line, in nodes; in a gap, from the nearer value."""
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
        """Return the points at places on the line, counted from the nearer value."""
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
        """Return the places of the nodes of stretch k, and of `POINTS` more on either side."""
        return np.arange(
            k * self.length - POINTS, (k + 1) * self.length + POINTS, dtype=np.float64
        )

    def around(self, k: int) -> slice:
        """Return the range of the values on stretch k, and of those beside it within three
        reaches, from which its nodes may be counted."""
        ends = k * self.length - 3.0 * self.beyond, (k + 1) * self.length + 3.0 * self.beyond
        return slice(*np.searchsorted(self.place, ends).tolist())

    def stretch(self, k: int) -> np.ndarray:
        """Return the sum at the nodes of stretch k, and at `POINTS` more on either side."""
        return self._kept.get(k, self._summed)

    def _summed(self, k: int) -> np.ndarray:
        """Sum over the records on stretch k and within reach of it; add those to the left."""
        first = k * self.length - POINTS
        margin = ceil(self.beyond)
        length = self.length + 2 * POINTS
        a, b = np.searchsorted(self.place, (first - margin, first + length + margin))
        place = self.place[a:b] - first + 2 * margin
        nodes = np.zeros(fast_length(length + 4 * margin))
        spread(place, self.counts[a:b], nodes)
        sums = self.kernel.sums_at(nodes, kept_multipliers(nodes.size, self.kernel))
        before = 0.0 if self.kernel.density else self.counts[:a].sum() * self.kernel.total
        return sums[2 * margin : 2 * margin + length] * self.scale + before


def multipliers(size: int, kernel: Kernel) -> np.ndarray:
    """Return the multipliers of a transform of length `size`, of shape (..., size // 2 + 1)."""
    w = 2.0 * pi / (size * kernel.spacing) * np.arange(1, size // 2 + 1)
    slope = 1.0 if kernel.density else 1j * w
    above_0 = np.asarray(kernel.symbol(w) / (slope * kernel.spacing))
    at_0 = kernel.total / kernel.spacing if kernel.density else 0.0
    return np.concatenate((np.full((*above_0.shape[:-1], 1), at_0), above_0), axis=-1)


kept_multipliers: Callable[[int, Kernel], np.ndarray] = lru_cache(multipliers)
