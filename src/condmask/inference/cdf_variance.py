r"""Mean squares of the ingredients of T, from which its standard errors follow.

With psi = K((x - Z)/sigma), of which T is the mean, h = 1{X <= x}, of which it estimates the mean, and
r = h - p psi, the variances of T are made of the means of psi and psi^2 over the masked values and of those
of r, r^2 and h^2 over the originals (docs/inference_distribution.rst). The mean of a function over the
originals is the mean of another one over the masked values::

    E f(x - X) = E M[f](x - Z),    M[f] = sum_j mu_j f(. - j step),    mu = IFFT(1 / (p + (1-p) phi_d))

so all are sums of fixed kernels over the records. Standard errors need three digits: records are counted in
cells of sigma/64, the noise taken as rounded to these, and one Fourier transform serves all x. Between cells
the sums are interpolated, but for the jump of psi at a record, which is counted at its place. On steps of
sigma/64 and more nothing is approximated.

The line is treated in stretches that hold the points asked for, so wide data take no more memory.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil, pi
from typing import Any, NamedTuple

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import SATURATION, Masking
from condmask.engines.counting import ValueCounts
from condmask.errors import ArgumentError
from condmask.samples.cache import BoundedCache

CELLS_PER_SIGMA = 64
CELLS_PER_BANDWIDTH = 4  # at least, between which T_b is interpolated
TAIL = 1e-10  # of a kernel, beyond which it counts as constant
STRETCH = 1 << 12  # cells, at least, that have one transform
KEPT = 1 << 16  # cells whose sums are kept, if they are of several stretches
MOST_REACH = 1 << 17  # cells; of T_b that are so many bandwidths, and of T_1 two thousand


class Sums(NamedTuple):
    """Sums over records, at some points.

    Attributes
    ----------
    psi, psi_squared : ndarray
        Over the masked values.
    residual, residual_squared, h_squared : ndarray
        Of r = h - p psi, of its square and of that of h over the originals, as the masked values show them.
    """

    psi: np.ndarray
    psi_squared: np.ndarray
    residual: np.ndarray
    residual_squared: np.ndarray
    h_squared: np.ndarray

    def over(self, n: int) -> "Sums":
        """The means over so many records."""
        return Sums(*(part / n for part in self))


class Kernels(NamedTuple):
    """What a record adds to each of the `Sums` by its distance, from -reach to reach cells.

    `limits` is what it adds farther to the left of x, `jumps` by how much that rises where x passes it.
    """

    reach: int
    values: np.ndarray
    limits: np.ndarray
    jumps: np.ndarray


class CdfSums:
    """The `Sums` of T at any points in steps: whole ones for T_1, any for T_b.

    The line is cut into stretches, each of which has one transform, whichever of its points are asked for: so
    no bit depends on what was asked before. The last transforms are kept.

    Parameters
    ----------
    counts : ValueCounts
        Of the masked values, in steps.
    masking : Masking
    """

    def __init__(self, counts: ValueCounts, masking: Masking) -> None:
        self._counts, self._below = counts, counts.below
        self._at = Positions(masking)
        self._cell, self._held = cells(counts, self._at.width)
        self._below_cell = np.concatenate((np.zeros(1), np.cumsum(self._held)))
        self._first, self._last = self._at.ends(self._cell)
        self._length = max(STRETCH, 2 * self._at.kernels.reach)
        self._kept = BoundedCache(max(1, KEPT // self._length))

    def at(self, x: np.ndarray) -> Sums:
        """The sums at points x."""
        _, _, limits, jumps = self._at.kernels
        left, along = self._at.between(x, self._cell)
        total = np.empty((len(limits), x.size))
        number = np.floor((left - self._first) / self._length)
        for points in alike(number):
            first = float(self._first + number[points][0] * self._length)
            nodes, place = self._nodes(first), (left[points] - first).astype(np.int64)
            total[:, points] = nodes[:, place] + along[points] * (nodes[:, place + 1] - nodes[:, place])
        up_to, following = (
            self._below_cell[np.searchsorted(self._cell, at, side="right")] for at in (left, left + 1.0)
        )
        between = up_to + along * (following - up_to)
        total += limits[:, None] * between
        if self._at.steps:
            exact = self._below[np.searchsorted(self._counts.values, x, side="right")]
            total += jumps[:, None] * (exact - between)
        return Sums(*total)

    def _nodes(self, first: float) -> np.ndarray:
        """The sums at the cells of a stretch and the next, but for what records farther to the left add."""
        length = int(min(self._length, self._last - first + 1.0)) + 1
        nodes: np.ndarray = self._kept.get(
            first, lambda: _nodes(self._cell, self._held, self._at, first, length)
        )
        return nodes


class Positions:
    """Where points lie among the cells, and the kernels between them.

    Attributes
    ----------
    steps : bool
        Whether it is T_1, whose jumps stand at the records.
    width : float
        Of a cell, in steps of the grid.
    noise : Masking
        With noise rounded to the cells.
    kernels : Kernels
    """

    def __init__(self, masking: Masking) -> None:
        self.steps = masking.beta == 0.0
        self.width, self.noise = lattice(masking)
        self.in_sigma = self.width * masking.delta
        self.kernels = kernels(self.noise, self.in_sigma)

    def between(self, x: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells at or before points x, and how far they lie towards the next; `cell`: occupied ones."""
        position = (x + 1.0) / self.width - 1.0
        if not self.steps:
            position = (x - 0.5 * max(self.width - 1.0, 0.0)) / self.width
        position = np.clip(position, *self.ends(cell))
        left = np.floor(position)
        return left, position - left

    def ends(self, cell: np.ndarray) -> tuple[float, float]:
        """The cells beyond which nothing changes; `cell`: occupied ones."""
        beyond = self.kernels.reach + 1.0
        return cell[0] - beyond, cell[-1] + beyond


def sums(counts: ValueCounts, masking: Masking, x: np.ndarray) -> Sums:
    """The sums of T at points x in steps: whole ones for T_1, any for T_b."""
    return CdfSums(counts, masking).at(x)


def without_noise(counts: ValueCounts, p: float, x: np.ndarray) -> Sums:
    """The sums of T of records that masking leaves as they are, or replaces by others that are the same."""
    up_to = counts.below[np.searchsorted(counts.values, x, side="right")].astype(np.float64)
    return Sums(up_to, up_to, (1.0 - p) * up_to, (1.0 - p) ** 2 * up_to, up_to)


def lattice(masking: Masking, per_sigma: int = CELLS_PER_SIGMA) -> tuple[float, Masking]:
    """The width of the cells in steps of the grid, and the masking with noise rounded to them."""
    beta, delta = masking.beta, masking.delta
    finest = 1.0 / per_sigma
    if beta > 0.0:
        finest = beta / per_sigma if beta >= 1.0 else min(finest, beta / CELLS_PER_BANDWIDTH)
    times = int(finest / delta + 1e-9)
    if times >= 1:
        return float(times), masking._replace(delta=times * delta)
    return 1.0 if beta == 0.0 else 1.0 / ceil(CELLS_PER_BANDWIDTH * delta / beta), masking


def cells(counts: ValueCounts, width: float) -> tuple[np.ndarray, np.ndarray]:
    """The occupied cells, ascending, and how many records are in each."""
    cell = cell_of(counts.values, width)
    first = np.flatnonzero(np.diff(cell, prepend=np.nan) != 0.0)
    return cell[first], np.add.reduceat(counts.counts, first).astype(np.float64)


def cell_of(values: np.ndarray, width: float) -> np.ndarray:
    """The cells of values in steps."""
    return np.asarray(np.floor(values / width + (0.5 if width < 1.0 else 0.0)))


def alike(number: np.ndarray) -> Iterator[Any]:
    """Which of the points have the same number, number by number."""
    if number.size and number.min() == number.max():
        yield slice(None)
    elif number.size:
        order = np.argsort(number, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


@lru_cache(maxsize=16)
def kernels(noise: Masking, width: float) -> Kernels:
    """The kernels of T for noise on a grid of noise.delta, at multiples of `width`, in units of sigma."""
    p, beta = noise.p, noise.beta
    reach = ceil((weight.reach(noise._replace(beta=0.0), TAIL) + SATURATION * beta) / width) + 1
    if reach > MOST_REACH:
        raise ArgumentError(
            f"bandwidth must be at least {1.05 * beta * reach / MOST_REACH:.2g} sigma for a standard error, "
            f"got {beta:.2g} sigma"
        )
    size = fast_length(4 * reach)
    w = 2.0 * pi / (size * width) * np.arange(size // 2 + 1)
    inverse = 1.0 / (p + (1.0 - p) * weight.symbol(noise, w))
    if beta == 0.0:
        smooth = np.fft.fftshift(np.fft.irfft(inverse, size))
        smooth[size // 2] -= 1.0 / p
        smooth = np.cumsum(smooth)
        h = (np.arange(size) >= size // 2).astype(np.float64)
        psi, rest = smooth + h / p, -p * smooth
        middle = 0.5 * (smooth[size // 2] + smooth[size // 2 - 1])
    else:
        fall = np.exp(-0.5 * (beta * w) ** 2)
        psi, h = (_integral(fall * factor, w, size, width) for factor in (inverse, 1.0))
        rest, middle = h - p * psi, 0.0

    def of_originals(f: np.ndarray, limit: float) -> np.ndarray:
        """M[f], for which M[h] = psi: f tends to `limit` on the right."""
        rest_of_it = np.fft.ifftshift(f - limit * h)
        return np.asarray(
            limit * psi + np.fft.fftshift(np.fft.irfft(np.fft.rfft(rest_of_it) * inverse, size))
        )

    values = np.array(
        [
            psi,
            psi**2,
            of_originals(rest, 1.0 - p),
            of_originals(rest**2, (1.0 - p) ** 2),
            psi if beta == 0.0 else of_originals(h**2, 1.0),
        ]
    )
    limits = np.array([1.0, 1.0, 1.0 - p, (1.0 - p) ** 2, 1.0])
    jumps = np.array([1.0 / p, 1.0 / p**2 + 2.0 * middle / p, 0.0, 0.0, 1.0 / p])
    near = values[:, size // 2 - reach : size // 2 + reach + 1]
    return Kernels(reach, near, limits, jumps)


def _integral(transform: np.ndarray, w: np.ndarray, size: int, width: float) -> np.ndarray:
    """From 0 to 1: the running integral of an even function of this transform, whose integral is 1."""
    waves = np.zeros(w.size, dtype=np.complex128)
    waves[1:] = transform[1:] / (1j * w[1:])
    whole = np.fft.fftshift(np.fft.irfft(waves, size)) / width
    return np.asarray(whole + 0.5 + (np.arange(size) - size // 2) / size)


def _nodes(cell: np.ndarray, held: np.ndarray, at: Positions, first: float, length: int) -> np.ndarray:
    """The sums at so many cells from `first` on, but for what records farther to the left add."""
    reach = at.kernels.reach
    start, stop = np.searchsorted(cell, (first - reach, first + length + reach))
    size = 1 << (length + 2 * reach - 1).bit_length()
    dense = np.zeros(size)
    dense[(cell[start:stop] - first + reach).astype(np.int64)] = held[start:stop]
    spectrum = np.fft.rfft(dense) * transforms(at.noise, at.in_sigma, size)
    return np.asarray(np.fft.irfft(spectrum, size)[:, reach : reach + length])


@lru_cache(maxsize=16)
def transforms(noise: Masking, width: float, size: int) -> np.ndarray:
    """The transforms of the kernels without their limits, on a circle of so many cells."""
    reach, values, limits, _ = kernels(noise, width)
    return on_a_circle(values - limits[:, None] * (np.arange(2 * reach + 1) >= reach), size)


def on_a_circle(values: np.ndarray, size: int) -> np.ndarray:
    """The transforms of functions that are known from -reach to reach and 0 beyond."""
    reach, periodic = values.shape[1] // 2, np.zeros((len(values), size))
    periodic[:, np.arange(-reach, reach + 1) % size] = values
    return np.asarray(np.fft.rfft(periodic))
