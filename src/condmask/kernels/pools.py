"""Sums of a tabulated kernel over the records of each pool, term by term: for pools of few records.

Cost: O(1) for each record and point.
"""

from condmask._jit import kernel


@kernel
def add_pool_sums(values, cells, counts, starts, x, left, along, table, limits, jumps, total):
    """total[:, s, i] += the kernels at point x[i] over the records starts[s] <= j < starts[s + 1].

    Records have `values` and lie in `cells`, points between cells `left` and left + 1. Rows of `table` are
    kernels at distances of -reach to reach cells, 0 before and their `limits` beyond, interpolated but for
    their `jumps`, which stand at the record.
    """
    reach = table.shape[1] // 2
    for s in range(starts.size - 1):
        for i in range(x.size):
            for j in range(starts[s], starts[s + 1]):
                apart = left[i] - cells[j]
                if apart < -reach - 1.0:
                    continue
                # how far the step of a record is interpolated at the point, and where it is
                between = 1.0 if apart >= 0.0 else along[i] if apart >= -1.0 else 0.0
                jumped = (1.0 if values[j] <= x[i] else 0.0) - between
                for row in range(table.shape[0]):
                    here = following = limits[row]
                    if apart <= reach:
                        here = table[row, int(apart) + reach] if apart >= -reach else 0.0
                    if apart + 1.0 <= reach:
                        following = table[row, int(apart) + 1 + reach]
                    smooth = here + along[i] * (following - here)
                    total[row, s, i] += counts[j] * (smooth + jumps[row] * jumped)
