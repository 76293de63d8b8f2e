"""The estimated distribution function of one sorted sample as a curve that is cheap at any x.

n T(x) is a *rising* part, which never decreases, and a *smooth* one::

    T_1    jump * #{z <= x}               + sum_j s((x - z_j) / sigma)
    T_b    sum_j Phi((x - z_j) / b) / p   + sum_j s_b((x - z_j) / sigma)

The smooth part falls nearly everywhere; how fast it may rise is bounded by `rise` per record, its second
derivative by `bend`, both with `scale` as the unit of length. That is all a search for crossings needs
to know (quantile.py).
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels.exponentials import laplace_sum
from condmask.kernels.interpolant import sum_weights
from condmask.kernels.lattice import Layer, add_layer, count_below, count_up_to


class Curve(NamedTuple):
    """All that the kernels below need to know of a sample.

    `below` counts the records before each of the distinct `values` where kernels are summed over
    distinct values, and is empty where `values` are all records. `left` and `right` are empty but for
    exponential sums. `half` is 1/2 for data in whole steps of a grid, evaluated half a step to the right.
    """

    values: np.ndarray
    below: np.ndarray
    n: int
    jump: float
    step: float
    steps: Layer
    smooth: Layer
    scale: float
    rise: float
    bend: float
    decay: float
    amplitude: float
    left: np.ndarray
    right: np.ndarray
    half: float


@kernel
def records(below, index):
    """The number of records among the first `index` values."""
    return below[index] if below.size > 0 else index


@kernel
def add_rising(curve, x, index, out):
    """out[i] += the part of n T(x[i]) that never decreases; index[i] values are at most x[i]."""
    jump, below = curve.jump, curve.below
    if jump != 0.0:
        for i in range(x.size):
            out[i] += jump * records(below, index[i])
    if curve.step != 0.0:
        add_layer(x, curve.values, curve.step, curve.steps, out)


@kernel
def add_smooth(curve, x, index, out):
    """out[i] += the rest of n T(x[i])."""
    values, below, left, right = curve.values, curve.below, curve.left, curve.right
    if left.size > 0:
        for i in range(x.size):
            out[i] -= curve.amplitude * laplace_sum(values, x[i], index[i], curve.decay, left, right)
    elif below.size > 0:
        _add_tied(x, values, below, curve.smooth, out)
    else:
        add_layer(x, values, 1.0, curve.smooth, out)


@kernel
def _add_tied(x, values, below, layer, out):
    """The smooth part as a sum over distinct values."""
    limit, reach, unit, table = layer.limit, layer.reach, layer.unit, layer.table
    for i in range(x.size):
        first = count_below(values, x[i] - reach, 0, values.size)
        out[i] += limit * below[first]
        for j in range(first, values.size):
            if values[j] > x[i] + reach:
                break
            out[i] += sum_weights(values, x[i], unit, table, j, j + 1) * (below[j + 1] - below[j])


@kernel
def add_values(curve, x, out):
    """out[i] += n T(x[i]) (or n sigma times the density) at ascending x."""
    values = curve.values
    index = np.zeros(x.size, dtype=np.int64)
    if curve.jump != 0.0:
        up_to = 0
        for i in range(x.size):
            step = 1
            while up_to + step <= values.size and values[up_to + step - 1] <= x[i]:  # gallop
                up_to += step
                step *= 2
            up_to = count_up_to(values, x[i], up_to, min(up_to + step, values.size))
            index[i] = up_to
    add_rising(curve, x, index, out)
    add_smooth(curve, x, index, out)
