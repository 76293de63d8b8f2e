"""Sums over records of which only the power sums of their cells are known: sparse, mergeable, one pass.

Cell k holds the records with ``k < z/h <= k + 1`` (so that counts up to an edge are exact), as the sums of
t^m, t in cell widths from the centre, m < ORDER. The same two Taylor expansions as in lattice.py, with the
same error, give a sum at any x.
"""

import numpy as np

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels.lattice import ORDER, count_below, count_up_to


@kernel(fastmath=SAFE_MATH)
def cell_sums(z, starts, centers, per_width, moments):
    """moments[r, m] = sum of t^m over the r-th run of sorted z, from starts[r] to starts[r + 1]."""
    for r in range(centers.size):
        for j in range(starts[r], starts[r + 1]):
            t = (z[j] - centers[r]) * per_width
            power = 1.0
            for m in range(ORDER):
                moments[r, m] += power
                power *= t


@kernel
def add_cells(x, centers, counts_below, scaled, per_width, reach, derivatives, even, limit, weight, out):
    """out[i] += weight times the kernel summed over all cells at x[i].

    `scaled` are the moments times (-1)^m / m!, `counts_below` the records before each cell and in all,
    `derivatives` those of `lattice.cells`, `even` whether the kernel is (else it is odd plus limit / 2).
    """
    far = reach / per_width
    for i in range(x.size):
        first = count_below(centers, x[i] - far, 0, centers.size)
        last = count_up_to(centers, x[i] + far, first, centers.size)
        total = limit * counts_below[first]
        for j in range(first, last):
            u = (x[i] - centers[j]) * per_width
            lag = np.int64(np.rint(u))
            t = u - lag
            k = min(abs(lag), reach)
            value = 0.5 * limit * scaled[j, 0]
            power = 1.0
            for order in range(ORDER):
                part = 0.0
                # g^(q)(-v) is (-1)^q g^(q)(v), or minus that where g is odd
                sign = -1.0 if lag < 0 and (order % 2 == 1) == even else 1.0
                for m in range(ORDER):
                    flip = -1.0 if lag < 0 and m % 2 == 1 else 1.0
                    part += flip * derivatives[order + m, k] * scaled[j, m]
                value += sign * part * power
                power *= t / (order + 1.0)
            total += value
        out[i] += weight * total


@kernel
def exponential_cell_sums(centers, decay, toward_right, toward_left, left, right):
    """As exponentials.exponential_sums, of cells whose own sums about their centres are given."""
    if centers.size == 0:
        return
    left[0] = toward_right[0]
    for j in range(1, centers.size):
        left[j] = left[j - 1] * np.exp((centers[j - 1] - centers[j]) / decay) + toward_right[j]
    last = centers.size - 1
    right[last] = toward_left[last]
    for j in range(last - 1, -1, -1):
        right[j] = right[j + 1] * np.exp((centers[j] - centers[j + 1]) / decay) + toward_left[j]
