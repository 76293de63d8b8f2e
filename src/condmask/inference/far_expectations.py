r"""The same sums where K reaches over more points of the grid than one transform should have.

The grid is then fine against sigma, and the mass that T gives to its points is a count over p at each record
and a smooth rest. Under normal noise nothing is left of that rest beyond some 9/sigma, so a lattice of cells
of sigma/32 or less knows it: records and functions enter by the power sums of their cells, one transform of
few points takes each to the other, and what a record receives is a polynomial on its cell. Under Laplace
noise the rest falls geometrically to both sides of a record, and is summed by recursion.

A function is still called for every point, once (twice under Laplace noise), but a block at a time. Errors
are those of rounding: ORDER powers leave (8.6 / 64)^ORDER / ORDER! = 5e-16 of a wave.
"""

from collections.abc import Callable
from math import factorial, pi

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.kernels.exponentials import geometric_sums

Function = Callable[[np.ndarray], np.ndarray]
CELLS_PER_SIGMA, CELLS_PER_CUTOFF = 32.0, 3.7  # the latter at least, which is 32 at the usual cutoff
CELLS = 1 << 16  # of a window
ORDER = 10
BLOCK = 1 << 18  # points at a time
NEGLIGIBLE = 1e-10  # mass, on which a function need not be finite


class NotFiniteError(ValueError):
    """A function is not finite at a point that has mass; the arguments are the point and the value."""


class Asked:
    """A function whose values are 0 where they are not finite and there is next to no mass in all."""

    def __init__(self, g: Function) -> None:
        self.g, self.mass, self.worst = g, 0.0, (0.0, 0.0, 0.0)

    def at(self, points: np.ndarray, mass: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The values; `mass` gives that of some of the points, by their places."""
        values = self.g(points)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            own = mass(bad)
            k = int(np.argmax(own))
            self.mass += float(own.sum())
            self.worst = max(self.worst, (float(own[k]), float(points[bad[k]]), float(values[bad[k]])))
            if self.mass > NEGLIGIBLE:
                raise NotFiniteError(*self.worst[1:])
            values = np.where(np.isfinite(values), values, 0.0)
        return values


def steps_of(masking: Masking) -> int:
    """The steps of a cell; under Laplace noise, which needs none, those of a block."""
    if masking.noise == "laplace":
        return 0 if weight.is_discrete(masking) else BLOCK
    if masking.delta > 1.0 / CELLS_PER_SIGMA:
        return 0
    return int(1.0 / (masking.delta * max(CELLS_PER_SIGMA, CELLS_PER_CUTOFF * weight.cutoff(masking))))


def sums(
    counts: ValueCounts, masking: Masking, reach: int, n: int, g: Function
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of one function over a window of records: psi, psi^2, r, r^2 and h^2; and how large g and g^2
    are, weighted with the size of the mass: in all, and where next to nothing of it is."""
    kind = _under_laplace if masking.noise == "laplace" else _under_normal
    return kind(counts, masking, reach, n, Asked(g))


def _under_normal(
    counts: ValueCounts, masking: Masking, reach: int, n: int, g: Asked
) -> tuple[np.ndarray, np.ndarray]:
    p, size = masking.p, steps_of(masking)
    first, at, length = _window(counts, reach)
    cells = fast_length(-(-length // size))
    turn = 2.0 * pi / cells  # the angle by which the slowest wave turns over a cell
    modes = min(cells // 2 + 1, int(weight.cutoff(masking) * masking.delta * size / turn) + 2)
    waves = turn * np.arange(modes)
    phi = weight.symbol(masking, waves / (size * masking.delta))
    smooth = -(1.0 - p) / p * phi / (p + (1.0 - p) * phi) / size
    turns = (1j * waves) ** np.arange(ORDER)[:, None]

    def polynomials(moments: np.ndarray) -> np.ndarray:
        """What sources with these power sums add to all cells: derivatives in their middles."""
        sent = np.fft.rfft(moments, cells)[:, :modes]
        return np.asarray(np.fft.irfft(turns * (smooth * np.sum(sent * np.conj(turns), axis=0)), cells))

    cell, places = at // size, _powers((at % size - 0.5 * (size - 1)) / size)
    held = np.array([np.bincount(cell, counts.counts * each, cells) for each in places])
    rest_of_mass = polynomials(held)
    basis, density = _powers((np.arange(size) - 0.5 * (size - 1)) / size), np.abs(rest_of_mass[0])
    moments, squared, weighed = np.zeros((ORDER, cells)), np.zeros((ORDER, cells)), np.zeros((2, cells))
    of_z = np.empty(at.size)
    lot = max(1, BLOCK // size)
    for low in range(0, -(-length // size), lot):
        stop = min((low + lot) * size, length)
        own = slice(*np.searchsorted(at, (low * size, stop)))

        def mass(bad: np.ndarray, low: int = low, own: slice = own) -> np.ndarray:
            dense = np.zeros(int(bad[-1]) + 1)
            there = own.start + np.flatnonzero(at[own] - low * size < dense.size)
            dense[at[there] - low * size] = counts.counts[there] / p
            return np.asarray((density[low + bad // size] + dense[bad]) / n)

        values = g.at(first + np.arange(low * size, stop), mass)
        of_z[own] = values[at[own] - low * size]
        table = np.zeros((-(-values.size // size), size))
        table.ravel()[: values.size] = values
        there = slice(low, low + len(table))
        squares = table * table
        moments[:, there], squared[:, there] = basis @ table.T, basis @ squares.T
        weighed[:, there] = np.abs(table).sum(axis=1), squares.sum(axis=1)
    received = polynomials(moments)
    smoothed = np.sum(received[:, cell] * places, axis=0)
    psi, rest = of_z / p + smoothed, -p * received[0]  # g - p psi has nothing of g itself
    of_rest, records = -p * smoothed, counts.counts
    totals = np.array([
        records @ psi,
        records @ psi**2,
        records @ of_rest / p + size * (rest_of_mass[0] @ rest),  # of so slow waves, a point a cell is all
        records @ of_rest**2 / p + size * (rest_of_mass[0] @ rest**2),
        records @ of_z**2 / p + np.sum(rest_of_mass * squared),
    ])  # fmt: skip
    middles = size * np.arange(cells) + 0.5 * size
    outer = (middles < reach // 5) | (middles >= length - reach // 5)
    lost = weighed @ (density * outer)
    every = weighed @ density + np.array([records @ np.abs(of_z), records @ of_z**2]) / p
    return totals, np.array([every, lost])


def _under_laplace(
    counts: ValueCounts, masking: Masking, reach: int, n: int, g: Asked
) -> tuple[np.ndarray, np.ndarray]:
    """The mass of a record is `peak` at its own point and `tail` times ratio^k, k steps from it, at all."""
    p, (amplitude, decay) = masking.p, weight.laplace_tail(masking)
    fall = -np.expm1(-masking.delta / decay)
    tail = -amplitude * fall / np.sqrt(1.0 - fall)
    peak = 1.0 + 2.0 * amplitude * np.sqrt(1.0 - fall) - tail
    first, at, length = _window(counts, reach)
    starts = np.arange(0, length, BLOCK)
    fading = np.exp(-masking.delta / decay * np.arange(BLOCK))
    # of counts and of g: what a block alone leaves on its right, and left
    ends = np.zeros((2, 2, starts.size))

    def block(k: int) -> tuple[np.ndarray, slice, np.ndarray]:
        start, stop = int(starts[k]), min(int(starts[k]) + BLOCK, length)
        own = slice(*np.searchsorted(at, (start, stop)))
        dense = np.zeros(stop - start)
        dense[at[own] - start] = counts.counts[own]
        return first + np.arange(start, stop), own, dense

    def values_at(points: np.ndarray) -> np.ndarray:
        values = g.g(points)
        return np.where(np.isfinite(values), values, 0.0)

    for k in range(starts.size):
        points, _, dense = block(k)
        for row, part in enumerate((dense, values_at(points))):
            ends[row, :, k] = part @ fading[: part.size][::-1], part @ fading[: part.size]
    ratio = float(np.exp(-masking.delta / decay * BLOCK))
    before, after = np.zeros((2, starts.size)), np.zeros((2, starts.size))
    for k in range(1, starts.size):
        before[:, k] = ratio * before[:, k - 1] + ends[:, 0, k - 1]
        last = starts.size - 1 - k
        size = min(BLOCK, length - int(starts[last + 1]))
        after[:, last] = float(np.exp(-masking.delta / decay * size)) * after[:, last + 1]
        after[:, last] += ends[:, 1, last + 1]
    totals, held = np.zeros(5), np.zeros((2, 2))
    both = np.empty((2, BLOCK))
    for k in range(starts.size):
        points, own, dense = block(k)
        around, of_g = both[:, : dense.size]
        geometric_sums(dense, fall, before[0, k], after[0, k], around)
        weights = np.abs(peak * dense + tail * around)

        def heavy(bad: np.ndarray, weights: np.ndarray = weights) -> np.ndarray:
            return np.asarray(weights[bad] / n)

        values = g.at(points, heavy)
        geometric_sums(values, fall, before[1, k], after[1, k], of_g)
        mass, psi = peak * dense + tail * around, peak * values + tail * of_g
        rest, squares = values - p * psi, values * values
        of_z = psi[at[own] - int(starts[k])]
        totals += [
            counts.counts[own] @ of_z, counts.counts[own] @ of_z**2,
            mass @ rest, mass @ rest**2, mass @ squares,
        ]  # fmt: skip
        place = np.arange(int(starts[k]), int(starts[k]) + dense.size)
        outer = (place < reach // 5) | (place >= length - reach // 5)
        for row, sizes in enumerate((np.abs(values), squares)):
            held[:, row] += weights @ sizes, weights[outer] @ sizes[outer]
    return totals, held


def _window(counts: ValueCounts, reach: int) -> tuple[float, np.ndarray, int]:
    """The first point within reach, the places of the records, and the number of points."""
    first = counts.values[0] - reach
    return first, (counts.values - first).astype(np.int64), int(counts.values[-1] - first) + 1 + reach


def _powers(t: np.ndarray) -> np.ndarray:
    return np.array([t**m / factorial(m) for m in range(ORDER)])
