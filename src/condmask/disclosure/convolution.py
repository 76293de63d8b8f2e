r"""The law F of the data convolved with the noise, F * noise, on a line in cells.

F * noise is smooth, so it is one Fourier transform on cells of 1/16 to 1/32 of a sigma, and linear between;
who lies where in a cell is forgotten, which moves it by half a cell at most. On coarser grids cells are
points and all is exact. Cells lie within reach of records, in pieces with nothing between them.
"""

from functools import lru_cache
from math import ceil, floor, log2
from typing import NamedTuple

import numpy as np

from condmask.disclosure.folds import FoldCounts
from condmask.distribution.layer import fast_length
from condmask.law import Law

CELLS_PER_SIGMA = 16.0
REACH = {"normal": 8.0, "laplace": 16.0}  # sigma; beyond lies less than 1e-9 of the noise


def bits_of(folded: FoldCounts) -> int:
    """How many steps a cell has, as a power of two."""
    return max(0, floor(log2(folded.sigma / CELLS_PER_SIGMA)))


def per_point(folded: FoldCounts, masses: np.ndarray) -> np.ndarray:
    """Masses of a cell as those of its points."""
    return masses / (1 << bits_of(folded))


@lru_cache(maxsize=64)
def noise_shares(name: str, sigma: float) -> np.ndarray:
    """The share of the noise in each cell, from the cell where it starts."""
    ends = np.arange(ceil(REACH[name] * sigma) + 2) + 0.5
    inside = Law(0.0, name, sigma).noise_within(ends)
    half = 0.5 * np.diff(inside, prepend=-inside[0])
    return np.concatenate((half[:0:-1], half))


class Pieces(NamedTuple):
    """Where cells are to be, before there are any: their size; sigma and noise in cells; the pieces."""

    bits: int
    sigma: float
    noise: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    @property
    def size(self) -> int:
        """How many cells there would be."""
        return int(self.lengths.sum())

    def values_within(self, most: int) -> int:
        """Around how many values so many cells surely suffice, however far apart these lie."""
        return max(2, most // self.noise.size)

    def cells(self) -> "Cells":
        """The cells themselves: the caller has to know that there are not too many."""
        offsets = np.append(0, np.cumsum(self.lengths))
        steps = (np.repeat(self.starts - offsets[:-1], self.lengths) + np.arange(offsets[-1])) << self.bits
        length = fast_length(steps.size + self.noise.size)
        return Cells(self, offsets, steps, length, np.fft.rfft(self.noise, length))


def pieces_around(values: np.ndarray, folded: FoldCounts, bits: int | None = None) -> Pieces:
    """Pieces within reach of the noise of ascending values; of cells of 2^bits steps, where that is given."""
    bits = bits_of(folded) if bits is None else bits
    sigma = folded.sigma / (1 << bits)
    noise = noise_shares(folded.law.noise, sigma)
    reach = noise.size // 2
    cell = values >> bits
    new = np.flatnonzero(np.diff(cell) > 2 * reach) + 1
    first, last = np.append(0, new), np.append(new, cell.size) - 1
    return Pieces(bits, sigma, noise, cell[first] - reach, cell[last] - cell[first] + 1 + 2 * reach)


class Cells(NamedTuple):
    """The line in cells, near records only, the pieces one after the other."""

    pieces: Pieces
    offsets: np.ndarray  # of the pieces
    first: np.ndarray  # step of every cell
    length: int  # of the transform
    spectrum: np.ndarray  # of the noise

    @property
    def width(self) -> int:
        """The steps of a cell."""
        return 1 << self.pieces.bits

    @property
    def reach(self) -> int:
        """How far noise goes, in cells."""
        return self.pieces.noise.size // 2

    def at(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each step, and whether it has one."""
        cell = steps >> self.pieces.bits
        piece = np.maximum(np.searchsorted(self.pieces.starts, cell, side="right") - 1, 0)
        index = cell - self.pieces.starts[piece] + self.offsets[piece]
        inside = (index >= self.offsets[piece]) & (index < self.offsets[piece + 1])
        return np.where(inside, index, 0), inside

    def histogram(self, steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight in every cell."""
        return np.bincount(self.at(steps)[0], weights, int(self.offsets[-1]))

    def holding(self, steps: np.ndarray) -> "Cells":
        """The pieces that hold any of some steps; noise takes nothing from one to another."""
        starts, lengths = self.pieces.starts, self.pieces.lengths
        held = np.unique(np.searchsorted(starts, steps >> self.pieces.bits, side="right") - 1)
        if held.size == starts.size:
            return self
        return self.pieces._replace(starts=starts[held], lengths=lengths[held]).cells()

    def convolved(self, masses: np.ndarray) -> np.ndarray:
        """The masses of all cells after noise was added."""
        moved = np.fft.irfft(np.fft.rfft(masses, self.length) * self.spectrum, self.length)
        return np.maximum(moved[self.reach : self.reach + masses.size], 0.0)

    def smoothed(self, masses: np.ndarray) -> np.ndarray:
        """The masses of all cells averaged over some quarter of sigma."""
        half = max(1, round(self.pieces.sigma / 8.0))
        total = np.cumsum(np.pad(masses, (half + 1, half)))
        return np.asarray((total[2 * half + 1 :] - total[: -2 * half - 1]) / (2 * half + 1))

    def interpolated(self, masses: np.ndarray, steps: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The mass of a cell around each step of the cells at `index`: linear between middles of cells."""
        if self.width == 1:
            return np.asarray(masses[index])
        apart = ((steps & (self.width - 1)) + 0.5) / self.width - 0.5
        beside = np.clip(index + np.where(apart < 0.0, -1, 1), 0, masses.size - 1)
        return np.asarray(masses[index] + np.abs(apart) * (masses[beside] - masses[index]))
