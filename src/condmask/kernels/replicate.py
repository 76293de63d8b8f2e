"""Quantiles of many small samples at once, for simulation studies: one fused loop over sorted rows.

The expansions are those of lattice.py, with the convolution summed directly, since a sample of some
thousand records spans a few dozen cells. What depends on the bandwidth, which every sample has its own, is
put together from parts that do not. On a grid, rows are in whole steps, and T_1 is constant from each step
to the next: its smooth part is taken half a step to the right, where it is exact.

Crossings of T_1 are the first, on a grid the first step, as in quantile.py: T is evaluated at every record,
and a gap in which it might rise above the probability in between is searched there. Those of smooth curves
are the first between neighbouring points of a grid of about a ninth of the bandwidth; T_b and its kind bend
so little over such a step that an excursion in between stays below 4e-4 / p in any case, and far below in
any sample.
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels.lattice import ORDER, polynomial, power_sums

# A row that spans more cells than this is left to the general engine.
MOST_CELLS = 2048


class Stencil(NamedTuple):
    """What cells within reach contribute: matrix[l, (cell, m)], cells from the farthest left on."""

    width: float  # in units of sigma, of the bandwidth for the normal law
    reach: int
    matrix: np.ndarray


class Plan(NamedTuple):
    """All that the rows of a study have in common, for one masking."""

    p: float
    sigma: float  # in the units of the rows: steps, where there is a grid
    half: float  # half a step of the grid, 0 for none
    smooth: Stencil
    waves: np.ndarray  # (orders, lags, nodes): the derivatives of the smooth part of T_b before damping
    damping: np.ndarray  # -w^2 / 2 at the nodes
    normal: Stencil
    bend: float
    slack: float


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
def _polynomials(z, width, reach, matrix, limit):
    """The local polynomials of one sorted row, its first cell `reach` cells left of the first record."""
    sources = np.int64((z[-1] - z[0]) / width) + 2
    padded = np.zeros((sources + 4 * reach, ORDER))
    power_sums(z, 0, z.size, z[0], 1.0 / width, -2 * reach, padded)
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
    return coefficients


@kernel(inline="always")
def _value(x, origin, width, reach, limit, n, coefficients):
    """The sum at x, also where it lies beyond all cells."""
    position = (x - origin) / width + reach
    if position < 0.0:
        return 0.0
    if position >= coefficients.shape[0]:
        return limit * n
    return polynomial(x, origin, 1.0 / width, reach, 0, coefficients.shape[0], coefficients)


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
def conditional_quantiles(rows, widths, q, plan, sharp, smoothed, served):
    """Crossings of T_1 (sharp) and T_b of these bandwidths (smoothed) at q for every sorted row.

    served: which rows were narrow enough.
    """
    limit = 1.0 - 1.0 / plan.p
    coarse, reach = plan.smooth.width * plan.sigma, plan.smooth.reach
    for row in range(rows.shape[0]):
        z, width = rows[row], widths[row]
        fine = plan.normal.width * width
        served[row] = (z[-1] - z[0]) / min(coarse, fine) < MOST_CELLS
        if not served[row]:
            continue
        own = _polynomials(z, coarse, reach, plan.smooth.matrix, limit)
        _first_crossings(z, q, plan, coarse, own, sharp[row])
        damped = stencil(_damped(plan.waves, plan.damping, width / plan.sigma), limit)
        own = _polynomials(z, coarse, reach, damped, limit)
        steps = _polynomials(z, fine, plan.normal.reach, plan.normal.matrix, 1.0)
        margin = max(coarse * reach, fine * plan.normal.reach)
        _smooth_crossings(
            z, q, margin, 0.125 * fine, fine, plan.normal.reach, steps, 1.0 / plan.p,
            coarse, reach, own, limit, smoothed[row],
        )  # fmt: skip


@kernel
def noisy_quantiles(rows, widths, q, normal, curvature, scale, out, served):
    """Crossings of H - scale^2 h' at q, where Laplace noise of that scale was added to every sorted row."""
    none = np.zeros((0, ORDER))
    for row in range(rows.shape[0]):
        z, width = rows[row], widths[row]
        fine, reach = normal.width * width, normal.reach
        served[row] = (z[-1] - z[0]) / fine < MOST_CELLS
        if not served[row]:
            continue
        matrix = normal.matrix + (scale / width) ** 2 * curvature
        steps = _polynomials(z, fine, reach, matrix, 1.0)
        _smooth_crossings(
            z, q, fine * reach, 0.125 * fine, fine, reach, steps, 1.0, fine, reach, none, 0.0, out[row]
        )


@kernel
def _first_crossings(z, q, plan, width, coefficients, out):
    """Where n T_1 first reaches n q."""
    n, origin, reach, half = z.size, z[0], plan.smooth.reach, plan.half
    limit, jump = 1.0 - 1.0 / plan.p, 1.0 / plan.p
    first, last = z[0] - width * reach, z[-1] + width * reach
    if half > 0.0:
        first, last = np.floor(first), np.ceil(last)
    smooth = np.empty(n)
    for j in range(n):
        smooth[j] = _value(z[j] + half, origin, width, reach, limit, n, coefficients)
    most = np.empty(n + 1)  # bounds of n T in the gap before each record, and after all
    most[0], most[n] = 0.0, np.inf
    for i in range(reach):
        bound, scale = coefficients[i, 0], 1.0
        for l in range(1, ORDER):  # noqa: E741
            scale *= 0.5
            bound += abs(coefficients[i, l]) * scale
        most[0] = max(most[0], bound)
    for j in range(1, n):
        gap = (z[j] - z[j - 1]) / plan.sigma
        most[j] = jump * j + max(smooth[j - 1], smooth[j]) + 0.125 * n * plan.bend * gap * gap
    for k in range(q.size):
        target = (q[k] - plan.slack) * n
        out[k] = last
        for j in range(n + 1):
            if most[j] >= target:
                left, right = z[j - 1] if j > 0 else first, z[j] if j < n else last
                out[k] = _search_gap(j, target, plan, width, coefficients, origin, n, left, right)
                if out[k] < right:
                    break
            if j < n and jump * (j + 1) + smooth[j] >= target:
                out[k] = z[j]
                break


@kernel
def _search_gap(count, target, plan, width, coefficients, origin, n, left, right):
    """The first x strictly between with jump * count + smooth part >= target, or `right`."""
    reach, half = plan.smooth.reach, plan.half
    limit, jump = 1.0 - 1.0 / plan.p, 1.0 / plan.p
    finest = 1.0 if half > 0.0 else 1e-9 * plan.sigma
    depth, start = 1, left
    ends = np.empty(64)
    ends[0] = right
    low = _value(start + half, origin, width, reach, limit, n, coefficients)
    while depth > 0:
        if start > left and jump * count + low >= target:
            return start
        end = ends[depth - 1]
        high = _value(end + half, origin, width, reach, limit, n, coefficients)
        step = (end - start) / plan.sigma
        most = max(low, high) + 0.125 * n * plan.bend * step * step
        if jump * count + most < target or end - start <= finest or depth == ends.size:
            start, low = end, high
            depth -= 1
            continue
        middle = start + 0.5 * (end - start)
        ends[depth] = np.floor(middle) if half > 0.0 else middle
        depth += 1
    return right


@kernel
def _smooth_crossings(
    z, q, margin, step, fine, fine_reach, steps, weight, coarse, coarse_reach, own, limit, out
):
    """Where n T of a smooth curve first reaches n q: a layer of steps, and perhaps one of the smooth part."""
    n, origin = z.size, z[0]
    points = np.int64((z[-1] - z[0] + 2.0 * margin) / step) + 2
    total = np.empty(points)
    for i in range(points):
        x = origin - margin + i * step
        total[i] = _both(x, origin, fine, fine_reach, steps, weight, coarse, coarse_reach, own, limit, n)
    for k in range(q.size):
        target = q[k] * n
        i = 0
        while i < points - 1 and total[i] < target:
            i += 1
        right = origin - margin + i * step
        left = right - step
        for _ in range(40):
            middle = 0.5 * (left + right)
            value = _both(
                middle, origin, fine, fine_reach, steps, weight, coarse, coarse_reach, own, limit, n
            )
            if value >= target:
                right = middle
            else:
                left = middle
        out[k] = right


@kernel(inline="always")
def _both(x, origin, fine, fine_reach, steps, weight, coarse, coarse_reach, own, limit, n):
    value = weight * _value(x, origin, fine, fine_reach, 1.0, n, steps)
    if own.shape[0] > 0:
        value += _value(x, origin, coarse, coarse_reach, limit, n, own)
    return value
