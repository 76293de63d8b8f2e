r"""Mean products of the ingredients of T at many points, for its joint distribution.

As `cdf_variance`, with matrices in place of squares: sums over the masked values of psi at x_i times psi
at x_j, and over the originals of r at both. Records are counted in cells of sigma/32, and the points moved to
edges of cells: a kink of the kernel costs less than a percent of a standard error then.

r has no jump, so its products are summed over nodes sigma/8 apart. What a cell holds is shared by the nodes
on either side of it, so that sums of linear functions stay: a variance moves by less than .2%.

Cells farther from all points than K reaches are taken together, gap by gap, so wide data take no more time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from math import pi
from typing import NamedTuple, Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from condmask._blocks import blocks
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import cdf_variance

CELLS_PER_SIGMA = 32
NODES_PER_SIGMA = 8
CHUNK = 1 << 12  # cells at a time
CACHED = 1 << 9  # of them that are multiplied at a time, so that they stay near
NOTHING = 1e-15  # of the records: what rounding leaves


class Products(NamedTuple):
    """Sums of a function of a point over records, at some points, and of its products at pairs of them.

    Attributes
    ----------
    sums : ndarray of shape (points,)
    products : ndarray of shape (points, points)
    """

    sums: np.ndarray
    products: np.ndarray


class Records(Protocol):
    """Records over which products are summed, at ascending points in whole steps."""

    def psi(self, x: np.ndarray) -> Products:
        """Of psi over the masked values."""

    def residual(self, x: np.ndarray) -> Products:
        """Of r = h - p psi over the originals."""


class InCells(ABC):
    """Masked values and originals in cells."""

    def __init__(self, masking: Masking) -> None:
        self.width, self.noise = cdf_variance.lattice(masking, CELLS_PER_SIGMA)
        self.reach, values, _, _ = cdf_variance.kernels(self.noise, self.noise.delta)
        self.kernel = values[0]

    def psi(self, x: np.ndarray) -> Products:
        """Of psi over the masked values."""
        return _summed(self.kernel, 1.0, self.cells_of(x), self.masked, self.masked_up_to)

    def residual(self, x: np.ndarray) -> Products:
        """Of r = h - p psi over the originals."""
        p, distance = self.noise.p, np.arange(-self.reach, self.reach + 1)
        step = max(1, int(1.0 / (NODES_PER_SIGMA * self.noise.delta) + 1e-9))

        def on_nodes(first: float, last: float) -> np.ndarray:
            return _on_nodes(self.originals(first, last), step)

        kernel = (distance >= 0) - p * self.kernel
        return _summed(kernel, 1.0 - p, self.cells_of(x), on_nodes, self.originals_up_to, step)

    def cells_of(self, x: np.ndarray) -> np.ndarray:
        """The cells at whose upper edges points are taken."""
        return np.asarray(np.rint((x + 1.0) / self.width - 1.0))

    @abstractmethod
    def masked(self, first: float, last: float) -> np.ndarray:
        """How many masked values each cell of a stretch holds."""

    @abstractmethod
    def originals(self, first: float, last: float) -> np.ndarray:
        """How many originals each cell of a stretch holds."""

    @abstractmethod
    def masked_up_to(self, at: np.ndarray) -> np.ndarray:
        """How many masked values lie in some cells or before them."""

    @abstractmethod
    def originals_up_to(self, at: np.ndarray) -> np.ndarray:
        """How many originals lie in some cells or before them."""


class Counted(InCells):
    """Masked values from their counts by whole steps, and the originals estimated from them."""

    def __init__(self, counts: ValueCounts, masking: Masking) -> None:
        super().__init__(masking)
        self._cell, self._held = cdf_variance.cells(counts, self.width)
        self._below = np.append(0.0, np.cumsum(self._held))

    def cells_of(self, x: np.ndarray) -> np.ndarray:
        beyond = self.reach + 1.0
        within = np.clip(super().cells_of(x), self._cell[0] - beyond, self._cell[-1] + beyond)
        return np.asarray(within)

    def masked(self, first: float, last: float) -> np.ndarray:
        dense = np.zeros(int(last - first) + 1)
        start, stop = np.searchsorted(self._cell, (first, last + 1.0))
        dense[(self._cell[start:stop] - first).astype(np.int64)] = self._held[start:stop]
        return dense

    def originals(self, first: float, last: float) -> np.ndarray:
        beside = 2 * self.reach
        around = self.masked(first - beside, last + beside)
        return _filtered(around, self.noise, undone=True)[beside:-beside]

    def masked_up_to(self, at: np.ndarray) -> np.ndarray:
        return np.asarray(self._below[np.searchsorted(self._cell, at, side="right")])

    def originals_up_to(self, at: np.ndarray) -> np.ndarray:
        starts, stops = (np.searchsorted(self._cell, at + far) for far in (-self.reach, self.reach + 1))
        total = self._below[starts]
        for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            distance = (at[k] - self._cell[start:stop]).astype(np.int64)
            total[k] += self.kernel[distance + self.reach] @ self._held[start:stop]
        return np.asarray(total)


class Expected(InCells):
    """The expectation for n records whose originals have the distribution function `share`, by steps."""

    def __init__(self, share: Callable[[np.ndarray], np.ndarray], n: int, masking: Masking) -> None:
        super().__init__(masking)
        self._share, self._n = share, n

    def masked(self, first: float, last: float) -> np.ndarray:
        beside = 2 * self.reach
        around = self.originals(first - beside, last + beside)
        mass = _filtered(around, self.noise, undone=False)[beside:-beside]
        return np.asarray(np.maximum(mass, 0.0))  # rounding makes some negative

    def originals(self, first: float, last: float) -> np.ndarray:
        return np.diff(self.originals_up_to(np.arange(first - 1.0, last + 1.0)))

    def masked_up_to(self, at: np.ndarray) -> np.ndarray:
        beside = 2 * self.reach
        total = self.originals_up_to(at - beside)
        for k, edge in enumerate(at):  # those about it may have been moved across
            around = np.pad(self.originals(edge - beside + 1.0, edge + beside), beside)
            total[k] += _filtered(around, self.noise, undone=False)[: 2 * beside].sum()
        return total

    def originals_up_to(self, at: np.ndarray) -> np.ndarray:
        return np.asarray(self._n * self._share((at + 1.0) * self.width - 1.0))


class WithoutNoise:
    """n records that masking leaves as they are, or replaces by others that are the same.

    Their distribution function is `share`.
    """

    def __init__(self, share: Callable[[np.ndarray], np.ndarray], n: int, p: float) -> None:
        self._share, self._n, self._p = share, n, p

    def psi(self, x: np.ndarray) -> Products:
        up_to = self._n * np.asarray(self._share(x))
        return Products(up_to, np.minimum(up_to[:, None], up_to))

    def residual(self, x: np.ndarray) -> Products:
        sums, products = self.psi(x)
        return Products((1.0 - self._p) * sums, (1.0 - self._p) ** 2 * products)


def _summed(
    kernel: np.ndarray,
    limit: float,
    at: np.ndarray,
    masses: Callable[[float, float], np.ndarray],
    up_to: Callable[[np.ndarray], np.ndarray],
    step: int = 1,
) -> Products:
    """Sums of a kernel by how many cells a point lies after a record: -reach to reach, `limit` beyond.

    At cells `at`. `masses` has the records on every step-th cell of a stretch, `up_to` all up to some cells.
    """
    reach, sums, products = kernel.size // 2, np.zeros(at.size), np.zeros((at.size, at.size))
    cuts = np.flatnonzero(np.diff(at) > 2.0 * reach)
    firsts, lasts = np.append(at[:1], at[cuts + 1]) - reach, np.append(at[cuts], at[-1:]) + reach
    for first, last in zip(firsts, lasts, strict=True):
        for start in np.arange(first, last + 1.0, CHUNK):
            near = _stretch(kernel, at - start, masses(start, min(start + CHUNK - 1.0, last)), step)
            sums += near.sums
            products += near.products
    # where the kernel is 0 or its limit: before the first stretch and between two
    mass = up_to(firsts - 1.0) - np.append(0.0, up_to(lasts[:-1]))
    after = limit * (at[:, None] > firsts - 1.0)
    return Products(sums + after @ mass, products + (after * mass) @ after.T)


def _stretch(kernel: np.ndarray, apart: np.ndarray, masses: np.ndarray, step: int) -> Products:
    """Sums over masses `step` cells apart, for points that lie `apart` after the first of them."""
    sums, products = np.zeros(apart.size), np.zeros((apart.size, apart.size))
    nothing = NOTHING * np.abs(masses).sum()
    held = np.flatnonzero(np.abs(masses) > nothing)
    first, masses = (held[0], masses[held[0] : held[-1] + 1]) if held.size else (0, masses[:0])
    for low, high in blocks(masses.size, CACHED):
        mass = masses[low:high]
        values = _rows(kernel, apart - (first + low) * step, mass.size, step)
        sums += values @ mass
        for sign in (1.0, -1.0):  # a matrix times itself takes half the time of one times another
            used = np.flatnonzero(sign * mass > nothing)
            if used.size:
                root = values[:, used] * np.sqrt(np.abs(mass[used]))
                products += sign * (root @ root.T)
    return Products(sums, products)


def _rows(kernel: np.ndarray, apart: np.ndarray, size: int, step: int) -> np.ndarray:
    """The kernel at so many cells, `step` apart, for points that lie `apart` after the first of them."""
    reach, length = kernel.size // 2, step * (size - 1) + 1
    line = np.concatenate((np.full(length, kernel[-1]), kernel[::-1], np.full(length, kernel[0])))
    first = np.clip(reach + length - apart, 0, line.size - length).astype(np.int64)
    return np.asarray(sliding_window_view(line, length)[:, ::step][first])


def _on_nodes(masses: np.ndarray, step: int) -> np.ndarray:
    """The masses of cells on every step-th of them, with the same sums of linear functions."""
    if step == 1:
        return masses
    between = np.pad(masses, (0, -masses.size % step)).reshape(-1, step)
    after = between @ (np.arange(step) / step)
    return np.asarray(np.append(between.sum(axis=1) - after, 0.0) + np.append(0.0, after))


def _filtered(masses: np.ndarray, noise: Masking, *, undone: bool) -> np.ndarray:
    """The masses of masked values from those of originals, or, undone, the other way."""
    size = 1 << (masses.size - 1).bit_length()  # few sizes, whose factors are known
    waves, factor = np.fft.rfft(masses, size), _factor(noise, size)
    return np.asarray(np.fft.irfft(waves / factor if undone else waves * factor, size)[: masses.size])


@lru_cache(maxsize=16)
def _factor(noise: Masking, size: int) -> np.ndarray:
    """What noise and donors make of each wave of a transform of this size."""
    w = 2.0 * pi / (size * noise.delta) * np.arange(size // 2 + 1)
    return np.asarray(noise.p + (1.0 - noise.p) * weight.symbol(noise, w))
