"""The "lattice" engine: one pass over a sorted sample, then T, its density and its crossings at any x.

A curve is a sum of layers, each a smooth kernel with a scale of its own: the smooth part of K at the scale
of the noise and, for T_b, the normal step at that of the bandwidth; the steps of T_1 are counted. Laplace
noise without smoothing needs no lattice (kernels/exponentials.py), nor do coarse grids, where few
distinct values lie within reach.

Bits do not depend on the number of workers: power sums are formed in fixed blocks of records and added
in order.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.kernels import curve as kernels
from condmask.kernels import exponentials, interpolant, lattice
from condmask.kernels.curve import Curve
from condmask.kernels.lattice import ORDER, Layer
from condmask.weights import expansion, weight
from condmask.weights import table as weights
from condmask.weights.expansion import Shape
from condmask.weights.weight import Masking

# Fewer records than this on a page, as wide as a record's reach, are summed one by one.
FEWEST = 16
# A lattice may have this many cells, and one more for so many records; 650 bytes a cell while it is built.
CELLS, RECORDS_PER_CELL = 1 << 15, 32
# Laplace noise under a narrow bandwidth has cells of the one within a reach of the other; not too many.
FINEST = 1 << 15
POINTS = 4096
PARALLEL = 1 << 19  # records from which threads pay
# Records are summed in fixed blocks; unsorted ones as long as all cells fit into the cache.
SCATTERED_CELLS, SUMMED_BLOCK = 1 << 13, 1 << 18

_NONE = np.empty(0)
_NO_STRETCH = np.empty(0, dtype=np.int64)
_NO_TABLE = interpolant.Table(np.zeros((1, interpolant.DEGREE + 1)), 0.0, 1.0, 1.0, 0.0, 1.0)
_NO_LAYER = Layer(
    _NO_STRETCH, _NO_STRETCH, _NONE, _NONE, np.zeros(1, dtype=np.int64), np.empty((0, ORDER)),
    1.0, 0.0, 0.0, 0.0, 1.0, _NO_TABLE,
)  # fmt: skip
_EMPTY = Curve(
    _NONE, _NO_STRETCH, 0, 0.0, 0.0, _NO_LAYER, _NO_LAYER, 1.0, 0.0, np.inf, 1.0, 0.0, _NONE, _NONE, 0.0
)


class Kernel(NamedTuple):
    """One layer to be built: its kernel, what it weighs in n T, what a record far left counts in it."""

    shape: Shape
    weight: float
    limit: float
    unit: float  # of length, in sigma
    tol: float
    table: Callable[[], interpolant.Table]


def curve(
    z: np.ndarray,
    sigma: float,
    masking: Masking,
    tol: float,
    *,
    density: bool = False,
    workers: Workers = 1,
) -> Curve:
    """n T, or n sigma times its derivative, from sorted z. Data on a grid (T_1): z and sigma in its steps."""
    half = 0.5 if masking.delta > 0.0 and masking.beta == 0.0 else 0.0
    if weight.has_closed_form(masking) and masking.beta == 0.0:
        amplitude, decay = weight.laplace_tail(masking)
        left, right = np.empty(z.size), np.empty(z.size)
        exponentials.exponential_sums(z, decay * sigma, left, right)
        return _EMPTY._replace(
            values=z, n=z.size, jump=1.0 + 2.0 * amplitude, half=half,
            decay=decay * sigma, amplitude=2.0 * amplitude, left=left, right=right,
        )  # fmt: skip
    if weight.is_discrete(masking):
        values, first = np.unique(z, return_index=True)
        return tied(values, np.append(first, z.size), sigma, masking, tol)
    smooth, *steps = kernels_of(masking, tol, density)
    # under Laplace noise the smooth part is a distribution function times a negative number
    falls = density or masking.noise == "laplace"
    rise, bend = (0.0, np.inf) if falls else expansion.steepness(smooth.shape, smooth.tol)
    found = _EMPTY._replace(
        values=z, n=z.size, smooth=_layer(z, sigma, smooth, workers), half=half,
        scale=sigma, rise=rise, bend=bend,
    )  # fmt: skip
    if not steps:
        return found._replace(jump=1.0 / masking.p)
    return found._replace(step=steps[0].weight, steps=_layer(z, sigma, steps[0], workers))


def smooth_curve(
    z: np.ndarray, sigma: float, masking: Masking, tol: float, *, density: bool = False, workers: Workers = 1
) -> Curve | None:
    """The same of T_b from z in any order, since nothing is counted; it serves values, not crossings.

    None where the data are spread over too many cells for that.
    """
    kernels = kernels_of(masking, tol, density)
    if any(expansion.cells_within_reach(kernel.shape, kernel.tol) > FINEST for kernel in kernels):
        return None
    units = [kernel.unit * sigma for kernel in kernels]
    widths = [
        expansion.widest(kernel.shape, kernel.tol) * unit for kernel, unit in zip(kernels, units, strict=True)
    ]
    low, width = float(z.min()), min(widths)
    spread = (float(z.max()) - low) / width
    if not spread < SCATTERED_CELLS:
        return None
    moments = np.zeros((int(spread) + 2, ORDER))
    task = partial(_scattered, z, low, 1.0 / width, len(moments))
    for part in ordered_map(task, blocks(z.size, SUMMED_BLOCK), workers):
        moments += part
    layers = []
    for kernel, own, unit in zip(kernels, widths, units, strict=True):
        times = int(own / width)  # a wider cell holds a whole number of the narrowest
        # the widest are made once for all bandwidths
        given = None if own == width else times * width / unit
        cells = expansion.cells(kernel.shape, kernel.tol, given)
        layers.append(_of_moments(z, kernel, cells, expansion.coarser(moments, times), times * width, low))
    return _EMPTY._replace(values=z, n=z.size, smooth=layers[0], step=kernels[1].weight, steps=layers[1])


def boosted(z: np.ndarray, width: float, boost: float, tol: float) -> Curve:
    """H - boost width^2 h' of sorted z by a normal kernel of that width: the law before Laplace noise."""
    shape = Shape(None, boost=boost)
    table = partial(weights.normal_table, tol, False, boost)
    rise, bend = expansion.steepness(shape, tol)
    layer = _layer(z, width, Kernel(shape, 1.0, 1.0, 1.0, tol, table), 1)
    return _EMPTY._replace(values=z, n=z.size, smooth=layer, scale=width, rise=rise, bend=bend)


def values(curve: Curve, x: np.ndarray, workers: Workers = 1) -> np.ndarray:
    """T at any x; the density times sigma where the curve is one."""
    ascending = x.size < 2 or bool((x[1:] >= x[:-1]).all())
    order = slice(None) if ascending else np.argsort(x)
    found = np.empty(x.size)
    parts = ordered_map(
        partial(_values, curve, x[order]), blocks(x.size, POINTS), workers if x.size > POINTS else 1
    )
    found[order] = np.concatenate([*parts, _NONE])
    return found


def _values(curve: Curve, x: np.ndarray, points: tuple[int, int]) -> np.ndarray:
    total = np.zeros(points[1] - points[0])
    kernels.add_values(curve, x[slice(*points)], total)
    return total / curve.n


def kernels_of(masking: Masking, tol: float, density: bool) -> list[Kernel]:
    """The layers of a curve: the smooth part and, for T_b, the step."""
    share, p, beta = 0.5 * tol, masking.p, masking.beta
    table = partial(weights.smooth_table, masking, share, density)
    kernels = [Kernel(Shape(masking, density), 1.0, 0.0 if density else 1.0 - 1.0 / p, 1.0, share, table)]
    if beta > 0.0:
        height = 1.0 / (p * beta) if density else 1.0 / p
        table = partial(weights.normal_table, share / height, density)
        limit = 0.0 if density else 1.0
        kernels.append(Kernel(Shape(None, density), height, limit, beta, share / height, table))
    return kernels


def tied(values: np.ndarray, below: np.ndarray, sigma: float, masking: Masking, tol: float) -> Curve:
    """T_1 on a coarse grid, as a sum over the distinct values within reach, `below` records before each."""
    table = weights.smooth_table(masking, tol)
    layer = _NO_LAYER._replace(
        limit=1.0 - 1.0 / masking.p, reach=weight.reach(masking, 0.5 * tol) * sigma + 1.0,
        unit=sigma, table=table,
    )  # fmt: skip
    halves = table.coefficients[:, 0]
    # what the smooth part gains in one step: from -1/2 to 1/2 twice the first half-weight
    rise = max(0.0, 2.0 * halves[0], float(np.max(np.diff(halves), initial=0.0)))
    return _EMPTY._replace(
        values=values, below=below, n=int(below[-1]), jump=1.0 / masking.p,
        smooth=layer, rise=rise, half=0.5,
    )  # fmt: skip


def _layer(z: np.ndarray, sigma: float, kernel: Kernel, workers: Workers) -> Layer:
    """The lattice of one kernel where the sorted records lie densely, its table for the others."""
    unit = kernel.unit * sigma
    if expansion.cells_within_reach(kernel.shape, kernel.tol) > FINEST:
        reach = weight.reach(kernel.shape.masking, 0.25 * kernel.tol) * unit
        return _NO_LAYER._replace(limit=kernel.limit, reach=reach, unit=unit, table=kernel.table())
    cells = expansion.cells(kernel.shape, kernel.tol)
    width = cells.width * unit
    starts, stops = _stretches(z, width, cells.reach * width)
    parts = [
        _of_moments(z, kernel, cells, _moments(z, start, stop, 1.0 / width, workers), width, z[start])
        for start, stop in zip(starts, stops, strict=True)
    ]
    whole = int(np.sum(stops - starts)) == z.size
    return Layer(
        starts, stops,
        np.array([part.origins[0] for part in parts]), np.array([part.highs[0] for part in parts]),
        np.cumsum([0, *(len(part.coefficients) for part in parts)]),
        np.concatenate([np.empty((0, ORDER)), *(part.coefficients for part in parts)]),
        1.0 / width, float(cells.reach), kernel.limit, cells.reach * width, unit,
        _NO_TABLE if whole else kernel.table(),
    )  # fmt: skip


def _of_moments(
    z: np.ndarray, kernel: Kernel, cells: expansion.Cells, moments: np.ndarray, width: float, origin: float
) -> Layer:
    """The lattice of one stretch from the power sums of its cells, the first of which begins at origin."""
    polynomials = expansion.local_polynomials(moments, cells, kernel.shape.density, kernel.limit)
    reach = cells.reach * width
    return _NO_LAYER._replace(
        starts=np.array([0]), stops=np.array([z.size]), origins=np.array([origin]),
        highs=np.array([origin + len(moments) * width + reach]),
        offsets=np.array([0, len(polynomials)]), coefficients=polynomials, per_width=1.0 / width,
        margin=float(cells.reach), limit=kernel.limit, reach=reach,
    )  # fmt: skip


def _scattered(
    z: np.ndarray, origin: float, per_width: float, cells: int, rows: tuple[int, int]
) -> np.ndarray:
    moments = np.zeros((cells, ORDER))
    lattice.scattered_power_sums(z, *rows, origin, per_width, moments)
    return moments


def _moments(z: np.ndarray, start: int, stop: int, per_width: float, workers: Workers) -> np.ndarray:
    """Power sums of the records start .. stop by cells counted from the first of them."""
    origin = z[start]
    total = np.zeros((int((z[stop - 1] - origin) * per_width) + 3, ORDER))
    task = partial(_block_moments, z, start, origin, per_width)
    many = 1 if isinstance(workers, int) and stop - start < PARALLEL else workers
    for first, part in ordered_map(task, blocks(stop - start, SUMMED_BLOCK), many):
        total[first : first + len(part)] += part
    return total[1:-1]


def _block_moments(
    z: np.ndarray, start: int, origin: float, per_width: float, rows: tuple[int, int]
) -> tuple[int, np.ndarray]:
    low, high = start + rows[0], start + rows[1]
    # a cell to spare on both sides, should rounding move a record on an edge
    first, last = (int((z[j] - origin) * per_width) for j in (low, high - 1))
    part = np.zeros((last - first + 3, ORDER))
    lattice.power_sums(z, low, high, origin, per_width, first - 1, part)
    return first, part


def _stretches(z: np.ndarray, width: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of records that lie densely enough for a lattice, the densest where not all have room."""
    most = int(min(z.size, (float(z[-1]) - float(z[0])) / reach + 2.0))
    starts = np.empty(most, dtype=np.int64)
    starts = starts[: lattice.pages(z, reach, starts)].copy()
    counts = np.diff(starts, append=z.size)
    room = CELLS + z.size // RECORDS_PER_CELL
    fewest = min(FEWEST, int(counts.max()))
    found = _merged(z, starts, counts, fewest, reach)
    if _cells(z, *found, width, reach) <= room:
        return found
    levels = np.unique(counts[counts > fewest])
    low, high = 0, levels.size  # the smallest level that fits; none at all fits for certain
    while low < high:
        middle = (low + high) // 2
        found = _merged(z, starts, counts, int(levels[middle]), reach)
        low, high = (low, middle) if _cells(z, *found, width, reach) <= room else (middle + 1, high)
    fewest = int(levels[low]) if low < levels.size else z.size + 1
    return _merged(z, starts, counts, fewest, reach)


def _merged(
    z: np.ndarray, starts: np.ndarray, counts: np.ndarray, fewest: int, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Full pages, joined where their zones of influence overlap."""
    page = np.flatnonzero(counts >= fewest)
    first, last = starts[page], starts[page] + counts[page]
    apart = np.ones(page.size, dtype=bool)
    apart[1:] = (np.diff(page) > 1) | (z[first[1:]] - z[last[:-1] - 1] > 2.0 * reach)
    return first[apart], last[np.append(apart[1:], True)[: page.size]]


def _cells(z: np.ndarray, starts: np.ndarray, stops: np.ndarray, width: float, reach: float) -> float:
    """How many cells the stretches need."""
    return float(np.sum((z[stops - 1] - z[starts] + 2.0 * reach) / width + 2.0))
