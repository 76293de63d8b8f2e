"""The "lattice" engine: one pass over a sorted sample, then T, its density and its crossings at any x.

A curve is a sum of layers, each a smooth kernel with a scale of its own: the smooth part of K at the scale
of the noise and, for T_b, the normal step at that of the bandwidth; the steps of T_1 are counted. Laplace
noise without smoothing needs no lattice (kernels/exponentials.py), nor do coarse grids, where few
distinct values lie within reach.

Records may be given as counts of distinct values; then every sum is weighted by these.

Bits do not depend on the number of workers: power sums are formed in fixed blocks of values and added in
order.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.deconvolution import expansion, weight
from condmask.deconvolution import table as weights
from condmask.deconvolution.expansion import Shape
from condmask.deconvolution.weight import Masking
from condmask.kernels import curve as kernels
from condmask.kernels import exponentials, interpolant, lattice
from condmask.kernels.curve import LAYER, POINT, STRETCH, Curve
from condmask.kernels.lattice import ORDER

# Fewer values than this on a page, as wide as a record's reach, are summed one by one.
FEWEST = 16
# A lattice may have this many cells, and one more for so many values; 650 bytes a cell while it is built.
CELLS, RECORDS_PER_CELL = 1 << 15, 32
# Laplace noise under a narrow bandwidth has cells of the one within a reach of the other; not too many.
FINEST = 1 << 15
POINTS = 4096
PARALLEL = 1 << 19  # records from which threads pay
# Values are summed in fixed blocks; unsorted ones as long as all cells fit into the cache.
SCATTERED_CELLS, SUMMED_BLOCK = 1 << 13, 1 << 18

LAYER_NAMES = LAYER.names or ()
_ALL_RECORDS = np.empty(0, dtype=np.int64)
_NO_TABLE = interpolant.Table(np.zeros((1, interpolant.DEGREE + 1)), 0.0, 1.0, 1.0, 0.0, 1.0)
_EMPTY = Curve(
    np.empty(0), _ALL_RECORDS, np.empty((2, 0)), np.zeros(2, LAYER), np.empty(0, STRETCH),
    np.empty((0, ORDER)), _NO_TABLE.coefficients,
    n=0, jump=0.0, scale=1.0, rise=0.0, bend=np.inf, decay=1.0, amplitude=0.0, half=0.0,
)  # fmt: skip


class Layer(NamedTuple):
    """One kernel summed over all records: a row of `Curve.layers`, and what it refers to."""

    constants: dict[str, float]
    stretches: Sequence[tuple[float, ...]]
    coefficients: list[np.ndarray]
    table: interpolant.Table


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
    below: np.ndarray | None = None,
) -> Curve:
    """n T, or n sigma times its derivative, from sorted z. Data on a grid (T_1): z and sigma in its steps.

    With `below`, of size z.size + 1, z are distinct values, with so many records before each and in all.
    """
    if below is None and weight.is_discrete(masking):
        n = z.size
        z, first = np.unique(z, return_index=True)
        below = np.append(first, n)
    built = _empty(z, below)._replace(half=0.5 if masking.delta > 0.0 and masking.beta == 0.0 else 0.0)
    if weight.has_closed_form(masking) and masking.beta == 0.0:
        amplitude, decay = weight.laplace_tail(masking)
        sums = np.empty((2, z.size))
        exponentials.exponential_sums(z, built.below, decay * sigma, sums)
        jump = 1.0 + 2.0 * amplitude
        return built._replace(jump=jump, decay=decay * sigma, amplitude=2.0 * amplitude, sums=sums)
    kernels = kernels_of(masking, tol, density)
    rise, bend = _steepness(kernels[0])
    layers = [_layer(z, built.below, sigma, kernel, workers) for kernel in kernels]
    built = _joined(built, layers)._replace(scale=sigma, rise=rise, bend=bend)
    return built if masking.beta > 0.0 else built._replace(jump=1.0 / masking.p)


def smooth_curve(
    z: np.ndarray,
    sigma: float,
    masking: Masking,
    tol: float,
    *,
    density: bool = False,
    workers: Workers = 1,
) -> Curve | None:
    """n T_b from z in any order, since nothing is counted; it serves values, not crossings.

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
        stretch = 0, z.size, low, expansion.coarser(moments, times)
        layers.append(_lattice(kernel, cells, times * width, unit, [stretch], _NO_TABLE))
    return _joined(_empty(z), layers)


def boosted(
    z: np.ndarray,
    width: float,
    boost: float,
    tol: float,
    *,
    density: bool = False,
    below: np.ndarray | None = None,
) -> Curve:
    """H - boost width^2 h' of sorted z by a normal kernel of that width: the law before Laplace noise.

    Without a boost the smoothed distribution of z, or its density times the width. `below` as of `curve`.
    """
    shape = Shape(None, density, boost=boost)
    table = partial(weights.normal_table, tol, density, boost)
    rise, bend = expansion.steepness(shape, tol)
    limit = 0.0 if density else 1.0
    records = _empty(z, below)
    layer = _layer(z, records.below, width, Kernel(shape, 1.0, limit, 1.0, tol, table), 1)
    return _joined(records, [layer])._replace(scale=width, rise=rise, bend=bend)


def values(curve: Curve, x: np.ndarray, workers: Workers = 1) -> np.ndarray:
    """T at any x; the density times sigma where the curve is one."""
    ascending = x.size < 2 or bool((x[1:] >= x[:-1]).all())
    order = slice(None) if ascending else np.argsort(x)
    t = np.empty(x.size)
    parts = ordered_map(
        partial(_values, curve, x[order]), blocks(x.size, POINTS), workers if x.size > POINTS else 1
    )
    t[order] = np.concatenate([*parts, np.empty(0)])
    return t


def _values(curve: Curve, x: np.ndarray, points: tuple[int, int]) -> np.ndarray:
    part = x[slice(*points)]
    rows = np.zeros(part.size, POINT)
    rows["x"] = part
    if curve.jump != 0.0:
        up_to = np.empty(part.size, dtype=np.int64)
        kernels.count_at(curve.values, part, up_to)
        rows["before"] = rows["up_to"] = up_to
    kernels.evaluate(curve, rows, 0.0, 0, rows.size)
    return np.asarray((rows["rising"] + rows["smooth"]) / curve.n)


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


def _empty(z: np.ndarray, below: np.ndarray | None = None) -> Curve:
    if below is None:
        return _EMPTY._replace(values=z, n=z.size)
    return _EMPTY._replace(values=z, below=below, n=int(below[-1]))


def _steepness(smooth: Kernel) -> tuple[float, float]:
    """How fast the smooth part may rise, and bend, in its units; no faster than 0 where it only falls."""
    shape = smooth.shape
    if shape.masking is not None and weight.is_discrete(shape.masking):
        halves = smooth.table().coefficients[:, 0]
        # a step of the grid from -1/2 to 1/2 gains twice the first half-weight
        gain = max(0.0, 2.0 * halves[0], float(np.max(np.diff(halves), initial=0.0)))
        return gain / shape.masking.delta, np.inf
    # under Laplace noise the smooth part is a distribution function times a negative number
    if shape.density or (shape.masking is not None and shape.masking.noise == "laplace"):
        return 0.0, np.inf
    return expansion.steepness(shape, smooth.tol)


def _layer(z: np.ndarray, below: np.ndarray, sigma: float, kernel: Kernel, workers: Workers) -> Layer:
    """The lattice of one kernel where the sorted values lie densely, its table for the others."""
    unit, masking = kernel.unit * sigma, kernel.shape.masking
    coarse = masking is not None and weight.is_discrete(masking)  # few values lie within reach
    if coarse or expansion.cells_within_reach(kernel.shape, kernel.tol) > FINEST:
        reach = weight.reach(masking, 0.25 * kernel.tol) * unit
        constants = {"weight": kernel.weight, "limit": kernel.limit, "reach": reach, "unit": unit}
        return Layer(constants, [], [], kernel.table())
    cells = expansion.cells(kernel.shape, kernel.tol)
    width = cells.width * unit
    starts, stops = _stretches(z, width, cells.reach * width)
    stretches = (
        (start, stop, z[start], _moments(z, below, start, stop, 1.0 / width, workers))
        for start, stop in zip(starts, stops, strict=True)
    )
    whole = int((stops - starts).sum()) == z.size
    return _lattice(kernel, cells, width, unit, stretches, _NO_TABLE if whole else kernel.table())


def _lattice(
    kernel: Kernel,
    cells: expansion.Cells,
    width: float,
    unit: float,
    stretches: Iterable[tuple[int, int, float, np.ndarray]],
    table: interpolant.Table,
) -> Layer:
    """A layer from stretches: the values start .. stop, where their cells begin, and the power sums."""
    rows, polynomials, offset, reach = [], [], 0, cells.reach * width
    for start, stop, origin, moments in stretches:
        local = expansion.local_polynomials(moments, cells, kernel.shape.density, kernel.limit)
        high = origin + len(moments) * width + reach
        rows.append((start, stop, offset, len(local), origin, origin - reach, high))
        polynomials.append(local)
        offset += len(local)
    constants = {
        "weight": kernel.weight, "per_width": 1.0 / width, "margin": cells.reach,
        "limit": kernel.limit, "reach": reach, "unit": unit,
    }  # fmt: skip
    return Layer(constants, rows, polynomials, table)


def _joined(curve: Curve, layers: list[Layer]) -> Curve:
    """The curve with these layers: the smooth part, and the steps of T_b."""
    constants = np.zeros(2, LAYER)
    stretches: list[tuple[float, ...]] = []
    coefficients, tables = [_EMPTY.coefficients], []
    row = offset = 0
    for place, layer in zip((1, 0), layers, strict=False):
        own, *rest = layer.table
        values = layer.constants | dict(zip(interpolant.Table._fields[1:], rest, strict=True))
        values |= {"stretch": len(stretches), "stretches": len(layer.stretches)}
        values |= {"row": row, "cells": len(own) - 1}
        constants[place] = tuple(values.get(name, 0) for name in LAYER_NAMES)
        stretches += [(start, stop, first + offset, *rest) for start, stop, first, *rest in layer.stretches]
        coefficients += layer.coefficients
        tables.append(own)
        row, offset = row + len(own), offset + sum(len(part) for part in layer.coefficients)
    return curve._replace(
        layers=constants, stretches=np.array(stretches, STRETCH),
        coefficients=np.concatenate(coefficients), tables=np.concatenate(tables),
    )  # fmt: skip


def _scattered(
    z: np.ndarray, origin: float, per_width: float, cells: int, rows: tuple[int, int]
) -> np.ndarray:
    moments = np.zeros((cells, ORDER))
    lattice.scattered_power_sums(z, _ALL_RECORDS, *rows, origin, per_width, 0, moments)
    return moments


def _moments(
    z: np.ndarray, below: np.ndarray, start: int, stop: int, per_width: float, workers: Workers
) -> np.ndarray:
    """Power sums of the values start .. stop by cells counted from the first of them."""
    origin = z[start]
    total = np.zeros((int((z[stop - 1] - origin) * per_width) + 3, ORDER))
    task = partial(_block_moments, z, below, start, origin, per_width)
    many = 1 if isinstance(workers, int) and stop - start < PARALLEL else workers
    for first, part in ordered_map(task, blocks(stop - start, SUMMED_BLOCK), many):
        total[first : first + len(part)] += part
    return total[1:-1]


def _block_moments(
    z: np.ndarray, below: np.ndarray, start: int, origin: float, per_width: float, rows: tuple[int, int]
) -> tuple[int, np.ndarray]:
    low, high = start + rows[0], start + rows[1]
    # a cell to spare on both sides, should rounding move a record on an edge
    first, last = (int((z[j] - origin) * per_width) for j in (low, high - 1))
    part = np.zeros((last - first + 3, ORDER))
    if below.size > 0:
        lattice.scattered_power_sums(z, below, low, high, origin, per_width, first - 1, part)
    else:
        lattice.power_sums(z, low, high, origin, per_width, first - 1, part)
    return first, part


def _stretches(z: np.ndarray, width: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of records that lie densely enough for a lattice, the densest where not all have room."""
    most = int(min(z.size, (float(z[-1]) - float(z[0])) / reach + 2.0))
    starts = np.empty(most + 1, dtype=np.int64)
    pages = lattice.pages(z, reach, starts)
    starts[pages] = z.size
    starts = starts[: pages + 1]
    counts = starts[1:] - starts[:-1]
    room = CELLS + z.size // RECORDS_PER_CELL
    fewest = min(FEWEST, int(counts.max()))
    stretches = _merged(z, starts, fewest, reach)
    if _cells(z, *stretches, width, reach) <= room:
        return stretches
    levels = np.unique(counts[counts > fewest])
    low, high = 0, levels.size  # the smallest level that fits; none at all fits for certain
    while low < high:
        middle = (low + high) // 2
        stretches = _merged(z, starts, int(levels[middle]), reach)
        low, high = (low, middle) if _cells(z, *stretches, width, reach) <= room else (middle + 1, high)
    fewest = int(levels[low]) if low < levels.size else z.size + 1
    return _merged(z, starts, fewest, reach)


def _merged(z: np.ndarray, starts: np.ndarray, fewest: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Full pages, joined where their zones of influence overlap."""
    ends = np.empty((starts.size - 1, 2), dtype=np.int64)
    ends = ends[: lattice.join_pages(z, starts, fewest, reach, ends)]
    return ends[:, 0], ends[:, 1]


def _cells(z: np.ndarray, starts: np.ndarray, stops: np.ndarray, width: float, reach: float) -> float:
    """How many cells the stretches need."""
    return float(((z[stops - 1] - z[starts] + 2.0 * reach) / width + 2.0).sum())
