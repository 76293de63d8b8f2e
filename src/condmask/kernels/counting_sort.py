"""Rows sorted by a small number that each of them has, by counting, in the order of the file.

Cost: O(1) a row and a number.

What the donors of eq. (1) are drawn with.
"""

from condmask._jit import kernel


@kernel
def sort(number, ends, order):
    """order: the rows with number 0, then those with 1, ..., none below 0; ends[s], where s
    begins, becomes its end."""
    for row in range(number.size):
        own = number[row]
        if own >= 0:
            order[ends[own]] = row
            ends[own] += 1
