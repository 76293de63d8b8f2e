r"""The law of a value released by reverse mapping given its original, and functions that undo it.

Of a donor pool with values s_a of frequency w_a, W their running sum, let H be the distribution function of
the keys of all records, values with noise. A kept record with the key t gets the value s_b with
W_{b-1} < H(t) <= W_b: that is the law M(a, b) of the map in a large pool, of a coin that fell on "kept". It
leaves the distribution as it is, w M = w. Nothing but p, the noise and the released values enters, since
these are the originals in another order (docs/reverse_mapping.rst, "Other columns").

Values are counted in cells of sigma/64, on the log scale of the logarithm, with signs and zero apart, and the
noise is taken as rounded to these. M is then a convolution, by Fourier transforms, and a monotone coupling of
the cells of keys with those of values, both of mass 1. Gaps that no noise crosses are shortened.

Cost: O(n) to count, then O(m log m) a step for m cells.
"""

from math import ceil, pi
from typing import NamedTuple

import numpy as np

from condmask._blocks import BLOCK, blocks
from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import SATURATION, Masking
from condmask.engines.counting import distinct

CELLS_PER_SIGMA = 64
REACH = {"normal": SATURATION, "laplace": 26.0}  # sigmas, beyond which noise is as good as never
MOST_CELLS = 1 << 24
TINY = 1e-15  # share of the keys, below which a cell of keys has none
ENOUGH = 0.01  # of the target, may be left
SOME, NOTHING = 0.01, 1e-3  # of the variance about the file: what the rest may add; without more steps
ROUNDING = 1e-24
MOST_STEPS = 500
PART = BLOCK  # records at a time


class TooManyCellsError(ValueError):
    """The values are too far apart for this sigma; the argument is the number of cells."""


class MappingLaw(NamedTuple):
    """M of one donor pool.

    Attributes
    ----------
    cell : ndarray of shape (n,)
        The number of each record's cell, in the order of the values.
    share : ndarray of shape (cells,)
        w, the shares of the records.
    position : ndarray of shape (cells,)
        Where the cells lie on the line of keys.
    symbol : ndarray
        The transform of the noise on that line, and `size` the line's length.
    key, value, chance : ndarray of shape (pieces,)
        Pieces of the coupling: a cell of keys, the number of a cell of values, its chance given the former.
    n : int
        The number of records.
    """

    cell: np.ndarray
    share: np.ndarray
    position: np.ndarray
    symbol: np.ndarray
    size: int
    key: np.ndarray
    value: np.ndarray
    chance: np.ndarray
    n: int

    def apply(self, h: np.ndarray) -> np.ndarray:
        """M h: the mean of h at what a kept record gets, by the cell of its original."""
        line = np.bincount(self.key, self.chance * h[self.value], self.size)
        return np.asarray(_convolved(line, self.symbol)[self.position])

    def adjoint(self, g: np.ndarray) -> np.ndarray:
        """The adjoint under w: the mean of g at the original of a kept record, by the cell of what it got."""
        line = np.zeros(self.size)
        line[self.position] = self.share * g
        line = _convolved(line, self.symbol)
        return np.asarray(np.bincount(self.value, self.chance * line[self.key], self.share.size) / self.share)

    def matrix(self) -> np.ndarray:
        """M itself, of shape (cells, cells)."""
        return np.array([self.apply(row) for row in np.eye(self.share.size)]).T

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of something by record, by cell."""
        sums = np.zeros(self.share.size)
        for start, stop in blocks(self.n, PART):
            sums += np.bincount(self.cell[start:stop], values[start:stop], sums.size)
        return np.asarray(sums / (self.share * self.n))


def of_values(x: np.ndarray, noise: str, sigma: float, scale: str) -> MappingLaw:
    """The law M of one pool from its values x, in any order."""
    ends = np.array([ends_of(x[start:stop], sigma, scale) for start, stop in blocks(x.size, PART)])
    line = Coordinates(both_ends(*ends), noise, sigma, scale)
    occupied, cell, counts = _counted(x, line)
    n, gap = x.size, _gap(noise)
    share = counts / n
    position = gap // 2 + np.concatenate(([0.0], np.cumsum(np.minimum(np.diff(occupied), gap))))
    if position[-1] + gap > MOST_CELLS:
        raise TooManyCellsError(int(position[-1]))
    size = fast_length(int(position[-1]) + gap // 2 + 1)
    position = position.astype(np.int64)
    masking = Masking(noise, 0.5, 0.0, 1.0 / CELLS_PER_SIGMA)
    symbol = weight.symbol(masking, 2.0 * pi * CELLS_PER_SIGMA / size * np.arange(size // 2 + 1))
    mass = np.zeros(size)
    mass[position] = share
    return MappingLaw(cell, share, position, symbol, size, *_coupled(_convolved(mass, symbol), share), n)


def inverse(law: MappingLaw, p: float, target: np.ndarray) -> np.ndarray:
    """h by cell, with the mean of `target` and E[h(Z) | X] as good as the target at X.

    A swapped record gets each other's value with the same chance, and its own with what is left of p. So with
    q = 1 - p the equation is ``{q M + (q - q^n)/(n-1)} h = target`` about the means. Noise makes it
    ill-posed: conjugate gradients on its normal equations first bring the residual down and then blow up h. A
    sum over the n records with weights of unit length varies by |h|^2 at most, by |target|^2 less about the
    file, and what is left of the target adds at most n |residual|^2 to its mean squared error: the step is
    taken where their sum is least.

    Raises
    ------
    FloatingPointError
        If the residual does not come down to a hundredth of the target, or to what adds at most a
        tenth to standard errors.
    """
    n, q, w = law.n, 1.0 - p, law.share
    remaining = (q - q**n) / (n - 1)
    middle = float(w @ target)
    residual = target - middle
    total = float(w @ residual**2)
    h = best = np.zeros(w.size)
    if total == 0.0:
        return h + middle
    slope = q * law.adjoint(residual) + remaining * residual
    direction, slope_norm, least = slope, float(w @ slope**2), np.inf
    for _ in range(MOST_STEPS):
        image = q * law.apply(direction) + remaining * direction
        step = slope_norm / float(w @ image**2)
        h, residual = h + step * direction, residual - step * image
        variance, error = float(w @ h**2), float(w @ residual**2)
        masking = (variance - total) / n
        close = error <= max(ENOUGH**2 * total, SOME * masking)
        if close and variance + n * error < least:
            best, least = h, variance + n * error
        if variance >= least or error <= max(ROUNDING * total, NOTHING * masking):
            break
        slope = q * law.adjoint(residual) + remaining * residual
        before, slope_norm = slope_norm, float(w @ slope**2)
        direction = slope + (slope_norm / before) * direction
    if least == np.inf:
        raise FloatingPointError
    return np.asarray(best + (middle - w @ best))


class Coordinates:
    """Cells of values, whole numbers in their order; on the log scale signs and zero a gap apart.

    Parameters
    ----------
    ends : ndarray of shape (2, 3)
        Those of the values, as `ends_of` gives them.
    noise, sigma, scale
        Of the scheme.

    Attributes
    ----------
    low, high : float
        Those of the least and of the largest value.
    """

    def __init__(self, ends: np.ndarray, noise: str, sigma: float, scale: str) -> None:
        self._width, self._linear, self._gap, self._least = _width(sigma), scale == "linear", _gap(noise), 0.0
        low, high = ends
        if self._linear:
            self.low, self.high = float(low[1]), float(high[1])
            return
        self._least = float(min(-high[0], low[2]))
        self._least = 0.0 if self._least == np.inf else self._least
        shift = np.array([self._least - self._gap, 0.0, self._gap - self._least])
        self.low, self.high = float((low + shift).min()), float((high + shift).max())

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The cells of values."""
        if self._linear:
            return np.asarray(np.rint(x / self._width))
        nonzero = x != 0.0
        size = np.where(nonzero, _sizes(x, self._width), 0.0)
        return np.asarray(np.where(nonzero, np.sign(x) * (size - self._least + self._gap), 0.0))


def ends_of(x: np.ndarray, sigma: float, scale: str) -> np.ndarray:
    """The least and the largest of what cells are made of: of values below 0, of 0 and of those above.

    Infinite where there is none; on a linear scale all values are in the middle.
    """
    width = _width(sigma)
    ends = np.full((2, 3), np.inf)
    ends[1] = -np.inf
    if scale == "linear":
        ends[:, 1] = np.rint(x.min() / width), np.rint(x.max() / width)
        return ends
    size = _sizes(x, width)
    for k, (own, values) in enumerate(((x < 0.0, -size), (x == 0.0, np.zeros(x.size)), (x > 0.0, size))):
        ends[0, k], ends[1, k] = values[own].min(initial=np.inf), values[own].max(initial=-np.inf)
    return ends


def both_ends(*ends: np.ndarray) -> np.ndarray:
    """The ends of all values together."""
    each = np.array(ends)
    return np.array([each[:, 0].min(axis=0), each[:, 1].max(axis=0)])


def _width(sigma: float) -> float:
    return sigma / CELLS_PER_SIGMA


def _gap(noise: str) -> int:
    return 2 * ceil(REACH[noise] * CELLS_PER_SIGMA) + 2


def _sizes(x: np.ndarray, width: float) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.rint(np.log(np.abs(x)) / width))


def _counted(x: np.ndarray, cells: Coordinates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells that occur, the number of each record's, and how many records lie in each."""
    cell = np.empty(x.size, np.int32)
    span, parts = cells.high - cells.low, [slice(start, stop) for start, stop in blocks(x.size, PART)]
    if span < max(min(4 * x.size, MOST_CELLS // 4), 1 << 16):
        counts = np.zeros(int(span) + 1, dtype=np.int64)
        for part in parts:
            cell[part] = cells(x[part]) - cells.low
            counts += np.bincount(cell[part], minlength=counts.size)
        occupied, number = cells.low + np.flatnonzero(counts), np.cumsum(counts > 0) - 1
        for part in parts:
            cell[part] = number[cell[part]]
        return occupied, cell, counts[counts > 0]
    occupied = distinct((cells(x[part]) for part in parts), np.float64)
    counts = np.zeros(occupied.size, dtype=np.int64)
    for part in parts:
        cell[part] = np.searchsorted(occupied, cells(x[part]))
        np.add.at(counts, cell[part], 1)
    return occupied, cell, counts


def _convolved(line: np.ndarray, symbol: np.ndarray) -> np.ndarray:
    return np.asarray(np.fft.irfft(np.fft.rfft(line) * symbol, line.size))


def _coupled(keys: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The monotone coupling of two laws: the pieces that lie in one cell of either."""
    keys = np.where(keys > TINY, keys, 0.0)
    ends = np.cumsum(keys)[:-1] / keys.sum(), np.cumsum(share)[:-1]
    edges = np.sort(np.clip(np.concatenate((*ends, [0.0, 1.0])), 0.0, 1.0))
    mass, middle = np.diff(edges), 0.5 * (edges[:-1] + edges[1:])
    mass, middle = mass[mass > 0.0], middle[mass > 0.0]
    key, value = (np.searchsorted(end, middle) for end in ends)
    return key, value, mass / np.bincount(key, mass)[key]
