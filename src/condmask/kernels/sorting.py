"""Rows sorted by a small number that each of them has, by counting, in the order of the file.

Cost: O(1) a row and a number.
"""

from condmask._jit import kernel


@kernel
def count(number, counts):
    """counts[s]: how many rows have the number s; rows with a number below 0 do not count."""
    for row in range(number.size):
        if number[row] >= 0:
            counts[number[row]] += 1


@kernel
def rank(number, first, found, order, ranks):
    """Row r is the ranks[r]-th with its number s, at order[first[s] + ranks[r]]; `found`, 0 on entry, counts."""
    for row in range(number.size):
        own = number[row]
        if own >= 0:
            ranks[row] = found[own]
            order[first[own] + found[own]] = row
            found[own] += 1
