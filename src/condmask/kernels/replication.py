"""The loops of Monte Carlo studies: quantiles of many samples, sums of errors, and how many lie near."""

import numpy as np

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels.nodes import LEFT, POINTS, shares


@kernel(fastmath=SAFE_MATH)
def quantiles_of_rows(rows, nodes, origin, width, jump, whole, targets, rearranged, out):
    """out[r, k]: where the function of row r reaches targets[k], which ascend.

    It rises by `jump` at each value of rows[r], which ascend too; the rest is smooth, and known at nodes:
    nodes[r, i] at origin[r] + i width. Between values and nodes it is bisected, to x that are `whole`, or to
    1e-9 widths. The place is the first one or, `rearranged`, that of the values in ascending order: there the
    length of all x counts at which the function is below the target.

    Cost: ten products for each value and node, and thirty times as many for each quantile.
    """
    share, n, finest = np.empty(POINTS), rows.shape[1], 1.0 if whole else 1e-9 * width
    for r in range(nodes.shape[0]):
        start = origin[r] + LEFT * width
        x = np.floor(start) if whole else start
        out[r], value, j, i, done = x, _at(nodes[r], (x - origin[r]) / width, share), 0, LEFT + 1, 0
        while i < nodes.shape[1] - POINTS and done < targets.size:
            end = origin[r] + i * width
            end = np.floor(end) if whole else end
            if j < n and rows[r, j] <= end:
                end = rows[r, j]
            else:
                i += 1
            smooth = _at(nodes[r], (end - origin[r]) / width, share)
            for k in range(done, targets.size):
                low, high = value < targets[k], jump * j + smooth >= targets[k]
                left, right = x, end
                while low == high and right - left > finest:
                    middle = 0.5 * (left + right)
                    middle = np.floor(middle) if whole else middle
                    at = jump * j + _at(nodes[r], (middle - origin[r]) / width, share)
                    left, right = (middle, right) if (at < targets[k]) == low else (left, middle)
                if rearranged:
                    out[r, k] += (right if high else end) - x if low else 0.0 if high else end - right
                elif not low or high:
                    out[r, k], done = right if low else x, k + 1
                else:
                    break
            while j < n and rows[r, j] == end:
                j += 1
            x, value = end, jump * j + smooth


@kernel(inline="always")
def _at(nodes, place, share):
    """What a function known at nodes is at a place; `share` is room for ten numbers."""
    i, total = np.int64(np.floor(place)), 0.0
    shares(place - i, share)
    for k in range(POINTS):
        total += share[k] * nodes[i - LEFT + k]
    return total


@kernel
def add_errors(estimates, truth, sums):
    """Add to sums[k], k = 0 .. 4, the k-th powers of how far rows of estimates are from the truth.

    Row by row, so that the sums are the same however the rows are cut; what is not finite is left out.
    """
    for r in range(estimates.shape[0]):
        for i in range(truth.size):
            if np.isfinite(estimates[r, i]):
                error, power = estimates[r, i] - truth[i], 1.0
                for k in range(sums.shape[0]):
                    sums[k, i] += power
                    power *= error


@kernel
def pairs_within(rows, d, out):
    """out[r, k]: how many ordered pairs of two records of the sorted row r lie less than d[k] apart.

    A step moves the right record of a pair on where the two are near, the left one where not, so there are
    2n. The distances take turns and no step is a branch: on random gaps that is three times as fast.
    """
    n = rows.shape[1]
    z = np.empty(n + 1)
    z[n] = np.inf
    right, count = np.empty((2, d.size), dtype=np.uint64)
    for row in range(rows.shape[0]):
        z[:n] = rows[row]
        right[:], count[:] = 0, 0
        for step in range(np.uint64(2 * n)):
            for k in range(np.uint64(d.size)):
                j = right[k]
                left = step - j
                near = (z[j] - z[left] < d[k]) | (left == j)
                count[k] += near * (j - left)
                right[k] = j + near
        for k in range(d.size):
            out[row, k] = 2.0 * count[k]


@kernel
def nearer(error, d, out):
    """out[r, k]: how many of the row r lie less than d[k] from 0."""
    for row in range(error.shape[0]):
        for k in range(d.size):
            count = 0
            for i in range(error.shape[1]):
                count += abs(error[row, i]) < d[k]
            out[row, k] = count
