"""Reverse mapping of many small files at once, for studies: each row of a block is a file of its own.

Cost: O(1) a record, by the counting sorts of `counting_sort` and `cycle`; where values or keys lie in a tiny
part of their range, O(log n).
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.cycle import radix_argsort
from condmask.kernels.range_partition import break_ties, make_keys, order_floats, place, sort_floats, take


@kernel
def rearrange(x, swapped, kept, words, noise, ties, multiplied, z):
    """Each row of z: the row of x, its swapped values in the order of their words, its kept ones mapped back.

    swapped, kept: ascending places in the block, row after row; words and ties: of these, in their order.
    """
    n = x.shape[1]
    values, to = x.reshape(x.size), z.reshape(z.size)
    alone = np.empty(0, dtype=np.uint64)
    s = k = 0
    for row in range(x.shape[0]):
        first, s = s, s + np.searchsorted(swapped[s:], (row + 1) * n)
        order = np.empty(s - first, dtype=np.uint64)
        if not radix_argsort(words[first:s], order, np.empty_like(order)):
            order[:] = np.argsort(words[first:s], kind="mergesort")
        part = np.empty(s - first)
        take(values, swapped[first:s], part)
        place(swapped[first:s], alone, order, part, to)

        first, k = k, k + np.searchsorted(kept[k:], (row + 1) * n)
        part, keys = np.empty(k - first), np.empty(k - first)
        take(values, kept[first:k], part)
        make_keys(values, kept[first:k], noise[first:k], multiplied, keys)
        if part.size and not sort_floats(part):
            part.sort()
        place(kept[first:k], _in_order(keys, ties[first:k]), alone, part, to)


@kernel
def _in_order(keys, ties):
    """The places of keys from the smallest to the largest, equal ones in the order of `ties`."""
    order = np.empty(keys.size, dtype=np.uint64)
    spare = np.empty_like(order)
    alike = order_floats(keys, order, spare) if keys.size else 1  # keys are words in the same order now
    words = keys.view(np.uint64)
    if not alike:
        order[:] = np.argsort(words, kind="mergesort")
    if alike != 1:
        break_ties(words, order, ties, np.empty_like(order), np.empty_like(order), spare)
    return order
