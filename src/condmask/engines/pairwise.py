"""The "series" and "interpolant" engines: K at every pair of a point and a record.

Pairs are summed within fixed blocks and blocks in order, so the bits do not depend on the number of workers.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from condmask._blocks import Workers, blocks, ordered_map
from condmask.deconvolution import table as weights
from condmask.deconvolution import weight
from condmask.deconvolution.series import coefficients, rates
from condmask.deconvolution.weight import Masking
from condmask.kernels import interpolant, series

POINTS = 64


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
        table = weights.table(masking, tol, density)
        task = partial(_add_interpolated, z, x, sigma, table)
    elif masking.noise == "laplace":
        task = partial(_add_closed_form, z, x, sigma, masking, density)
    else:
        c = coefficients(masking.p, tol if masking.delta == 0.0 else 0.5 * tol)
        assert c is not None  # `choice` refuses the others
        terms = series.sum_densities if density else series.sum_weights
        task = partial(_add_series, terms, z, x, sigma, c, rates(masking.beta, c.size, masking.delta))
    total = np.zeros(x.size)
    tasks = [(points, rows) for rows in blocks(z.size) for points in blocks(x.size, POINTS)]
    for (points, _), part in zip(tasks, ordered_map(task, tasks, workers), strict=True):
        total[slice(*points)] += part
    return total / (z.size * sigma) if density else total / z.size


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
