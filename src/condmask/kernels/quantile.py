"""Quantiles by bisection: where the estimated distribution function crosses given probabilities.

T_1 jumps by 1/(n p) at masked values and moves smoothly between them, so the bisection runs over the
sorted masked values first and enters the gap below the crossing only where its smooth part reaches the
probability. T need not be monotone: where it crosses a probability several times, this is one of the
crossings (all lie within a few 1/sqrt(n) of each other for p >= 1/2).

Cost: O(log n) evaluations a probability, each over the masked values within reach.
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.interpolant import sum_weights


@kernel
def count_below(z, x):
    """How many of the sorted z lie below x."""
    low, high = 0, z.size
    while low < high:
        middle = (low + high) // 2
        if z[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def total_weight(z, x, sigma, reach, coefficients, split, fine, coarse, base, mirror):
    """n T(x) from sorted z: values further below x than the reach count 1, further above 0."""
    start = count_below(z, x - reach * sigma)
    stop = count_below(z, x + reach * sigma)
    return start + sum_weights(z, x, sigma, coefficients, split, fine, coarse, base, mirror, start, stop)


@kernel
def solve_gap(z, target, left, right, sigma, reach, coefficients, split, fine, coarse, base, mirror):
    """The crossing of n T = target in (left, right], by false position, halved at every third step."""
    below = total_weight(z, left, sigma, reach, coefficients, split, fine, coarse, base, mirror) - target
    above = total_weight(z, right, sigma, reach, coefficients, split, fine, coarse, base, mirror) - target
    for step in range(300):
        width = right - left
        if width <= 4e-15 * max(abs(left), abs(right)) or width <= 1e-13 * sigma:
            break
        middle = left + 0.5 * width
        if step % 3 != 2 and above > below:
            middle = min(
                max(left - below * (width / (above - below)), left + 1e-3 * width), right - 1e-3 * width
            )
        if not left < middle < right:
            break
        value = (
            total_weight(z, middle, sigma, reach, coefficients, split, fine, coarse, base, mirror) - target
        )
        if value >= 0.0:
            right, above = middle, value
            if value == 0.0:
                break
        else:
            left, below = middle, value
    return right


@kernel
def bisect_quantiles(z, q, steps, sigma, reach, coefficients, split, fine, coarse, base, mirror, out):
    """out[i]: a crossing of T at q[i]; z sorted, steps: whether T jumps at the masked values (T_1)."""
    n = z.size
    for i in range(q.size):
        target = q[i] * n
        low, high = -1, n
        while high - low > 1:
            middle = (low + high) // 2
            weight = total_weight(z, z[middle], sigma, reach, coefficients, split, fine, coarse, base, mirror)
            if weight >= target:
                high = middle
            else:
                low = middle
        right = z[high] if high < n else z[n - 1] + (reach + 1.0) * sigma
        left = z[low] if low >= 0 else z[0] - (reach + 1.0) * sigma
        if steps and high < n:
            before = np.nextafter(right, -np.inf)
            weight = total_weight(z, before, sigma, reach, coefficients, split, fine, coarse, base, mirror)
            if weight < target or before <= left:
                out[i] = right
                continue
            right = before
        out[i] = solve_gap(
            z, target, left, right, sigma, reach, coefficients, split, fine, coarse, base, mirror
        )


@kernel
def bisect_grid(z, q, step, sigma, reach, coefficients, split, fine, coarse, base, mirror, out):
    """out[i]: a crossing of T at q[i] in steps of the grid of rounded data, where T is constant between
    grid points and exact half a step to their right; z sorted."""
    margin = (reach + 1.0) * sigma
    for i in range(q.size):
        target = q[i] * z.size
        low = np.floor((z[0] - margin) / step)
        high = np.ceil((z[-1] + margin) / step)
        while high - low > 1.0:
            middle = np.floor(low + 0.5 * (high - low))
            if not low < middle < high:
                break
            x = (middle + 0.5) * step
            weight = total_weight(z, x, sigma, reach, coefficients, split, fine, coarse, base, mirror)
            if weight >= target:
                high = middle
            else:
                low = middle
        out[i] = high
