"""Gathering the records of a range of values, so that several threads can each sort a range."""

from condmask._jit import kernel


@kernel
def count_below(z, x):
    """How many of z lie below x."""
    count = 0
    for j in range(z.size):
        count += z[j] < x
    return count


@kernel
def gather(z, low, high, out):
    """Fill out with the values of z in low <= z < high, of which there are out.size."""
    j = k = 0
    while k < out.size:  # without a branch, which would be mispredicted at every second value
        out[k] = z[j]
        k += (low <= z[j]) & (z[j] < high)
        j += 1
