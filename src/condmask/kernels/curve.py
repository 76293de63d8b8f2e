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
from condmask.kernels.interpolant import half_weight
from condmask.kernels.lattice import count_below, count_up_to, polynomial, records

# What a layer is, a kernel summed over all records: its weight in n T (none: no layer), the rows of
# `stretches` and of `tables` that are its own, the length in which its table is written and what that has
# besides coefficients (interpolant.py). `margin` cells lie left of a stretch's first record; a record
# further left than `reach` counts `limit`, further right 0.
LAYER = np.dtype(
    [(name, np.int64) for name in ("stretch", "stretches", "row", "last")]
    + [
        (name, np.float64)
        for name in (
            "weight", "per_width", "margin", "limit", "reach", "unit",
            "split", "fine", "coarse", "base", "mirror",
        )
    ],
    align=True,
)  # fmt: skip
# Values start .. stop have cells, from row `offset` of `coefficients` on, which serve low <= x <= high.
STRETCH = np.dtype(
    [(name, np.int64) for name in ("start", "stop", "offset", "cells")]
    + [(name, np.float64) for name in ("origin", "low", "high")],
    align=True,
)


class Curve(NamedTuple):
    """All that the kernels below need to know of a sample.

    `below` counts the records before each of the distinct `values` and in all, and is empty where `values`
    are all records. `sums` is empty but for exponential sums. `layers` are the steps of T_b and the
    smooth part. `half` is 1/2 for data in whole steps of a grid, evaluated half a step to the right.

    A call costs, and takes to compile, by the arrays it hands on; so the layers share theirs.
    """

    values: np.ndarray
    below: np.ndarray
    sums: np.ndarray
    layers: np.ndarray
    stretches: np.ndarray
    coefficients: np.ndarray
    tables: np.ndarray
    n: int
    jump: float
    scale: float
    rise: float
    bend: float
    decay: float
    amplitude: float
    half: float


@kernel
def count_at(values, x, up_to):
    """up_to[i]: how many of the sorted values are at most x[i], of ascending x."""
    count = 0
    for i in range(x.size):
        step = 1
        while count + step <= values.size and values[count + step - 1] <= x[i]:  # gallop
            count += step
            step *= 2
        count = count_up_to(values, x[i], count, min(count + step, values.size))
        up_to[i] = count


@kernel
def evaluate(curve, points, counts, shift, start, stop):
    """From rows start .. stop of points (x, -, -) to (x, rising part, smooth part) of n T at x + shift.

    A row of counts says how many values count as passed for the rising part, and how many are at most x.
    """
    z, below, sums = curve.values, curve.below, curve.sums
    for i in range(start, stop):
        x, up_to = points[i, 0] + shift, counts[i, 1]
        points[i, 1] = curve.jump * records(below, counts[i, 0])
        points[i, 2] = 0.0
        if sums.shape[1] > 0:
            points[i, 2] -= curve.amplitude * laplace_sum(z, below, x, up_to, curve.decay, sums)
    for part in range(2):
        weight, limit, reach = curve.layers[part].weight, curve.layers[part].limit, curve.layers[part].reach
        if weight != 0.0:
            for i in range(start, stop):
                total = _layer_sum(curve, part, points[i, 0] + shift, limit, reach)
                points[i, 1 + part] += weight * total


@kernel(inline="always")
def _layer_sum(curve, part, x, limit, reach):
    """The kernel of a layer summed over all records, at x."""
    z, below, layer, stretches = curve.values, curve.below, curve.layers[part], curve.stretches
    k = least = layer.stretch
    last = high = k + layer.stretches
    while k < high:  # the first stretch that does not end before x
        middle = (k + high) // 2
        if stretches[middle].high < x:
            k = middle + 1
        else:
            high = middle
    done = stretches[k - 1].stop if k > least else 0
    total = limit * records(below, done)
    while True:
        end = stretches[k].start if k < last else z.size
        if done < end:  # records without a lattice
            first = count_below(z, x - reach, done, end)
            total += limit * (records(below, first) - records(below, done))
            done = first
            while done < end and z[done] <= x + reach:
                count = records(below, done + 1) - records(below, done)
                half = half_weight(
                    abs(x - z[done]) / layer.unit, curve.tables, layer.row, layer.last,
                    layer.split, layer.fine, layer.coarse,
                )  # fmt: skip
                total += count * (layer.base + (half if x >= z[done] else layer.mirror * half))
                done += 1
            if done < end:
                break
        if k == last or x < stretches[k].low:
            break
        found = stretches[k]
        total += polynomial(
            x, found.origin, layer.per_width, layer.margin, found.offset, found.cells, curve.coefficients
        )
        done = found.stop
        k += 1
    return total
