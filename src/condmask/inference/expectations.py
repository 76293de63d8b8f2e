r"""Means of any function of the original, from counts on a grid.

T gives each point of the grid a mass, which may be negative; the mean of g is the sum of g weighted by it.
It is also the mean of psi(Z), where the transform of psi is that of g over p + (1-p) phi_d. Both are exact,
and so are the mean squares behind standard errors (`variances.Sums`): two Fourier transforms over
the range of the data and the reach of K beyond it for the mass, piece by piece, and two for each function.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import pi

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.engines.grid import pieces, reach_of
from condmask.inference import far_expectations
from condmask.inference.cdf_variance import Sums
from condmask.inference.far_expectations import Asked, Function
from condmask.inference.far_expectations import NotFiniteError as NotFiniteError

LONGEST = 1 << 18  # points of a piece at a time
MANY_POINTS = 1 << 22  # in all, from which on a coarser lattice is faster where a cell of it has FINE steps
FINE = 8
MOST_POINTS = 1 << 27  # at which a function is asked
# share of a sum, and of one of squares, from where the mass is down to rounding, that leaves them unknown
LOST = np.array([1e-6, 1e-2])


class TooManyPointsError(ValueError):
    """More points of the grid lie within reach of the data than a function is called for: the argument."""


def sums(counts: ValueCounts, masking: Masking, functions: Sequence[Function]) -> Sums:
    """The sums of functions of whole steps, in the shape of these; NaN where one grows too fast for them to
    be known."""
    n, reach = counts.n, reach_of(masking)
    total, held = np.zeros((5, len(functions))), np.zeros((2, 2, len(functions)))
    longest = _longest(counts, masking, reach)
    for part in windows(counts, reach, longest):
        if longest > LONGEST:
            for k, g in enumerate(functions):
                found, sizes = far_expectations.sums(part, masking, reach, n, g)
                total[:, k] += found
                held[:, :, k] += sizes
        else:
            _add_transformed(part, masking, reach, n, functions, total, held)
    unknown = held[1] > LOST[:, None] * held[0]
    total[[0, 2]] = np.where(unknown[0], np.nan, total[[0, 2]])
    total[[1, 3, 4]] = np.where(unknown[1], np.nan, total[[1, 3, 4]])
    return Sums(*total)


def _longest(counts: ValueCounts, masking: Masking, reach: int) -> float:
    """How long a window may be: transforms are so short, or the grid is too fine for them."""
    wide = 0.0
    if far_expectations.steps_of(masking) >= FINE:
        wide = float(far_expectations.CELLS) * far_expectations.steps_of(masking)
        if 2 * reach <= LONGEST and _points(counts, reach, LONGEST) <= MANY_POINTS:
            wide = 0.0
    longest = max(wide, float(LONGEST))
    points = _points(counts, reach, longest)
    if points > MOST_POINTS:
        raise TooManyPointsError(points)
    return longest


def _points(counts: ValueCounts, reach: int, longest: float) -> float:
    """The number of points for which a function is called."""
    spans = (float(part.values[-1] - part.values[0]) for part in windows(counts, reach, longest))
    return sum(span + 1.0 + 2.0 * reach for span in spans)


def _add_transformed(
    part: ValueCounts, masking: Masking, reach: int, n: int,
    functions: Sequence[Function], total: np.ndarray, held: np.ndarray,
) -> None:  # fmt: skip
    """The sums of a window, and how large each function is where there is mass, and where there is little."""
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
            held[0, order, k] += each
            held[1, order, k] += each - weights[near] @ sizes[near]


def sums_without_noise(counts: ValueCounts, p: float, functions: Sequence[Function]) -> Sums:
    """Sums over records that masking leaves as they are, or replaces by others that are the same."""
    values = np.empty((len(functions), counts.values.size))
    for row, g in zip(values, functions, strict=True):
        row[:] = finite(g, counts.values, counts.counts / counts.n)
    once, squared = values @ counts.counts, values**2 @ counts.counts
    return Sums(once, squared, (1.0 - p) * once, (1.0 - p) ** 2 * squared, squared)


def windows(counts: ValueCounts, reach: int, longest: float) -> Iterator[ValueCounts]:
    """The counts in pieces that are done one by one, none of them long."""
    for piece in pieces(counts, 2.0 * reach):
        group = np.floor((piece.values - piece.values[0]) / longest)
        edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), group.size]
        for start, stop in pairwise(edges):
            yield ValueCounts(piece.values[start:stop], piece.counts[start:stop])


def finite(g: Function, points: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The values of g, 0 where they are not finite and there is next to no mass."""
    return Asked(g).at(points, lambda some: mass[some])
