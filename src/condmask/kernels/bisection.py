"""Batch inversion of piecewise polynomials: quantiles of many samples at many probabilities, by bisection.

A sample's function is a polynomial on each of its equal cells, coefficients[cell, l] in powers of t in
[-1/2, 1/2], the position in cell widths from the cell's centre; cell 0 begins at `origin`. It need not be
monotone. An interval of w cell widths is halved from left to right until the target lies outside::

    [min(f(a), f(b)) - arc, max(f(a), f(b)) + arc],   arc = w^2/8 sum_l l (l-1) |c_l| 2^-(l-2),

which holds f there since the sum bounds the second derivative, or until the arc is below rounding (4e-16
of the sum of abs(c_l) 2^-l), where the chord is the curve. So no excursion across a target is missed but
those smaller than rounding, and a crossing is known to rounding of f.

Cost: some 25 halvings a crossing, one polynomial each; without brackets a pass over the cells before.

Threads share samples: blocks ``start, stop`` are independent, and the kernels release the GIL.

>>> import numpy as np
>>> from condmask.kernels.bisection import first_crossings_of_samples
>>> cubic = np.array([[[0.5, 0.75, 0.0, -1.0]]])   # one sample, one cell: 1/2 + 3t/4 - t^3
>>> found = np.empty((1, 3))
>>> first_crossings_of_samples(cubic, np.zeros(1), np.ones(1), np.array([0.25, 0.5, 0.9]), 0, 1, found)
>>> found.round(6)
array([[0. , 0.5, inf]])
"""

import numpy as np

from condmask._jit import kernel

ROUNDING = 4e-16


@kernel
def outline(coefficients, cell):
    """The values at both ends of a cell, the arc of the whole cell, and what rounding may do."""
    left = right = size = bend = 0.0
    scale, sign = 1.0, 1.0
    for power in range(coefficients.shape[1]):
        term = coefficients[cell, power] * scale
        left += sign * term
        right += term
        size += abs(term)
        bend += 0.5 * power * (power - 1) * abs(term)
        scale *= 0.5
        sign = -sign
    return left, right, bend, ROUNDING * size


@kernel
def length_below(coefficients, target, low, high, first):
    """How many of the first `high` cells, in parts, are below the target, if all before `low` are.

    With `first`, those before the function is first at least the target; infinite where it never is.
    """
    length = float(low)
    for cell in range(low, high):
        start, right, bend, rounding = outline(coefficients, cell)
        if max(start, right) + bend < target:
            length += 1.0
            continue
        done, width = 0, 1.0  # `done` intervals of this width lie to the left
        while done * width < 1.0:
            if first and start >= target:
                return length
            t, end = (done + 1) * width - 0.5, 0.0
            for power in range(coefficients.shape[1] - 1, -1, -1):
                end = end * t + coefficients[cell, power]
            arc, least, most = bend * width * width, min(start, end), max(start, end)
            if arc > rounding and least - arc < target <= most + arc:
                done, width = 2 * done, 0.5 * width
                continue
            if least < target:
                length += width if most < target else width * (target - least) / (most - least)
            if first and most >= target:
                return length
            done, start = done + 1, end
            while done & 1 == 0:
                done, width = done >> 1, 2.0 * width
    return np.inf if first else length


@kernel(inline="always")
def find_extremes(coefficients, most, least):
    """Bounds of the function up to the end of each cell, from above, and from its start on, from below."""
    cells = coefficients.shape[0]
    so_far = -np.inf
    for cell in range(cells):
        left, right, bend, _ = outline(coefficients, cell)
        so_far = max(so_far, max(left, right) + bend)
        most[cell], least[cell] = so_far, min(left, right) - bend
    for cell in range(cells - 2, -1, -1):
        least[cell] = min(least[cell], least[cell + 1])


@kernel(inline="always")
def count_less(ascending, target):
    """How many of ascending bounds are less than the target."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find(coefficients, targets, first, out):
    """`length_below` over all cells, which passes those that bounds from either side decide."""
    cells = coefficients.shape[0]
    most, least = np.empty(cells), np.empty(cells)
    find_extremes(coefficients, most, least)
    for k in range(targets.size):
        low = count_less(most, targets[k])
        high = cells if first else count_less(least, targets[k])
        out[k] = length_below(coefficients, targets[k], low, high, first)


@kernel
def first_crossings(coefficients, origin, width, targets, out):
    """out[k]: the least x at which the function of one sample is at least targets[k], or inf."""
    find(coefficients, targets, np.bool_(True), out)  # numba would compile again for the literal
    for k in range(targets.size):
        out[k] = origin + width * out[k]


@kernel
def lengths_below(coefficients, width, targets, out):
    """out[k]: the length of all x in the cells of one sample at which the function is less than targets[k].

    The quantiles of the monotone rearrangement, counted from the left end of cell 0.
    """
    find(coefficients, targets, np.bool_(False), out)
    for k in range(targets.size):
        out[k] *= width


@kernel
def first_crossings_of_samples(coefficients, origin, width, targets, start, stop, out):
    """out[s, k]: the first crossing of targets[k] by coefficients[s], start <= s < stop."""
    for s in range(start, stop):
        first_crossings(coefficients[s], origin[s], width[s], targets, out[s])
