"""The distribution function of data with heaps, level by level: a sum of staircases."""

import numpy as np

from condmask._jit import kernel


@kernel
def add_staircases(smooth, slope, counts, inverse, first, spacing, unit, total):
    """Add to `total`, at every point of a piece, what the values of one level give.

    Row r of `counts` holds the numbers of records at points ``(r + first) * spacing + a * unit``. There its
    staircase rises to ``smooth[r, a] - smooth[r, -1] + slope[r] (a + 1) + inverse * (records up to a)``.
    """
    rows, length = counts.shape
    cells = total.size // unit
    seen, height = np.zeros(rows), np.zeros(rows)
    for a in range(cells):
        level = 0.0
        for r in range(rows):
            level += height[r]
        point = a * unit
        for r in range(rows):
            rise = point + spacing if r + first > 0 else point
            for k in range(point, rise):
                total[k] += level
            point = rise
            seen[r] += counts[r, a]
            new = smooth[r, a] - smooth[r, length - 1] + slope[r] * (a + 1.0) + inverse * seen[r]
            level += new - height[r]
            height[r] = new
        for k in range(point, (a + 1) * unit):
            total[k] += level
