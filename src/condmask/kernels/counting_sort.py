"""Sorts rows by a small number that each of them has, by counting, stably.

Cost: O(1) a row and a number. Used to draw the donors of eq. (1) within pools.
"""

from condmask._jit import kernel


@kernel
def sort(number, ends, order):
    """Put into `order` the rows with number 0, then those with 1, ...; skip negative numbers.

    ends[s] is the place at which number s begins, and becomes the place at which it ends.
    """
    for row in range(number.size):
        own = number[row]
        if own >= 0:
            order[ends[own]] = row
            ends[own] += 1
