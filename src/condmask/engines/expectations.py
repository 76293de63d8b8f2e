r"""Means of any function of the original, from counts on a grid.

The mass that T gives to the points of the grid, which may be negative, has the mean of g as its sum with g;
that is also the mean of psi(Z) with the transform of psi that of g over p + (1-p) phi_d. Both are exact, and
with them the mean squares of which standard errors are made (`variances.Sums`): two Fourier transforms over
the range of the data and the reach of K beyond it for the mass, piece by piece, and two for each function.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import pi

import numpy as np

from condmask.engines.counting import Counts
from condmask.engines.grid import pieces, reach_of
from condmask.engines.variances import Sums
from condmask.weights import weight
from condmask.weights.expansion import fast_length
from condmask.weights.weight import Masking

Function = Callable[[np.ndarray], np.ndarray]
LONGEST = 1 << 18  # points of a piece at a time
NEGLIGIBLE = 1e-10  # mass, on which a function need not be finite
# share of a sum, and of one of squares, from where the mass is down to rounding, that leaves them unknown
LOST = np.array([1e-6, 1e-2])


class NotFiniteError(ValueError):
    """A function is not finite at a point that has mass; the arguments are the point and the value."""


def sums(counts: Counts, masking: Masking, functions: Sequence[Function]) -> Sums:
    """Those of the means of functions of whole steps, in the shape of these; NaN where one grows too fast
    for them to be known."""
    total, n, reach = np.zeros((5, len(functions))), counts.n, reach_of(masking)
    held, lost = np.zeros((2, len(functions))), np.zeros((2, len(functions)))
    for part in windows(counts, reach):
        first = part.values[0] - reach
        length = int(part.values[-1] - first) + 1 + reach
        size = fast_length(length)
        dense = np.zeros(size)
        dense[(part.values - first).astype(np.int64)] = part.counts
        w = 2.0 * pi / (size * masking.delta) * np.arange(size // 2 + 1)
        inverse = 1.0 / (masking.p + (1.0 - masking.p) * weight.symbol(masking, w))
        mass = np.fft.irfft(np.fft.rfft(dense) * inverse, size)
        weights, points = np.abs(mass[:length]), first + np.arange(length)
        near = slice(reach // 5, length - reach // 5)
        for k, g in enumerate(functions):
            values = np.zeros(size)
            values[:length] = finite(g, points, weights / n)
            psi = np.fft.irfft(np.fft.rfft(values) * inverse, size)
            rest = values - masking.p * psi
            squares, of_rest = values * values, mass * rest
            total[:, k] += [dense @ psi, dense @ (psi * psi), of_rest.sum(), of_rest @ rest, mass @ squares]
            for order, sizes in enumerate((np.abs(values[:length]), squares[:length])):
                each = weights @ sizes
                held[order, k] += each
                lost[order, k] += each - weights[near] @ sizes[near]
    unknown = lost > LOST[:, None] * held
    total[[0, 2]] = np.where(unknown[0], np.nan, total[[0, 2]])
    total[[1, 3, 4]] = np.where(unknown[1], np.nan, total[[1, 3, 4]])
    return Sums(*total)


def sums_without_noise(counts: Counts, p: float, functions: Sequence[Function]) -> Sums:
    """The same of records that masking leaves as they are, or replaces by others that are the same."""
    values = np.array([finite(g, counts.values, counts.counts / counts.n) for g in functions])
    once, squared = values @ counts.counts, values**2 @ counts.counts
    return Sums(once, squared, (1.0 - p) * once, (1.0 - p) ** 2 * squared, squared)


def windows(counts: Counts, reach: int) -> Iterator[Counts]:
    """The counts in pieces that are done one by one, none of them long."""
    for piece in pieces(counts, 2.0 * reach):
        group = np.floor((piece.values - piece.values[0]) / LONGEST)
        edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), group.size]
        for start, stop in pairwise(edges):
            yield Counts(piece.values[start:stop], piece.counts[start:stop])


def finite(g: Function, points: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The values of g, 0 where they are not finite and there is next to no mass."""
    values = g(points)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        if mass[bad].sum() > NEGLIGIBLE:
            worst = bad[np.argmax(mass[bad])]
            raise NotFiniteError(float(points[worst]), float(values[worst]))
        values = np.where(np.isfinite(values), values, 0.0)
    return values
