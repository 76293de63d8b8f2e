"""Pairs of records that lie near each other."""

from condmask._jit import kernel


@kernel
def pairs_within(z, d):
    """How many ordered pairs of two records of sorted z lie less than d apart."""
    count = first = 0
    for j in range(z.size):
        while first < j and z[j] - z[first] >= d:
            first += 1
        count += j - first
    return 2 * count
