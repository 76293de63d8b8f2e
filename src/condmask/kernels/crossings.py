"""Batch inversion of piecewise polynomials: quantiles of many samples at many probabilities, by bisection.

A sample's function is a polynomial on each of its equal cells, coefficients[cell, l] in powers of t in
[-1/2, 1/2], the position in cell widths from the cell's centre; cell 0 begins at `origin`. It need not be
monotone. An interval of w cell widths is halved from left to right until the target lies outside::

    [min(f(a), f(b)) - arc, max(f(a), f(b)) + arc],   arc = w^2/8 sum_l l (l-1) |c_l| 2^-(l-2),

which holds f there since the sum bounds the second derivative, or until the arc is below rounding (4e-16
of the sum of abs(c_l) 2^-l), where the chord is the curve. So no excursion across a target is missed but
those smaller than rounding, and a crossing is known to rounding of f.

Cost: some 25 halvings a crossing, one polynomial each, and a pass over the cells before.

Threads share samples: blocks ``start, stop`` are independent, and the kernels release the GIL.

>>> import numpy as np
>>> from condmask.kernels.crossings import first_crossings_of_samples
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
def first_in_cell(coefficients, cell, target):
    """How far into a cell, in its widths, the function is first at least the target; inf if nowhere."""
    start, _, bend, rounding = outline(coefficients, cell)
    done, width = 0, 1.0  # `done` intervals of this width lie to the left
    while done * width < 1.0:
        if start >= target:
            return done * width
        t, end = (done + 1) * width - 0.5, 0.0
        for power in range(coefficients.shape[1] - 1, -1, -1):
            end = end * t + coefficients[cell, power]
        arc, least, most = bend * width * width, min(start, end), max(start, end)
        if arc > rounding and least - arc < target <= most + arc:
            done, width = 2 * done, 0.5 * width
            continue
        if end >= target:
            return done * width + width * (target - start) / (end - start)
        done, start = done + 1, end
        while done & 1 == 0:
            done, width = done >> 1, 2.0 * width
    return np.inf


@kernel
def first_crossings(coefficients, origin, width, targets, out):
    """out[k]: the least x at which the function of one sample is at least targets[k], or inf."""
    cells = coefficients.shape[0]
    most, so_far = np.empty(cells), -np.inf  # the function up to the end of each cell, bounded
    for cell in range(cells):
        left, right, bend, _ = outline(coefficients, cell)
        so_far = max(so_far, max(left, right) + bend)
        most[cell] = so_far
    for k in range(targets.size):
        out[k] = np.inf
        for cell in range(np.searchsorted(most, targets[k]), cells):
            within = first_in_cell(coefficients, cell, targets[k])
            if within < np.inf:
                out[k] = origin + width * (cell + within)
                break


@kernel
def first_crossings_of_samples(coefficients, origin, width, targets, start, stop, out):
    """out[s, k]: the first crossing of targets[k] by coefficients[s], start <= s < stop."""
    for s in range(start, stop):
        first_crossings(coefficients[s], origin[s], width[s], targets, out[s])
