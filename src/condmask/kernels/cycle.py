"""One random cycle through the swapped rows of every pool, in time that grows with their number.

The cycle is the order of random 64-bit words. Their low bits make room for their places, so that
one number travels through the counting sorts by the top bits. The words are uniform: with some
four to a value of these bits, an insertion sort moves each past few others, by the whole words
where what is left of them ties. Equal words stay in the order of the rows, as in any stable sort.

Cost: O(1) a row.

Donors of eq. (1) as a permutation.
"""

import numpy as np

from condmask._jit import kernel

DIGIT = 9  # bits a pass: with more, the places written to outgrow the page table's cache
ALIKE = 4
MOVES = 8  # a word; of random words it takes 1
SIGN = np.uint64(1 << 63)
# bits: of numbers spread over some octaves nearly all differ in these
PARTING = np.int64(3 * DIGIT)


@kernel
def radix_argsort(words, order, spare):
    """order: the stable argsort of the words, as words; returns whether they are random enough for
    it.

    `spare` is room for as many words.
    """
    bits = DIGIT
    while ALIKE << bits < words.size:
        bits += DIGIT
    return order_by(words, bits, order, spare)


@kernel
def by_digits(source, target, bits):
    """Words in the order of so many of their top bits, in one of two arrays, which it returns."""
    digits = np.uint64((1 << DIGIT) - 1)
    for passed in range(64 - bits, 64, DIGIT):
        shift = np.uint64(passed)
        # counted two places ahead, so that their sums tell one place ahead where each digit begins
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
    """order: the argsort of words of which so many of the top bits, a multiple of DIGIT, part
    nearly all.

    Returns whether they do. `spare` is room for as many words.
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
    """donors[k]: the row after rows[k] in the order of its pool; the last of a pool has none yet.

    `pool` by row, -1 for none, or empty for one pool of all; first[s] and last[s], -1 at the
    start, become the ends of the order within pool s. A long order may come in parts.
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
    """The order of each pool becomes a cycle: the last row is followed by the first, if it is
    another."""
    for k in range(first.size):
        if first[k] != last[k]:
            donors[last[k]] = rows[first[k]]


@kernel
def order_floats(values, order, spare):
    """order: the stable argsort of numbers, as words; returns whether they are spread widely
    enough for it.

    The numbers become words in the same order that differ in their top bits. `spare` is room for
    as many.
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
