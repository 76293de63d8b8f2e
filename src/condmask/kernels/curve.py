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
from condmask.kernels.interpolant import DEGREE
from condmask.kernels.lattice import ORDER, count_below, count_up_to

# What a layer is, a kernel summed over all records: its weight in n T (none: no layer), the rows of
# `stretches` and of `tables` that are its own, the length in which its table is written and what that has
# besides coefficients (interpolant.py). `margin` cells lie left of a stretch's first record; a record
# further left than `reach` counts `limit`, further right 0.
LAYER = np.dtype(
    [(name, np.int64) for name in ("stretch", "stretches", "row")]
    + [
        (name, np.float64)
        for name in (
            "weight", "per_width", "margin", "limit", "reach", "unit",
            "split", "fine", "coarse", "base", "mirror", "cells",
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
# A point x, the parts of n T there, and the values that count as passed by the rising part, that are at most
# x, and (in a search) that lie within reach.
POINT = np.dtype(
    [(name, np.float64) for name in ("x", "rising", "smooth")]
    + [(name, np.int64) for name in ("before", "up_to", "within")],
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
def evaluate(curve, points, shift, start, stop):
    """Fill in both parts of n T at x + shift for the rows start .. stop of points."""
    z, below, sums, layers, stretches = curve.values, curve.below, curve.sums, curve.layers, curve.stretches
    coefficients, tables = curve.coefficients, curve.tables
    counted, exponential = below.size > 0, sums.size > 0
    jump, amplitude, decay = curve.jump, curve.amplitude, curve.decay
    for i in range(start, stop):
        point = points[i]
        point["rising"] = jump * (below[point["before"]] if counted else point["before"])
        point["smooth"] = 0.0
        if exponential:
            point["smooth"] = -amplitude * laplace_sum(
                z, below, point["x"] + shift, point["up_to"], decay, sums
            )
    for part in range(layers.size):
        layer = layers[part]
        weight, limit, reach = layer["weight"], layer["limit"], layer["reach"]
        last = layer["stretch"] + layer["stretches"]
        if weight == 0.0:
            continue
        for i in range(start, stop):
            point = points[i]
            x = point["x"] + shift
            k, high = layer["stretch"], last
            while k < high:  # the first stretch that does not end before x
                middle = (k + high) // 2
                if stretches[middle]["high"] < x:
                    k = middle + 1
                else:
                    high = middle
            done = stretches[k - 1]["stop"] if k > layer["stretch"] else 0
            total = limit * (below[done] if counted else done)
            while True:
                end = stretches[k]["start"] if k < last else z.size
                if done < end:  # records without a lattice
                    first = count_below(z, x - reach, done, end)
                    total += limit * (below[first] - below[done] if counted else first - done)
                    done = first
                    while done < end and z[done] <= x + reach:
                        v = abs(x - z[done]) / layer["unit"]
                        over = v - layer["split"]
                        s = (
                            v * layer["fine"]
                            if over < 0.0
                            else layer["split"] * layer["fine"] + over * layer["coarse"]
                        )
                        row = layer["row"] + np.int64(min(s, layer["cells"]))
                        s = min(s, layer["cells"]) + layer["row"] - row - 0.5
                        half = 0.0
                        for power in range(DEGREE, -1, -1):
                            half = half * s + tables[row, power]
                        if x < z[done]:
                            half *= layer["mirror"]
                        total += (below[done + 1] - below[done] if counted else 1) * (layer["base"] + half)
                        done += 1
                    if done < end:
                        break
                if k == last or x < stretches[k]["low"]:
                    break
                stretch = stretches[k]
                t = (x - stretch["origin"]) * layer["per_width"] + layer["margin"]
                cell = min(max(np.int64(t), 0), stretch["cells"] - 1)
                t -= cell + 0.5
                value = 0.0
                for power in range(ORDER - 1, -1, -1):
                    value = value * t + coefficients[stretch["offset"] + cell, power]
                total += value
                done = stretch["stop"]
                k += 1
            if part == 0:
                point["rising"] += weight * total
            else:
                point["smooth"] += weight * total
