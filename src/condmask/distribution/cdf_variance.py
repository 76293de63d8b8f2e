r"""Variances of T_1, from sums of fixed kernels over the records.

T is the mean of psi = K((x - Z)/sigma) and estimates the mean of h = 1{X <= x}; let r = h - p psi.
The variances of T are made of the means of psi and psi^2 over the masked values and of the means
of r and r^2 over the originals (docs/inference.rst). The mean of a function over the
originals is the mean of another one over the masked values::

    E f(x - X) = E M[f](x - Z),    M[f] = sum_j mu_j f(. - j step),    mu = IFFT(1 / (p + (1-p)
    phi_d))

so all are sums of fixed kernels over the masked records. Before masking, sums over the originals
give the expected ones, by the inverse of M. Standard errors need three digits: records are counted
in cells of sigma/64, the noise is taken as rounded to these, and one convolution serves all x.
Between cells the sums are interpolated, except for the jump of psi at a record, which is counted
at its place. On steps of sigma/64 and more nothing is approximated.

The line is cut into stretches, and only those that hold points are summed, so that wide data take
no more memory.
"""

from functools import lru_cache
from math import ceil, pi
from typing import NamedTuple

import numpy as np

from condmask.distribution import symbol
from condmask.distribution.convolution import KeptStretches, convolve, fast_length
from condmask.distribution.counting import Counted
from condmask.distribution.symbol import Masking
from condmask.inference.theorem import Variance, given_file
from condmask.kernels.interval_ends import read_sums

VARIANCE_CELLS_PER_SIGMA = 64
SETTLED_KERNEL = 1e-10  # distance of a kernel from its limit that counts as none
# cells of a transform, unless the line is shorter or reaches are longer
MIN_STRETCH_CELLS = 1 << 12
MAX_KEPT_STRETCHES = 16


class Kernels(NamedTuple):
    """The kernels of the sums of psi, psi^2, r and r^2.

    Attributes
    ----------
    reach : int
        Cells beyond which the kernels are constant.
    values : ndarray of shape (4, 2 reach + 1)
        The kernels at x, -reach to reach cells to the right of a record.
    limits : ndarray of shape (4,)
        Their values farther to the right; they are 0 farther to the left.
    jumps : ndarray of shape (4,)
        Their steps where x passes the record.
    """

    reach: int
    values: np.ndarray
    limits: np.ndarray
    jumps: np.ndarray


class CdfSums:
    """Sums of psi, psi^2, r and r^2 for T_1 at any points, and the variances made of them.

    The line is cut into stretches with one convolution each, the same for all points, so that no
    bit depends on earlier calls. The sums of the last stretches are kept.

    Parameters
    ----------
    counted : Counted
        The masked values, in steps of their grid.
    masking : Masking
    shared_donors : bool
        Whether several records may share a donor.
    expected : bool
        Whether `counted` are originals, and the sums are those expected over masked values.
    """

    def __init__(
        self, counted: Counted, masking: Masking, *, shared_donors: bool, expected: bool = False
    ) -> None:
        times, noise = lattice(masking, VARIANCE_CELLS_PER_SIGMA)
        self.noise: Masking = noise
        self.expected = expected
        self.shared_donors = shared_donors
        self.used = 4 if shared_donors else 2
        self.counted = counted
        self.step: float = float(masking.delta > 0.0)
        self.width: float = times if self.step else times * counted.unit
        self.kernels: Kernels = kernels(self.noise, expected=expected)
        cell = np.floor(counted.values / self.width)
        first = np.flatnonzero(np.diff(cell, prepend=np.nan) != 0.0)
        # the occupied cells, ascending, and how many records are in each
        self.cell: np.ndarray = cell[first]
        self.held: np.ndarray = np.add.reduceat(counted.counts, first).astype(np.float64)
        beyond = self.kernels.reach + 1.0
        self.first: float = self.cell[0] - beyond
        self.last: float = self.cell[-1] + beyond
        self.length: int = int(
            min(self.last - self.first + 1.0, max(MIN_STRETCH_CELLS, 2 * self.kernels.reach))
        )
        self._kept = KeptStretches[tuple[np.ndarray, np.ndarray]](MAX_KEPT_STRETCHES)

    def variance(self, x: np.ndarray) -> Variance:
        """Return n times the variances of T at points, each of shape (points,)."""
        shared = self.shared_donors
        p = self.noise.p
        psi, square, *rest = self.at(x) / self.counted.n
        v = square - psi**2
        h = np.maximum(psi - psi**2, 0.0)
        d = np.maximum(rest[1] - rest[0] ** 2, 0.0) if shared else np.zeros(x.size)
        return Variance(np.maximum(given_file(v, d, h, 0.0, shared_donors=shared, p=p), 0.0), h)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the sums at points: of psi and psi^2 and, where records may share a donor, of r
        and r^2, of shape (2 or 4, points)."""
        place = np.clip(
            (x + self.step) / self.width - 1.0 - self.first, 0.0, self.last - self.first
        )
        total = np.empty((self.used, x.size))
        number = (place / self.length).astype(np.int64)
        for each in np.unique(number):
            rows = np.flatnonzero(number == each)
            read_sums(
                x,
                place,
                rows,
                each * self.length,
                self.counted.values,
                self.counted.below,
                *self.stretch(each),
                self.kernels.limits,
                self.kernels.jumps,
                total,
            )
        return total

    def stretch(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums at the cells of a stretch and the next cell, of shape (cells, sums),
        without the limits that records farther to the left add; and the number of records up to
        each of these cells."""
        return self._kept.get(number, self._summed)

    def _summed(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        reach = self.kernels.reach
        first = self.first + number * self.length
        size = fast_length(self.length + 1 + 2 * reach)
        within_reach = first - reach, first + self.length + reach + 1.0
        start, stop = np.searchsorted(self.cell, within_reach)
        counts = np.zeros(size)
        place = (self.cell[start:stop] - first + reach).astype(np.int64)
        counts[place] = self.held[start:stop]
        multipliers = kernel_transforms(self.noise, size, expected=self.expected)[: self.used]
        sums = convolve(counts, multipliers)
        on_stretch = slice(reach, reach + self.length + 1)
        up_to = self.held[:start].sum() + np.cumsum(counts)[on_stretch]
        return np.ascontiguousarray(sums[:, on_stretch].T), up_to


def lattice(masking: Masking, per_sigma: int) -> tuple[float, Masking]:
    """Return the width of cells, about sigma / per_sigma, and the masking with noise rounded to
    them; the width is in whole steps of the grid or, without one, in sigma."""
    if masking.delta == 0.0:
        return 1.0 / per_sigma, masking._replace(delta=1.0 / per_sigma)
    times = max(1.0, float(int(1.0 / (per_sigma * masking.delta) + 1e-9)))
    return times, masking._replace(delta=times * masking.delta)


@lru_cache(maxsize=16)
def kernels(noise: Masking, *, expected: bool = False) -> Kernels:
    """Return the kernels of T_1 at the points of a grid on which the noise lies: functions of the
    masked value or, expected, of the original."""
    p = noise.p
    reach = ceil(symbol.reach(noise, SETTLED_KERNEL) / noise.delta) + 1
    size = fast_length(4 * reach)
    w = 2.0 * pi / (size * noise.delta) * np.arange(size // 2 + 1)
    with_noise = p + (1.0 - p) * symbol.symbol(noise, w)
    smooth = np.fft.fftshift(np.fft.irfft(1.0 / with_noise, size))
    smooth[size // 2] -= 1.0 / p
    smooth = np.cumsum(smooth)
    h = (np.arange(size) >= size // 2).astype(np.float64)
    psi = smooth + h / p
    rest = -p * smooth
    middle = 0.5 * (smooth[size // 2] + smooth[size // 2 - 1])

    values = np.array([psi, psi**2, rest, rest**2])
    limits = np.array([1.0, 1.0, 1.0 - p, (1.0 - p) ** 2])
    jumps = np.array([1.0 / p, 1.0 / p**2 + 2.0 * middle / p, 0.0, 0.0])
    # M, by which h becomes psi, takes functions of originals to those of masked values; its
    # inverse back
    others = (2, 3)
    of_h = h
    turned = psi
    by = 1.0 / with_noise
    if expected:
        others = (0, 1)
        of_h = psi
        turned = h
        by = with_noise
        jumps = p * jumps
    for k in others:  # each tends to its limit on the right
        waves = np.fft.rfft(np.fft.ifftshift(values[k] - limits[k] * of_h)) * by
        values[k] = limits[k] * turned + np.fft.fftshift(np.fft.irfft(waves, size))
    return Kernels(reach, values[:, size // 2 - reach : size // 2 + reach + 1], limits, jumps)


@lru_cache(maxsize=64)
def kernel_transforms(noise: Masking, size: int, *, expected: bool) -> np.ndarray:
    """Return the transforms of the kernels less their limits to the right, on a circle of `size`
    cells, of shape (4, size // 2 + 1)."""
    reach, values, limits, _ = kernels(noise, expected=expected)
    periodic = np.zeros((limits.size, size))
    after = np.arange(-reach, reach + 1)
    periodic[:, after % size] = values - limits[:, None] * (after >= 0)
    return np.asarray(np.fft.rfft(periodic))
