"""Quantiles of many small samples at once, for simulation studies: one fused loop over sorted rows.

The expansions are those of lattice.py, with the convolution summed directly, since a sample of some
thousand records spans a few dozen cells. What depends on the bandwidth, which every sample has its own, is
put together from parts that do not.
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels import lattice, weight
from condmask.kernels.curve import Curve
from condmask.kernels.interpolant import Table
from condmask.kernels.lattice import ORDER, Layer, Shape, power_sums
from condmask.kernels.quantile import search

# A row that spans more cells than this is left to the general engine.
MOST_CELLS = 2048


class Stencil(NamedTuple):
    """What cells within reach contribute: matrix[l, (cell, m)], cells from the farthest left on."""

    width: float  # in units of sigma, of the bandwidth for the normal law
    reach: int
    matrix: np.ndarray


class Plan(NamedTuple):
    """All that the rows of a study have in common, for one scheme."""

    p: float
    sigma: float
    smooth: Stencil
    waves: np.ndarray  # (orders, lags, nodes): the derivatives of the smooth part before damping
    damping: np.ndarray  # -w^2 / 2 at the nodes
    normal: Stencil
    curvature: np.ndarray  # the matrix of minus the second derivative of the normal law
    rise: float
    bend: float
    slack: float
    table: Table


def plan(p, sigma, tol):
    """The parts for normal noise (or, p = 1, for none), to a tolerance on T."""
    share = tol * min(p, 0.5)
    normal = _cells(Shape(None), share)
    doubled = lattice.derivatives(Shape(None, boost=1.0), normal.width, normal.reach, 2 * ORDER - 1)
    if p < 1.0:
        shape = Shape(weight.Masking("normal", p))
        smooth = _cells(shape, share)
        waves, damping = lattice.waves(shape, smooth.width, smooth.reach, 2 * ORDER - 1)
        rise, bend = lattice.steepness(shape, share)
    else:
        smooth, rise, bend = normal, 0.0, 0.0
        waves, damping = np.zeros((2 * ORDER - 1, normal.reach + 1, 1)), np.zeros(1)
    table = Table(np.zeros((1, 8)), 0.0, 1.0, 1.0, 0.0, 1.0)
    return Plan(
        p, sigma, Stencil(smooth.width, smooth.reach, stencil(smooth.derivatives, 1.0 - 1.0 / p)),
        waves, damping, Stencil(normal.width, normal.reach, stencil(normal.derivatives, 1.0)),
        stencil(doubled - normal.derivatives, 0.0), rise, bend, tol, table,
    )  # fmt: skip


def _cells(shape, tol):
    return lattice.cells(shape, tol)


@kernel
def stencil(derivatives, limit):
    """matrix[l, (R - k) ORDER + m] = (-1)^m h^(l+m) g^(l+m)(k h) / (l! m!), k = R .. -R, g odd + limit/2."""
    reach = derivatives.shape[1] - 1
    matrix = np.empty((ORDER, (2 * reach + 1) * ORDER))
    factorial = np.ones(ORDER)
    for m in range(1, ORDER):
        factorial[m] = factorial[m - 1] * m
    for step in range(2 * reach + 1):
        lag = reach - step
        for l in range(ORDER):  # noqa: E741
            for m in range(ORDER):
                value = derivatives[l + m, abs(lag)]
                if lag < 0 and (l + m) % 2 == 0:
                    value = -value
                if l + m == 0:
                    value += 0.5 * limit
                sign = -1.0 if m % 2 == 1 else 1.0
                matrix[l, step * ORDER + m] = sign * value / (factorial[l] * factorial[m])
    return matrix


@kernel(fastmath=SAFE_MATH)
def _layer(z, width, reach, matrix, limit, table):
    """The lattice of one row."""
    origin = z[0]
    sources = np.int64((z[-1] - origin) / width) + 2
    padded = np.zeros((sources + 4 * reach, ORDER))
    power_sums(z, 0, z.size, origin, 1.0 / width, -2 * reach, padded)
    flat = padded.reshape(padded.size)
    targets = sources + 2 * reach
    window = (2 * reach + 1) * ORDER
    coefficients = np.empty((targets, ORDER))
    farther = 0.0  # records left of the window
    for i in range(targets):
        if i > 0:
            farther += padded[i - 1, 0]
        start = i * ORDER
        for l in range(ORDER):  # noqa: E741
            total = 0.0
            for j in range(window):
                total += flat[start + j] * matrix[l, j]
            coefficients[i, l] = total
        coefficients[i, 0] += limit * farther
    return Layer(
        np.array([0]), np.array([z.size]), np.array([origin]),
        np.array([origin + (sources + reach) * width]), np.array([0, targets]), coefficients,
        1.0 / width, float(reach), limit, reach * width, 1.0, table,
    )  # fmt: skip


@kernel
def _damped(waves, damping, beta):
    """Derivatives of the smooth part at a bandwidth of beta sigma."""
    factor = np.exp(damping * beta * beta)
    found = np.empty(waves.shape[:2])
    for q in range(waves.shape[0]):
        for k in range(waves.shape[1]):
            total = 0.0
            for node in range(factor.size):
                total += waves[q, k, node] * factor[node]
            found[q, k] = total
    return found


@kernel
def bandwidth(z):
    """The "scott" rule of a sorted row."""
    n = z.size
    mean = z.mean()
    spread = np.sqrt(np.sum((z - mean) ** 2) / (n - 1))
    iqr = _percentile(z, 0.75) - _percentile(z, 0.25)
    least = min(spread, iqr / 1.34) if iqr > 0.0 else spread
    return 1.06 * least * n**-0.2


@kernel
def _percentile(z, q):
    place = q * (z.size - 1)
    low = np.int64(place)
    high = min(low + 1, z.size - 1)
    return z[low] + (place - low) * (z[high] - z[low])


@kernel
def conditional_quantiles(rows, q, plan, sharp, smoothed):
    """Crossings of T_1 (sharp) and T_b (smoothed) at q for every sorted row; NaN where a row is too wide."""
    table = plan.table
    none, no_index = np.empty(0), np.empty(0, dtype=np.int64)
    smooth_limit, sigma = 1.0 - 1.0 / plan.p, plan.sigma
    for row in range(rows.shape[0]):
        z = rows[row]
        width = bandwidth(z)
        narrow = min(plan.smooth.width * sigma, plan.normal.width * width)
        sharp[row], smoothed[row] = np.nan, np.nan
        if not (z[-1] - z[0]) / narrow < MOST_CELLS:
            continue
        reach = plan.smooth.reach
        own = _layer(z, plan.smooth.width * sigma, reach, plan.smooth.matrix, smooth_limit, table)
        curve = Curve(
            z,
            no_index,
            z.size,
            1.0 / plan.p,
            0.0,
            own,
            own,
            sigma,
            plan.rise,
            plan.bend,
            1.0,
            0.0,
            none,
            none,
            0.0,
        )
        _search_all(curve, q, plan.slack, own.reach, sigma, sharp[row])
        damped = stencil(_damped(plan.waves, plan.damping, width / sigma), smooth_limit)
        own = _layer(z, plan.smooth.width * sigma, reach, damped, smooth_limit, table)
        steps = _layer(z, plan.normal.width * width, plan.normal.reach, plan.normal.matrix, 1.0, table)
        curve = Curve(
            z,
            no_index,
            z.size,
            0.0,
            1.0 / plan.p,
            steps,
            own,
            sigma,
            plan.rise,
            plan.bend,
            1.0,
            0.0,
            none,
            none,
            0.0,
        )
        _search_all(curve, q, plan.slack, max(own.reach, steps.reach), sigma, smoothed[row])


@kernel
def noisy_quantiles(rows, q, plan, scale, out):
    """Crossings of H - scale^2 h' at q, where Laplace noise of that scale was added to every sorted row."""
    table = plan.table
    none, no_index = np.empty(0), np.empty(0, dtype=np.int64)
    for row in range(rows.shape[0]):
        z = rows[row]
        width = bandwidth(z)
        out[row] = np.nan
        if not (z[-1] - z[0]) / (plan.normal.width * width) < MOST_CELLS:
            continue
        boost = (scale / width) ** 2
        matrix = plan.normal.matrix + boost * plan.curvature
        own = _layer(z, plan.normal.width * width, plan.normal.reach, matrix, 1.0, table)
        # the slope of Phi + boost v phi is at most (1 + boost) phi(0), its bend (1 + 3 boost) / 4
        rise, bend = 0.4 * (1.0 + boost), 0.25 * (1.0 + 3.0 * boost)
        curve = Curve(z, no_index, z.size, 0.0, 0.0, own, own, width, rise, bend, 1.0, 0.0, none, none, 0.0)
        _search_all(curve, q, plan.slack, own.reach, width, out[row])


@kernel
def _search_all(curve, q, tol, reach, unit, out):
    n = curve.n
    low, high = curve.values[0] - reach, curve.values[-1] + reach
    for i in range(q.size):
        out[i] = search(curve, (q[i] - tol) * n, tol * n, low, high, reach, 1e-9 * unit, False)
