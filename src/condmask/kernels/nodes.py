"""Spreads counts to equidistant nodes, and reads sums between nodes, by polynomials through ten.

The same ten weights spread a count to the nodes around it, and interpolate a function that is
known at nodes. A function that varies on the scale of sixteen nodes is read to 1e-12 of its size
(tests/kernels/test_weight.py).

For the smooth part of T in Theorems 2.2 and 2.3 of Ghatak & Roy (docs/theory.rst, "Nodes").
"""

from math import prod

import numpy as np

from condmask._jit import SAFE_MATH, kernel

POINTS = 10
LEFT = 4  # points to the left of the cell that contains a place
SCALE = np.array([1.0 / prod(k - j for j in range(POINTS) if j != k) for k in range(POINTS)])


@kernel(inline="always")
def shares(u, share):
    """Set share to the weights of the values at -4, ..., 5 in the polynomial through them at u,
    0 <= u < 1."""
    left = right = 1.0
    for k in range(POINTS):
        share[k] = SCALE[k] * left
        left *= u + LEFT - k
    for k in range(POINTS - 1, -1, -1):
        share[k] *= right
        right *= u + LEFT - k


# inline, like `value`: otherwise its machine code and that for calls by other kernels would round
# differently, and the one that is loaded first would serve both
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
    """Return a function, known at nodes, at a place; `share` is working memory for ten numbers."""
    i = np.int64(np.floor(place))
    total = 0.0
    shares(place - i, share)
    for k in range(POINTS):
        total += share[k] * nodes[i - LEFT + k]
    return total


@kernel(fastmath=SAFE_MATH)
def read(place, nodes, out):
    """Add a function, known at nodes, at places to `out`."""
    share = np.empty(POINTS)
    for r in range(place.size):
        out[r] += value(place[r], nodes, share)


@kernel(fastmath=SAFE_MATH)
def spread_rows(rows, first, per_node, nodes):
    """Spread the values of each row to the nodes of that row, of which there are `per_node` to a
    unit, from `first` on."""
    one = np.ones(rows.shape[1])
    for s in range(rows.shape[0]):
        spread((rows[s] - first[s]) * per_node, one, nodes[s])
