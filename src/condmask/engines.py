"""How the sum ``T(x) = (1/n) sum_j K((x - z_j) / sigma)`` is evaluated, and by how many workers.

"series"        K term by term at every pair; closed form for Laplace noise. The definition.
"interpolant"   K from a certified table at every pair.
"lattice"       one pass over the sorted records, then any x at once (curves.py).

All differ from the exact sum by at most ``tol``. Pairs are summed within fixed blocks and blocks in
order, so the bits do not depend on the number of workers.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.kernels import interpolant, series, weight
from condmask.kernels.weight import Masking

METHODS = ("auto", "series", "interpolant", "lattice")

# Building a table costs as much as summing the series at about this many pairs.
FEW_PAIRS = 20_000
# One pass of the lattice costs as much as this many pairs, and sorting as much as this many points.
MANY_PAIRS, FEW_POINTS = 200_000, 4
POINTS = 64


def check_tol(masking: Masking, tol: float) -> None:
    """Refuse a tolerance below the rounding error of a weight."""
    least = interpolant.smallest_tol(masking.p)
    if tol < least:
        raise ValueError(f"tol must be at least {least:.1e} at p={masking.p} (rounding), got {tol!r}")


def choose(masking: Masking, n: int, points: int, tol: float, method: str) -> str:
    """The engine that serves a request; what cannot be done is said, never replaced."""
    check_tol(masking, tol)
    laplace, pairs = masking.noise == "laplace", n * points
    summable = masking.delta == 0.0 and (laplace or series.coefficients(masking.p, tol) is not None)
    if method == "series" and not summable:
        why = "rounded data" if masking.delta else f"tol={tol!r} at p={masking.p}"
        raise ValueError(f"method must be 'auto', 'interpolant' or 'lattice' for {why}, got 'series'")
    if method != "auto":
        return method
    if points >= FEW_POINTS and pairs > MANY_PAIRS:
        return "lattice"
    return "series" if summable and not laplace and masking.p > 0.5 and pairs <= FEW_PAIRS else "interpolant"


def evaluate(
    z: np.ndarray,
    x: np.ndarray,
    sigma: float,
    masking: Masking,
    *,
    tol: float,
    method: str,
    density: bool = False,
    workers: Workers = 1,
) -> np.ndarray:
    """T (or its density) from one sample z at the points x, pair by pair: "series" or "interpolant"."""
    if method == "interpolant":
        table = interpolant.table(masking, tol, density)
        task = partial(_add_interpolated, z, x, sigma, table)
    elif masking.noise == "laplace":
        task = partial(_add_closed_form, z, x, sigma, masking, density)
    else:
        c = series.coefficients(masking.p, tol)
        terms = series.sum_densities if density else series.sum_weights
        task = partial(_add_series, terms, z, x, sigma, c, series.rates(masking.beta, c.size))
    total = np.zeros(x.size)
    tasks = [(points, rows) for rows in blocks(z.size) for points in blocks(x.size, POINTS)]
    for (points, _), part in zip(tasks, ordered_map(task, tasks, workers), strict=True):
        total[slice(*points)] += part
    return total / (z.size * sigma) if density else total / z.size


def to_grid(x: np.ndarray, decimals: int) -> np.ndarray:
    """Half a step to the right of the grid point at or below x, where rounded data are evaluated."""
    step = 10.0 ** abs(decimals)
    units = x * step if decimals >= 0 else x / step
    nearest = np.rint(units)
    with np.errstate(invalid="ignore"):  # infinite points
        on_grid = np.abs(units - nearest) <= 4 * np.spacing(np.abs(nearest))
    whole = np.where(on_grid, nearest, np.floor(units)) + 0.5
    return whole / step if decimals >= 0 else whole * step


def _add_interpolated(z: Any, x: Any, sigma: float, table: Any, task: Any) -> np.ndarray:
    points, rows = task
    total = np.zeros(points[1] - points[0])
    interpolant.add_weights(x[slice(*points)], z, sigma, table, *rows, total)
    return total


def _add_series(terms: Any, z: Any, x: Any, sigma: float, c: Any, rate: Any, task: Any) -> np.ndarray:
    points, rows = task
    return np.array([terms(z, point, sigma, c, rate, *rows) for point in x[slice(*points)]])


def _add_closed_form(z: Any, x: Any, sigma: float, masking: Masking, density: bool, task: Any) -> np.ndarray:
    return np.array(list(_closed_form_sums(z, x, sigma, masking, density, *task)))


def _closed_form_sums(
    z: Any, x: Any, sigma: float, masking: Masking, density: bool, points: Any, rows: Any
) -> Iterator[float]:
    part = z[slice(*rows)]
    for point in x[slice(*points)]:
        u = (point - part) / sigma
        if density:
            yield weight.density_weight(masking, np.abs(u)).sum()
        else:
            half = weight.half_weight(masking, np.abs(u))
            yield 0.5 * u.size + np.where(part <= point, half, -half).sum()
