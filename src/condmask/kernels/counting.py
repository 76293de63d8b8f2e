"""Counts records by grid point, in one pass over a window of the grid.

Records outside the window or off the grid, and NaN, are returned to the caller.

Cost: O(1) a record, one read of the data.

The estimates of Theorems 2.1 to 2.3 of Ghatak & Roy depend on these counts only (docs/theory.rst,
"The grid").
"""

import numpy as np

from condmask._jit import SAFE_MATH, kernel

RECORDS_AT_ONCE = 1024  # whose grid points are computed together


@kernel(fastmath=SAFE_MATH)
def count_window(z, per_step, slack, first, start, stop, counts, outside):
    """Add to counts[k] the records of z[start:stop] at grid point first + k; return the number of
    others, and put them into `outside`.

    The last entry of counts is for the others, so that there is no branch on the place of a
    record; outside needs room for one more. ``slack`` is the distance by which a value may miss
    its grid point, relative to it.
    """
    cells = np.empty(RECORDS_AT_ONCE, dtype=np.int32)
    others = counts.size - 1
    size = float(others)
    left = 0
    for begin in range(start, stop, RECORDS_AT_ONCE):
        length = min(stop - begin, RECORDS_AT_ONCE)
        known = counts[others]
        part = z[begin : begin + length]  # indices from 0 on: half again as fast (versus/grid.py)
        for j in range(length):  # apart from the counts, this loop vectorises
            steps = part[j] * per_step
            units = np.rint(steps)
            place = units - first
            good = (abs(steps - units) <= slack * abs(units)) & (place >= 0.0) & (place < size)
            cells[j] = np.int32(place if good else size)
        for j in range(length):
            counts[np.uint32(cells[j])] += 1  # unsigned, so that numba adds no test for < 0
        if counts[others] == known:
            continue
        for j in range(length):
            outside[left] = part[j]
            left += cells[j] == others
    return left
