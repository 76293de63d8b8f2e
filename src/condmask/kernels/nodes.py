"""Counts spread to equal nodes, and sums read back between them, by the polynomial through ten
nodes.

The same ten weights spread a count at a place to the nodes about it, and read a function known at
nodes at a place. What varies on the scale of sixteen nodes is read to 1e-12 of its size
(tests/kernels/test_weight.py).

The smooth part of Theorems 2.2 and 2.3 is read so (docs/theory.rst, "Nodes").
"""

from math import prod

import numpy as np

from condmask._jit import SAFE_MATH, kernel

POINTS = 10
LEFT = 4  # of the points, those left of the cell in which a place lies
SCALE = np.array([1.0 / prod(k - j for j in range(POINTS) if j != k) for k in range(POINTS)])


@kernel(inline="always")
def shares(u, share):
    """What the values at -4, ..., 5 weigh in that at u, 0 <= u < 1, of the polynomial through
    them."""
    left = right = 1.0
    for k in range(POINTS):
        share[k] = SCALE[k] * left
        left *= u + LEFT - k
    for k in range(POINTS - 1, -1, -1):
        share[k] *= right
        right *= u + LEFT - k


# in line, as `value`: machine code for its own calls and that for calls by other kernels round
# differently, and what is loaded first would serve both
@kernel(fastmath=SAFE_MATH, inline="always")
def spread(place, counts, nodes):
    """Add counts at places, in units of the nodes' distance, to the nodes about them."""
    share = np.empty(POINTS)
    for r in range(place.size):
        i = np.int64(np.floor(place[r]))
        shares(place[r] - i, share)
        for k in range(POINTS):
            nodes[i - LEFT + k] += counts[r] * share[k]


@kernel(fastmath=SAFE_MATH, inline="always")
def value(place, nodes, share):
    """What a function known at nodes is at a place; `share` is room for ten numbers."""
    i = np.int64(np.floor(place))
    total = 0.0
    shares(place - i, share)
    for k in range(POINTS):
        total += share[k] * nodes[i - LEFT + k]
    return total


@kernel(fastmath=SAFE_MATH)
def read(place, nodes, out):
    """Add to `out` what a function known at nodes is at places."""
    share = np.empty(POINTS)
    for r in range(place.size):
        out[r] += value(place[r], nodes, share)


@kernel(fastmath=SAFE_MATH)
def spread_rows(rows, first, per_node, nodes):
    """Add one for each value of each row to the nodes of that row, from `first` on, so many to a
    unit."""
    one = np.ones(rows.shape[1])
    for s in range(rows.shape[0]):
        spread((rows[s] - first[s]) * per_node, one, nodes[s])
