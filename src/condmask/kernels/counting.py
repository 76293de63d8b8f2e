"""Records counted by grid point, in one pass over a window of the grid.

Records that lie outside the window, off the grid or nowhere (NaN) are handed back, to be looked at
again.

Cost: O(1) a record, one read of the data.

Theorems 2.1 to 2.3 need nothing of the records but these counts (docs/theory.rst, "The grid").
"""

import numpy as np

from condmask._jit import SAFE_MATH, kernel

CHUNK = 1024  # records whose points are computed together


@kernel(fastmath=SAFE_MATH)
def count_window(z, per_step, slack, first, start, stop, counts, outside):
    """counts[k] += records of z[start:stop] at grid point first + k; outside[i]: the others; their
    number.

    The last entry of counts is for the others, so that no branch is taken on where a record lies;
    outside needs room for one more. ``slack`` is how far a value may miss its grid point, relative
    to it.
    """
    cells = np.empty(CHUNK, dtype=np.int32)
    others = counts.size - 1
    size = float(others)
    left = 0
    for begin in range(start, stop, CHUNK):
        length = min(stop - begin, CHUNK)
        known = counts[others]
        part = z[begin : begin + length]  # indices from 0 on: half again as fast (versus/grid.py)
        for j in range(length):  # apart from the counts, this loop vectorises
            steps = part[j] * per_step
            units = np.rint(steps)
            place = units - first
            good = (abs(steps - units) <= slack * abs(units)) & (place >= 0.0) & (place < size)
            cells[j] = np.int32(place if good else size)
        for j in range(length):
            counts[np.uint32(cells[j])] += 1  # an index that is not below 0 need not be looked at
        if counts[others] == known:
            continue
        for j in range(length):
            outside[left] = part[j]
            left += cells[j] == others
    return left
