"""Masks a block of rows by eq. (1) of Ghatak & Roy.

    Z_i = X_J          with probability p      (J uniform on the other records)
    Z_i = X_i + Y_i    with probability 1 - p

Random words are arguments: nothing is drawn here. Swap status and donors are exact to 2^-64: the
status is ``word < p 2^64``, a donor ``floor(word (m - 1) / 2^64)`` counted past the record
itself.

Cost: O(1) a row.
"""

import numpy as np

from condmask._jit import kernel

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel(inline="always")
def high_product(a, b):
    """Return the upper 64 bits of the 128-bit product of two words."""
    a1 = a >> HALF
    a0 = a & LOW
    b1 = b >> HALF
    b0 = b & LOW
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    return a1 * b1 + (middle >> HALF) + (((middle & LOW) + a0 * b1) >> HALF)


@kernel
def toss(words, threshold, swapped, kept):
    """Split the rows of a block: swapped where words[i] < threshold, else kept; return the numbers
    of both."""
    # both lists are written at every row and advanced by the status: a branch on a fair coin is
    # mispredicted half the time and makes masking a third slower (benchmarks/mask.py)
    s = k = 0
    for i in range(words.size):
        heads = words[i] < threshold
        swapped[s] = i
        kept[k] = i
        s += heads
        k += not heads
    return s, k


@kernel
def choose_donors(words, swapped, start, n, donors):
    """Set donors[k] to the row whose value the k-th swapped row of the block gets, out of n."""
    others = np.uint64(n - 1)
    for k in range(swapped.size):
        donor = np.int64(high_product(words[k], others))
        donors[k] = donor + (donor >= start + swapped[k])


@kernel
def choose_pool_donors(words, swapped, start, pool, first, size, order, donors):
    """Choose donors within pools: see `choose_donors`.

    The rows of pool s are order[first[s] : first[s] + size[s]], in ascending order. Rows in no
    pool (pool -1: the value is missing) get the donor -1.
    """
    for k in range(swapped.size):
        row = start + swapped[k]
        pool_of_row = pool[row]
        if pool_of_row < 0:
            donors[k] = -1
        else:
            donor = np.int64(high_product(words[k], np.uint64(size[pool_of_row] - 1)))
            place = first[pool_of_row] + donor
            donors[k] = order[place + (order[place] >= row)]


@kernel
def place(x, swapped, donors, kept, noise, start, z):
    """Set z[i] to x[donor] in the swapped rows of a block, and to x[i] + noise in the kept
    ones."""
    for k in range(swapped.size):
        z[swapped[k]] = x[donors[k]] if donors[k] >= 0 else np.nan
    for k in range(kept.size):
        z[kept[k]] = x[start + kept[k]] + noise[k]


@kernel
def swap_ranks(x, order, window, chance, z):
    """Exchange the values of records at most `window` ranks apart; chance[i] in [0, 1) draws i's
    partner.

    A Fenwick tree counts the records still available, so each exchange costs O(log n) for any
    window.
    """
    n = x.size
    top = 1
    while 2 * top <= n:
        top *= 2
    free = np.ones(n, dtype=np.bool_)
    tree = np.zeros(n + 1, dtype=np.int64)
    for j in range(n):
        _add(tree, j, 1)
    z[:] = x
    for i in range(n):
        if not free[i]:
            continue
        _add(tree, i, -1)
        count = 0
        j = min(i + window, n - 1) + 1
        while j > 0:
            count += tree[j]
            j -= j & -j
        if count == 0:
            continue
        wanted = np.int64(chance[i] * count)
        step = top  # `wanted` available records precede the partner
        while step > 0:
            if j + step <= n and tree[j + step] <= wanted:
                j += step
                wanted -= tree[j]
            step //= 2
        z[order[i]] = x[order[j]]
        z[order[j]] = x[order[i]]
        free[j] = False
        _add(tree, j, -1)


@kernel(inline="always")
def _add(tree, place, amount):
    place += 1
    while place < tree.size:
        tree[place] += amount
        place += place & -place
