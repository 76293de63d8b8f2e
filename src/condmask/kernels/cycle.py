"""Draws one random cycle through the swapped rows of every pool, in linear time.

Donors of eq. (1) of Ghatak & Roy as a permutation. The cycle is the order of random 64-bit words.
Their low bits are replaced by their places, so that one number goes through the counting sorts by
the top bits. The words are uniform: with some four words for each value of these bits, an
insertion sort moves each past few others. Ties of the remaining bits are broken by the whole
words; equal words stay in the order of the rows, as in any stable sort.

Cost: O(1) a row.
"""

import numpy as np

from condmask._jit import kernel

DIGIT = 9  # bits a pass; with more, the write positions exceed the page table's cache
ALIKE = 4  # words for each value of the sorted bits
MOVES = 8  # moves allowed per word in the insertion sort; random words need about one
SIGN = np.uint64(1 << 63)
# bits by which nearly all numbers that are spread over some octaves differ
PARTING = np.int64(3 * DIGIT)


@kernel
def radix_argsort(words, order, spare):
    """Put the stable argsort of the words into `order`, as words; return whether they are random
    enough for this method.

    `spare` is working memory for as many words.
    """
    bits = DIGIT
    while ALIKE << bits < words.size:
        bits += DIGIT
    return order_by(words, bits, order, spare)


@kernel
def by_digits(source, target, bits):
    """Sort words by their top `bits`; return that of the two arrays that holds the result."""
    digits = np.uint64((1 << DIGIT) - 1)
    for passed in range(64 - bits, 64, DIGIT):
        shift = np.uint64(passed)
        # counted two places ahead: the sums then give, one place ahead, the start of each digit
        ends = np.zeros((1 << DIGIT) + 2, dtype=np.int64)
        for packed in source:
            ends[np.int64(packed >> shift & digits) + 2] += 1
        ends = np.cumsum(ends)
        for packed in source:
            digit = np.int64(packed >> shift & digits) + 1
            target[ends[digit]] = packed
            ends[digit] += 1
        source, target = target, source
    return source


@kernel
def order_by(words, bits, order, spare):
    """Put the argsort of words into `order`, if nearly all differ in their top `bits`.

    Returns whether they do. `bits` is a multiple of DIGIT, `spare` working memory for as many
    words.
    """
    low = 1
    while 1 << low < words.size:
        low += 1
    room = np.uint64(low)
    places = np.uint64((1 << low) - 1)
    for k in range(words.size):
        order[k] = words[k] >> room << room | np.uint64(k)
    source = by_digits(order, spare, bits)
    left = MOVES * words.size
    for k in range(words.size):
        packed = source[k]
        place = k
        while place > 0 and source[place - 1] >> room >= packed >> room:
            before = source[place - 1]
            if (
                before >> room == packed >> room
                and words[before & places] <= words[packed & places]
            ):
                break
            source[place] = before
            place -= 1
        source[place] = packed
        left -= k - place
        if left < 0:
            return False
    for k in range(words.size):
        order[k] = source[k] & places
    return True


@kernel
def link(rows, order, pool, first, last, donors):
    """Set donors[k] to the row after rows[k] in the order of its pool; the last of a pool has none
    yet.

    `pool` holds the pool by row, -1 for none, or is empty if there is one pool; first[s] and
    last[s], initially -1, become the ends of the order within pool s. A long order may come in
    parts.
    """
    for k in order:
        pool_of_row = pool[rows[k]] if pool.size > 0 else 0
        if pool_of_row < 0:
            continue
        if last[pool_of_row] < 0:
            first[pool_of_row] = k
        else:
            donors[last[pool_of_row]] = rows[k]
        last[pool_of_row] = k


@kernel
def close(rows, first, last, donors):
    """Close the chain of each pool into a cycle by linking its last row to its first.

    Pools with a single row are left alone.
    """
    for k in range(first.size):
        if first[k] != last[k]:
            donors[last[k]] = rows[first[k]]


@kernel
def order_floats(values, order, spare):
    """Put the stable argsort of numbers into `order`, as words; return whether they are spread
    widely enough for this method.

    The numbers are overwritten by words in the same order that differ in their top bits. `spare`
    is working memory for as many.
    """
    words = values.view(np.uint64)
    least = ~np.uint64(0)
    most = np.uint64(0)
    for k in range(words.size):
        word = ~words[k] if words[k] & SIGN else words[k] | SIGN
        words[k] = word
        least = min(least, word)
        most = max(most, word)
    up = np.uint64(0)
    while most > least and (most - least) << up < SIGN:
        up += np.uint64(1)
    for k in range(words.size):
        words[k] = (words[k] - least) << up
    return order_by(words, PARTING, order, spare)
