"""Runs the loops of Monte Carlo studies: quantiles of many samples, and pairs of near records.

Quantiles of two samples, without a smooth part:

>>> import numpy as np
>>> from condmask.kernels import replication
>>> rows = np.array([[1.0, 2.0, 5.0], [3.0, 4.0, 4.5]])
>>> width, jump, bend, whole, rearranged = 1.0, 1.0, 0.0, False, False
>>> targets, quantiles = np.array([0.9, 2.4]), np.empty((2, 2))
>>> replication.quantiles_of_rows(
...     rows, np.zeros((2, 40)), np.full(2, -7.0), width, jump, bend, whole, targets, rearranged,
...     quantiles,
... )
>>> quantiles
array([[1. , 5. ],
       [3. , 4.5]])

Simulations of Theorems 2.1 to 2.5 of Ghatak & Roy repeat these.
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.crossings import Steps, reached
from condmask.kernels.nodes import LEFT, POINTS


@kernel
def quantiles_of_rows(rows, nodes, origin, width, jump, bend, whole, targets, rearranged, out):
    """Set out[r, k] to the point at which the function of row r reaches targets[k]; targets
    ascend.

    The function rises by `jump` at each value of rows[r], which ascend too; the smooth rest is
    known at nodes: nodes[r, i] at origin[r] + i width, with ten more nodes at either end. `bend`,
    `whole` and `rearranged` are as in `crossings`; points are right to 1e-7 n of the function.

    Cost: one evaluation at each node, and some 30 at each quantile.
    """
    below = np.arange(rows.shape[1] + 1)
    no_sums = np.empty((2, 0))
    room = np.empty(POINTS)
    found = np.empty((2, targets.size))
    for r in range(nodes.shape[0]):
        places = (rows[r] - origin[r]) / width
        known = rows[r], places, below, nodes[r]
        steps = Steps(*known, width, 0.0, jump, bend, np.inf, no_sums, 1.0, whole, room)
        found[:] = np.nan
        reached(
            steps, LEFT, nodes.shape[1] - POINTS, targets, 1e-7 * rows.shape[1], rearranged, found
        )
        out[r] = found[0] + found[1]


@kernel
def pairs_within(rows, d, out):
    """Set out[r, k] to the number of ordered pairs of records of the sorted row r less than d[k]
    apart.

    Each of 2n steps advances the right record of a pair if the two are near, else the left one.
    Distances take turns and steps have no branch: three times as fast for random gaps.
    """
    n = rows.shape[1]
    z = np.empty(n + 1)
    z[n] = np.inf
    right, count = np.empty((2, d.size), dtype=np.uint64)
    for row in range(rows.shape[0]):
        z[:n] = rows[row]
        right[:] = 0
        count[:] = 0
        for step in range(np.uint64(2 * n)):
            for k in range(np.uint64(d.size)):
                j = right[k]
                left = step - j
                near = (z[j] - z[left] < d[k]) | (left == j)
                count[k] += near * (j - left)
                right[k] = j + near
        for k in range(d.size):
            out[row, k] = 2.0 * count[k]
