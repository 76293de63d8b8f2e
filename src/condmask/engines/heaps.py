r"""The "grid" engine for data with heaps: T as the sum of what each level gives.

Noise leaves the level of a value as it is, so the levels are strata that values name themselves, and
``T = sum (n_l / n) T_l`` with the law of each level's noise. Values of level l are every 10^l-th point of the
grid and their noise has ten times that step: within a level the ten residues are ten grids of that step.

Lengths are in steps of the finest grid; `maskings` has one for each level, whose delta is the step of its
noise in units of sigma.
"""

from collections.abc import Sequence

import numpy as np

from condmask.engines import grid
from condmask.engines.counting import Counts
from condmask.engines.grid import Polynomials, Steps
from condmask.kernels.heaps import add_staircases
from condmask.levels import level_of, noise_units
from condmask.weights.expansion import fast_length
from condmask.weights.weight import Masking

LONGEST = 1 << 24  # points of all pieces together


def serves(counts: Counts, maskings: Sequence[Masking]) -> bool:
    """Whether the pieces are short enough to be transformed."""
    reach = _reach(maskings)
    return grid.pieces_length(counts, reach) <= LONGEST


def steps(counts: Counts, maskings: Sequence[Masking]) -> Steps:
    """T_1 at the points of the finest grid."""
    reach, heaps = _reach(maskings), 10 ** (len(maskings) - 1)
    starts, values, before = [], [], 0
    for part in grid.pieces(counts, 2.0 * reach):
        first = heaps * np.floor((part.values[0] - reach) / heaps)
        size = heaps * int((part.values[-1] + reach - first) // heaps + 1)
        total, level = np.full(size, float(before)), level_of(part.values, heaps)
        for k, (masking, unit) in enumerate(zip(maskings, noise_units(heaps), strict=True)):
            own = level == k
            if own.any():
                _add_level(part.values[own] - first, part.counts[own], masking, 10**k, unit, total)
        total /= counts.n
        starts.append(first)
        values.append(total)
        before += part.n
    return Steps(np.array(starts), values)


def polynomials(
    counts: Counts, maskings: Sequence[Masking], tol: float, *, density: bool = False
) -> Polynomials:
    """T_b, or its derivative by the step, to `tol`."""
    n, reach, heaps = counts.n, _reach(maskings), 10 ** (len(maskings) - 1)
    step = maskings[-1].delta / heaps
    lefts, widths, coefficients, before = [], [], [], [0]
    for part in grid.pieces(counts, 2.0 * reach):
        size = fast_length(int(part.values[-1] - part.values[0]) + 1 + 2 * reach)
        level = level_of(part.values, heaps)
        mass = np.zeros(0)
        for k, masking in enumerate(maskings):
            own = level == k
            dense = np.zeros(size)
            dense[(part.values[own] - part.values[0]).astype(np.int64)] = part.counts[own]
            share = grid.smoothed_mass(np.fft.rfft(dense), masking, step, size)
            mass = share if k == 0 else mass + share
        local, width = grid.local_polynomials(mass, part.n, size, reach, tol * n, density)
        if not density:
            local[:, 0] += before[-1]
        local /= n
        coefficients.append(local)
        lefts.append(part.values[0] - reach)
        widths.append(width)
        before.append(before[-1] + part.n)
    outside = np.zeros(len(before)) if density else np.array(before) / n
    return Polynomials(np.array(lefts), np.array(widths), coefficients, outside)


def _reach(maskings: Sequence[Masking]) -> int:
    """Steps of the finest grid beyond which a record of any level counts as 0 or 1."""
    heaps = 10 ** (len(maskings) - 1)
    units = noise_units(heaps)
    return max(unit * (grid.reach_of(masking) + 1) for masking, unit in zip(maskings, units, strict=True))


def _add_level(
    at: np.ndarray,
    counts: np.ndarray,
    masking: Masking,
    spacing: int,
    unit: int,
    total: np.ndarray,
) -> None:
    """Add n times the part of T that the records of one level give, at all points of a piece."""
    rows, cells, p = unit // spacing, total.size // unit, masking.p
    first = 1 if rows > 1 else 0  # no value of a lower level has one more trailing zero
    stride = grid.stride_of(cells, grid.modes_of(masking, cells))
    length = stride * fast_length(-(-cells // stride))
    dense = np.zeros((rows - first, length))
    place = (at / spacing).astype(np.int64)
    dense[place % rows - first, place // rows] = counts
    spectrum = grid.low(dense, grid.modes_of(masking, length), stride)
    smooth = grid.at_all_points(grid.running_smooth(spectrum, masking, length), length, stride)
    slope = spectrum[:, 0].real * (1.0 - 1.0 / p) / length
    add_staircases(smooth, slope, dense, 1.0 / p, first, spacing, unit, total)
