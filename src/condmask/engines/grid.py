r"""The "grid" engine: the estimator as one Fourier transform of counts, for data that lie on a grid.

With c_k the number of records at grid point k and phi_d the characteristic function of the rounded noise,
the mass that T gives to the points, which may be negative, is one division in Fourier space::

    mass = IFFT( FFT(c) / (p + (1-p) phi_d) ) / n

T_1 is its running sum, exact but for rounding, for every p, sigma, step and noise. Of it the part c / (p n)
is summed as it is, in whole numbers, and only the rest is transformed. T_b has the normal factor besides, so
few frequencies are left of it, and it is a polynomial on cells some tenth of the bandwidth wide.

The line is cut where no record lies within reach; between the pieces T is constant. Lengths are in steps.
"""

from itertools import pairwise
from math import factorial, pi

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.table import smallest_tol
from condmask.deconvolution.weight import SATURATION, Masking
from condmask.engines.counting import ValueCounts
from condmask.engines.piecewise_cdf import PiecewiseCDF
from condmask.engines.step_cdf import StepCDF
from condmask.law import FINE_GRID

LONGEST, RECORDS_PER_POINT = 1 << 18, 4  # points of all pieces together, beyond which a lattice serves alone
ORDER = 8  # coefficients of the polynomials of T_b
STRIDE = 32


def length(counts: ValueCounts, masking: Masking) -> float:
    """How many points the transforms of all pieces have together."""
    return pieces_length(counts, reach_of(masking))


def pieces_length(counts: ValueCounts, reach: int) -> float:
    """How many points all pieces have together, where records reach so many steps."""
    gaps = np.diff(counts.values)
    cut = gaps[gaps > 2.0 * reach]
    return float(counts.values[-1] - counts.values[0] - cut.sum() + 2.0 * reach * (1 + cut.size))


def serves(length: float, n: int) -> bool:
    """Whether the pieces of n records are short enough to be transformed."""
    return length <= max(LONGEST, n / RECORDS_PER_POINT)


def steps(counts: ValueCounts, masking: Masking) -> StepCDF:
    """T_1 at the points of the grid; masking.delta is the step in units of sigma."""
    n, p, reach = counts.n, masking.p, reach_of(masking)
    starts, values, before = [], [], 0
    for part in pieces(counts, 2.0 * reach):
        first, last = part.values[0], part.values[-1]
        size = int(last - first) + 1
        dense, stride = _dense(part, size + 2 * reach, modes_of(masking, size + 2 * reach))
        spectrum = low(dense, modes_of(masking, dense.size), stride)
        smooth = at_all_points(running_smooth(spectrum, masking, dense.size), dense.size, stride)
        around = np.concatenate((smooth[-reach:], smooth[: size + reach])) - smooth[-reach - 1]
        around += part.n * (1.0 - 1.0 / p) / dense.size * np.arange(1.0, around.size + 1.0)
        around[reach : reach + size] += np.cumsum(dense[:size]) / p
        around[reach + size :] += part.n / p
        around += before
        around /= n
        starts.append(first - reach)
        values.append(around)
        before += part.n
    return StepCDF(np.array(starts), values)


def polynomials(counts: ValueCounts, masking: Masking, tol: float, *, density: bool = False) -> PiecewiseCDF:
    """T_b, or its derivative by the step, to `tol`."""
    n, reach = counts.n, reach_of(masking)
    lefts, widths, coefficients, before = [], [], [], [0]
    for part in pieces(counts, 2.0 * reach):
        least = int(part.values[-1] - part.values[0]) + 1 + 2 * reach
        dense, stride = _dense(part, least, smoothed_modes(masking, least))
        size = dense.size
        spectrum = low(dense, smoothed_modes(masking, size), stride)
        mass = smoothed_mass(spectrum, masking, masking.delta, size)
        local, width = local_polynomials(mass, part.n, size, reach, tol * n, density)
        if not density:
            local[:, 0] += before[-1]
        local /= n
        coefficients.append(local)
        lefts.append(part.values[0] - reach)
        widths.append(width)
        before.append(before[-1] + part.n)
    outside = np.zeros(len(before)) if density else np.array(before) / n
    return PiecewiseCDF(np.array(lefts), np.array(widths), coefficients, outside)


def reach_of(masking: Masking) -> int:
    """StepCDF beyond which a record counts as 0 or 1, to a tenth of the rounding error of its weight."""
    return int(np.ceil(weight.reach(masking, 0.1 * smallest_tol(masking.p)) / masking.delta)) + 1


def pieces(counts: ValueCounts, gap: float) -> list[ValueCounts]:
    """The counts, cut where neighbouring values lie farther apart than `gap`."""
    cuts = np.flatnonzero(np.diff(counts.values) > gap) + 1
    edges = [0, *cuts.tolist(), counts.values.size]
    return [ValueCounts(counts.values[a:b], counts.counts[a:b]) for a, b in pairwise(edges)]


def modes_of(masking: Masking, size: int) -> int:
    """How many frequencies of a transform of this size what the mass has besides c / p consists of."""
    if masking.noise == "normal" and masking.delta <= FINE_GRID:  # nothing is left at higher ones
        return min(size // 2 + 1, int(weight.cutoff(masking) * masking.delta * size / (2.0 * pi)) + 2)
    return size // 2 + 1


def smoothed_modes(masking: Masking, size: int) -> int:
    """How many frequencies of a transform of this size T_b consists of."""
    cutoff = SATURATION + 0.25 * max(0.0, -np.log(masking.p))
    return int(cutoff * masking.delta / masking.beta * size / (2.0 * pi)) + 2


def stride_of(least: int, modes: int) -> int:
    """How many counts apart those lie that are transformed together, where few frequencies are wanted."""
    return STRIDE if least >= 8 * STRIDE * modes else 1


def _dense(counts: ValueCounts, least: int, modes: int) -> tuple[np.ndarray, int]:
    """A count for each grid point from the first value on, `least` or some more, and the stride."""
    stride = stride_of(least, modes)
    dense = np.zeros(stride * fast_length(-(-least // stride)))
    dense[(counts.values - counts.values[0]).astype(np.int64)] = counts.counts
    return dense, stride


def low(dense: np.ndarray, modes: int, stride: int) -> np.ndarray:
    """The lowest frequencies of the transform of counts, along the last axis.

    Where few are wanted, from transforms of every so-many-th count, which stay in the cache.
    """
    if stride == 1:
        return np.fft.rfft(dense)
    apart = np.swapaxes(dense.reshape(*dense.shape[:-1], -1, stride), -1, -2)
    parts = np.fft.rfft(np.ascontiguousarray(apart))[..., :modes]
    return np.asarray(np.sum(parts * np.conj(_turns(dense.shape[-1], modes, stride)), axis=-2))


def at_all_points(waves: np.ndarray, size: int, stride: int) -> np.ndarray:
    """The values at all points of waves of few frequencies, along the last axis."""
    if stride == 1:
        return np.asarray(np.fft.irfft(waves, size))
    turned = waves[..., None, :] * _turns(size, waves.shape[-1], stride)
    parts = np.fft.irfft(turned, size // stride) / stride
    return np.ascontiguousarray(np.swapaxes(parts, -1, -2)).reshape(*waves.shape[:-1], size)


def _turns(size: int, modes: int, stride: int) -> np.ndarray:
    """What each frequency turns by over the first points, one row for each."""
    return np.asarray(np.exp((2j * pi / size) * np.arange(stride)[:, None] * np.arange(modes)))


def running_smooth(spectrum: np.ndarray, masking: Masking, size: int) -> np.ndarray:
    """The transform of the running sum of what the mass has besides c / p, but for its mean.

    Of counts by the step of masking.delta, along the last axis.
    """
    p, most = masking.p, min(spectrum.shape[-1], modes_of(masking, size))
    theta = 2.0 * pi / size * np.arange(1, most)
    phi = weight.symbol(masking, theta / masking.delta)
    share = -(1.0 - p) / p * phi / (p + (1.0 - p) * phi)
    waves = np.zeros(spectrum.shape, dtype=np.complex128)
    # a running sum divides by 1 - exp(-i theta), here without cancellation
    waves[..., 1:most] = spectrum[..., 1:most] * (share * np.exp(0.5j * theta) / (2j * np.sin(0.5 * theta)))
    return waves


def smoothed_mass(spectrum: np.ndarray, masking: Masking, step: float, size: int) -> np.ndarray:
    """The transform of the mass of T_b at the frequencies 1, 2, ... that are left of it.

    `spectrum` is that of counts by `step`, in units of sigma; masking.delta is the grid of the noise.
    """
    p, b = masking.p, masking.beta / step
    modes = smoothed_modes(masking._replace(delta=step), size)
    theta = 2.0 * pi / size * np.arange(1, modes)
    # beyond half the sampling frequency the transform of counts repeats itself, mirrored
    turn = np.arange(1, modes) % size
    mirrored = turn > size // 2
    folded = np.where(mirrored, size - turn, turn)
    counted = np.where(mirrored, np.conj(spectrum[folded]), spectrum[folded])
    phi = weight.symbol(masking, theta / step)
    return np.asarray(counted * (np.exp(-0.5 * (b * theta) ** 2) / (p + (1.0 - p) * phi)))


def local_polynomials(
    mass: np.ndarray, total: int, size: int, reach: int, tol: float, density: bool
) -> tuple[np.ndarray, float]:
    """PiecewiseCDF on cells that begin `reach` steps before the first value, and their width."""
    modes = mass.size + 1
    theta = 2.0 * pi / size * np.arange(1, modes)
    height = 2.0 / size * np.abs(mass) * (1.0 if density else 1.0 / theta)
    cells = fast_length(2 * modes + 1)
    # what the polynomials leave out is at most the next term of each wave's expansion
    while np.sum(height * (0.5 * size / cells * theta) ** ORDER) / factorial(ORDER) > 0.5 * tol:
        cells = fast_length(int(1.2 * cells) + 1)
    width = size / cells
    phase = np.exp(1j * theta * (0.5 * width - reach))
    local = np.empty((cells, ORDER))
    waves = np.zeros(cells // 2 + 1, dtype=np.complex128)
    for order in range(ORDER):
        turned = mass * phase * (1j * theta) ** (order if density else order - 1)
        waves[1:modes] = turned * (width**order / factorial(order))
        local[:, order] = np.fft.irfft(waves, cells) * (cells / size)
    if density:
        local[:, 0] += total / size
        return local, width
    local[:, 0] += total / size * width * (np.arange(cells) + 0.5)
    local[:, 1] += total / size * width
    local[:, 0] -= local[0] @ (-0.5) ** np.arange(ORDER)
    return local, width
