"""Finds the intervals of one width that hold most values, the guesses of attackers.

See docs/risk.rst.
"""

from condmask._jit import kernel


@kernel
def fullest(ends, values, width, first):
    """Set first[c] to the start of the half-open interval of this width with most values of cell
    c.

    The values of a cell are values[ends[c] : ends[c + 1]], in ascending order.
    """
    for c in range(first.size):
        stop = ends[c + 1]
        last = ends[c]
        most = 0
        for j in range(ends[c], stop):
            while last < stop and values[last] < values[j] + width:
                last += 1
            if last - j > most:
                most = last - j
                first[c] = values[j]
