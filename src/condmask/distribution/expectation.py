r"""Computes means of any function g of the original, and their variances.

T gives each point a mass, which may be negative, and the mean of g is the sum of g weighted by it.
It is also the mean of psi(Z), where the transform of psi is that of g divided by p + (1-p) phi.
Both have a part with the factor 1/p that needs g at the masked values alone. The smooth rest is
summed over cells of one step each or, where sigma has more than `MEAN_CELLS_PER_SIGMA` steps, over
about that many cells in a sigma. Sums over steps are exact. On wider cells g is taken in the
middle, or as a mean where it jumps, which moves a mean of up to a million records by less than
.002 of its standard error.

The line is cut into windows. Each has one convolution for the counts and one for g.

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
# the function at steps, and the size of the mass there
FunctionOfSteps = Callable[[np.ndarray, np.ndarray], np.ndarray]
MEAN_CELLS_PER_SIGMA = 4096
SETTLED_WEIGHT = 4e-16  # size of a weight beyond its reach, in 1/p
WINDOW_CELLS = 1 << 18
MAX_CELLS = 1 << 27  # in all windows
MAX_POINTS_OF_JUMP = 64  # points in a cell in which g jumps
MIN_JUMP = 1e-4  # second difference of g over cells, in its largest value, that counts as a jump
NEGLIGIBLE_MASS = 1e-10  # where g need not be finite
# a mean, and one of squares, is unknown if more than this share of its sum comes from where the
# mass is rounding error
MAX_SHARE_OF_ROUNDING = np.array([1e-6, 1e-2])


def mean_of_function(
    g: Function, counted: Counted, masking: Masking, in_units: Function, *, shared_donors: bool
) -> tuple[float, Variance]:
    """Estimate the mean of a function of the original from masked values.

    Returns the mean and n times its variances; NaN where the function grows too fast.

    Parameters
    ----------
    g : callable
        A function of values in the units of the data.
    counted : Counted
        The masked values, in whole steps unless p is 1.
    masking : Masking
    in_units : callable
        Turns steps into values in the units of the data.
    shared_donors : bool
        Whether donors are drawn anew for each record.
    """
    n = counted.n
    p = masking.p

    def g_of_steps(steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return _finite(g, in_units(steps), weights)

    if p == 1.0:
        values = g_of_steps(counted.values, counted.counts / n)
        first = counted.counts @ values / n
        second = counted.counts @ values**2 / n
        means = np.array([first, second, 0.0, 0.0, second])
    else:
        total = np.sum(
            [
                _sums(g_of_steps, *part, masking, n)
                for part in _windows_of_values(counted, masking)
            ],
            axis=0,
        )
        unknown = total[7:] > MAX_SHARE_OF_ROUNDING * total[5:7]
        means = np.where(unknown[[0, 1, 0, 1, 1]], np.nan, total[:5] / n)
    psi, psi_squared, rest, rest_squared, squared = means
    v, d, h = np.maximum([psi_squared - psi**2, rest_squared - rest**2, squared - psi**2], 0.0)
    file = np.maximum(given_file(v, d, h, 0.0, shared_donors=shared_donors, p=p), 0.0)
    return float(psi), Variance(file, h)


def _windows_of_values(counted: Counted, masking: Masking) -> Iterator[tuple[Counted, float, int]]:
    """Yield windows of the values, each with the steps in a cell and the cells in a reach."""
    steps, _ = lattice(masking, MEAN_CELLS_PER_SIGMA)
    far = ceil(reach(masking, SETTLED_WEIGHT / masking.p) / (steps * masking.delta)) + 1
    cell = np.floor(counted.values / steps)
    start = 0
    cells_left = MAX_CELLS
    while start < cell.size:
        stop = int(np.searchsorted(cell, cell[start] + WINDOW_CELLS))
        # beyond 2^71 cells the next number is farther away than a window
        stop = max(stop, start + 1)
        gap = np.flatnonzero(np.diff(cell[start:stop]) > 2.0 * far)[:1]
        stop = start + int(gap[0]) + 1 if gap.size else stop
        cells_left -= int(cell[stop - 1] - cell[start]) + 2 * far
        if cells_left < 0:
            raise ArgumentError(
                "the mean of a function needs its value wherever values lie within reach, at most "
                "at 2^27 points, got more, "
                f"{1.0 / (steps * masking.delta):.4g} of them for each sigma; moment and cdf need "
                "none"
            )
        yield Counted(counted.values[start:stop], counted.counts[start:stop]), steps, far
        start = stop


def _sums(
    g: FunctionOfSteps, part: Counted, steps: float, far: int, masking: Masking, n: int
) -> np.ndarray:
    """Return sums over the records of a window.

    They are the sums of psi, psi^2, r, r^2 and g^2, with r = g - p psi; then those of abs(g) and
    g^2 weighted by the size of the mass, over all cells; and the same over the outer cells alone,
    where the mass is next to nothing.
    """
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
        g, (first + np.arange(length)) * steps + 0.5 * (steps - 1.0), steps, weights / n
    )
    own = values[place] if steps == 1.0 else g(part.values, counts / n)
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


def _on_cells(
    g: FunctionOfSteps, middles: np.ndarray, steps: float, weights: np.ndarray
) -> np.ndarray:
    """Return a function on cells: its value in the middle, or its mean where it jumps."""
    values = g(middles, weights)
    if steps > 1.0:
        bend = np.abs(np.diff(values, 2))
        jumps = np.flatnonzero(bend > MIN_JUMP * np.abs(values).max()) + 1
        count = min(MAX_POINTS_OF_JUMP, int(steps))
        within = np.floor((np.arange(count) + 0.5) * (steps / count)) - 0.5 * (steps - 1.0)
        points = middles[jumps, None] + within
        shares = np.repeat(weights[jumps] / count, count)
        values[jumps] = g(points.ravel(), shares).reshape(points.shape).mean(axis=1)
    return values


def _finite(g: Function, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the values of g, 0 where they are not finite but the mass is negligible.

    Raises ArgumentError if g is not finite where there is mass.
    """
    values = g(points)
    bad = np.flatnonzero(~np.isfinite(values))
    if weights[bad].sum() > NEGLIGIBLE_MASS:
        worst = bad[np.argmax(weights[bad])]
        raise ArgumentError(
            "g must be finite wherever the estimated distribution has mass, beyond the data too, "
            f"got {values[worst]} at {points[worst]:g}; let g begin with np.maximum or np.minimum"
        )
    values[bad] = 0.0
    return values
