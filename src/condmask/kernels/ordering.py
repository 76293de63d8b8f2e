"""Splitting records at a pivot, so that several threads can sort a part of the range each."""

import numpy as np

from condmask._jit import kernel


@kernel
def split(z, pivot, start, stop, low, high, out):
    """Write the values of z[start:stop] below the pivot from out[low] on, the others from out[high] on."""
    for j in range(start, stop):  # without a branch, which would be mispredicted at every second value
        up = np.int64(z[j] >= pivot)
        out[high if up else low] = z[j]
        low += 1 - up
        high += up


@kernel
def count_low(z, pivot, start, stop):
    """How many of z[start:stop] lie below the pivot."""
    count = 0
    for j in range(start, stop):
        count += z[j] < pivot
    return count
