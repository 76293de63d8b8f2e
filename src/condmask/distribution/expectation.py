r"""Means of any function g of the original, and how far they vary.

T gives each point a mass, which may be negative, and the mean of g is the sum of g weighted by it.
It is also the mean of psi(Z), where the transform of psi is that of g over p + (1-p) phi. Of both,
the part 1/p belongs to the masked values themselves, and g is taken there. Only the smooth rest is
summed over cells: of one step, or, where sigma has more than `CELLS_PER_SIGMA` steps, of so many
that there are about as many cells. Sums over steps are exact; on cells g is taken in the middle,
or as a mean where it jumps, which moves a mean of up to a million records by less than .002 of its
standard error.

The line is treated in windows, with one Fourier transform for the counts and one for g.

See docs/inference.rst, "Means of any function".
"""

from collections.abc import Callable, Iterator
from math import ceil, pi

import numpy as np

from condmask.distribution.cdf_variance import lattice
from condmask.distribution.convolution import convolve, fast_length
from condmask.distribution.counting import Counted
from condmask.distribution.symbol import Masking, reach, symbol
from condmask.errors import ArgumentError
from condmask.inference.theorem import Variance, given_file

Function = Callable[[np.ndarray], np.ndarray]
Asked = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of steps, and of how much mass is there
CELLS_PER_SIGMA = 4096
SETTLED = 4e-16  # in 1/p: what is left of a weight beyond its reach
WINDOW = 1 << 18
MOST_CELLS = 1 << 27
WITHIN = 64  # steps of a cell in which g jumps
JUMP = 1e-4  # in the largest value of g: by which it leaves a line through two cells beside
NEGLIGIBLE = 1e-10  # mass, on which g need not be finite
# of a sum, and of one of squares, from where mass is rounding: it is not known
LOST = np.array([1e-6, 1e-2])


def mean_of(
    g: Function, counted: Counted, masking: Masking, in_units: Function, *, shared_donors: bool
) -> tuple[float, Variance]:
    """The mean of a function of the original, from masked values, and n times its variances; NaN
    where the function grows too fast.

    Parameters
    ----------
    g : callable
        Of values in the units of the data.
    counted : Counted
        In whole steps, or p is 1.
    masking : Masking
    in_units : callable
        Steps in the units of the data.
    shared_donors : bool
        Whether donors are drawn anew for each record.
    """
    n = counted.n
    p = masking.p

    def ask(steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return _finite(g, in_units(steps), weights)

    if p == 1.0:
        values = ask(counted.values, counted.counts / n)
        first = counted.counts @ values / n
        second = counted.counts @ values**2 / n
        means = np.array([first, second, 0.0, 0.0, second])
    else:
        total = np.sum(
            [_sums(ask, *part, masking, n) for part in _windows(counted, masking)], axis=0
        )
        unknown = total[7:] > LOST * total[5:7]
        means = np.where(unknown[[0, 1, 0, 1, 1]], np.nan, total[:5] / n)
    psi, psi_squared, rest, rest_squared, squared = means
    v, d, h = np.maximum([psi_squared - psi**2, rest_squared - rest**2, squared - psi**2], 0.0)
    file = np.maximum(given_file(v, d, h, 0.0, shared_donors=shared_donors, p=p), 0.0)
    return float(psi), Variance(file, h)


def _windows(counted: Counted, masking: Masking) -> Iterator[tuple[Counted, float, int]]:
    """Parts of the values that are not long, with the steps of a cell and the cells of a reach."""
    steps, _ = lattice(masking, CELLS_PER_SIGMA)
    far = ceil(reach(masking, SETTLED / masking.p) / (steps * masking.delta)) + 1
    cell = np.floor(counted.values / steps)
    start = 0
    most = MOST_CELLS
    while start < cell.size:
        stop = int(np.searchsorted(cell, cell[start] + WINDOW))
        # beyond 2^71 cells the next number is farther away than a window
        stop = max(stop, start + 1)
        gap = np.flatnonzero(np.diff(cell[start:stop]) > 2.0 * far)[:1]
        stop = start + int(gap[0]) + 1 if gap.size else stop
        most -= int(cell[stop - 1] - cell[start]) + 2 * far
        if most < 0:
            raise ArgumentError(
                "the mean of a function needs its value wherever values lie within reach, at most at 2^27 "
                f"points, got more, {1.0 / (steps * masking.delta):.4g} of them for each sigma; moment and "
                "cdf need none"
            )
        yield Counted(counted.values[start:stop], counted.counts[start:stop]), steps, far
        start = stop


def _sums(
    ask: Asked, part: Counted, steps: float, far: int, masking: Masking, n: int
) -> np.ndarray:
    """The sums of psi, psi^2, r, r^2 and h^2, r = h - p psi; and how large g and g^2 are, weighted
    with the size of the mass, in all and where next to nothing of it is."""
    p = masking.p
    counts = part.counts
    cell = np.floor(part.values / steps)
    first = cell[0] - far
    place = (cell - cell[0]).astype(np.int64) + far
    length = int(place[-1]) + far + 1
    size = fast_length(length)
    w = 2.0 * pi / (size * steps * masking.delta) * np.arange(size // 2 + 1)
    smooth = 1.0 / (p + (1.0 - p) * symbol(masking, w)) - 1.0 / p
    held = np.bincount(place, counts, size)
    mass = convolve(held, smooth)[:length]
    weights = np.abs(mass + held[:length] / p)
    values = _on_cells(
        ask, (first + np.arange(length)) * steps + 0.5 * (steps - 1.0), steps, weights / n
    )
    own = values[place] if steps == 1.0 else ask(part.values, counts / n)
    received = convolve(np.pad(values, (0, size - length)), smooth)[:length]
    psi = own / p + received[place]
    rest = -p * received
    rest_there = -p * received[place]
    outer = weights.copy()
    outer[far // 5 : length - far // 5] = 0.0
    sizes = [each @ powers for each in (weights, outer) for powers in (np.abs(values), values**2)]
    of_originals = [
        counts @ at_values / p + mass @ on_cells
        for at_values, on_cells in (
            (rest_there, rest),
            (rest_there**2, rest**2),
            (own**2, values**2),
        )
    ]
    return np.array([counts @ psi, counts @ psi**2, *of_originals, *sizes])


def _on_cells(ask: Asked, middles: np.ndarray, steps: float, weights: np.ndarray) -> np.ndarray:
    """A function on cells: its value in the middle, or its mean where it jumps."""
    values = ask(middles, weights)
    if steps > 1.0:
        bend = np.abs(np.diff(values, 2))
        jumps = np.flatnonzero(bend > JUMP * np.abs(values).max()) + 1
        most = min(WITHIN, int(steps))  # steps of a cell that are looked at
        within = np.floor((np.arange(most) + 0.5) * (steps / most)) - 0.5 * (steps - 1.0)
        points = middles[jumps, None] + within
        shares = np.repeat(weights[jumps] / most, most)
        values[jumps] = ask(points.ravel(), shares).reshape(points.shape).mean(axis=1)
    return values


def _finite(g: Function, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The values of a function, 0 where they are not finite and there is next to no mass."""
    values = g(points)
    bad = np.flatnonzero(~np.isfinite(values))
    if weights[bad].sum() > NEGLIGIBLE:
        worst = bad[np.argmax(weights[bad])]
        raise ArgumentError(
            "g must be finite wherever the estimated distribution has mass, beyond the data too, got "
            f"{values[worst]} at {points[worst]:g}; let g begin with np.maximum or np.minimum"
        )
    values[bad] = 0.0
    return values
