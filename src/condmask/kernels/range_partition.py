"""Numbers in order: those of a range gathered, so that several threads can each sort one, or that no other
need be sorted for some quantiles.

A number's bits, turned round for negative ones, are ordered as numbers are. Less those of the smallest, and
moved up to the top, they are words that differ in their top bits, as the counting sorts of `cycle` want them.

Cost: O(1) a number, but for numbers of which nearly all lie in a tiny part of their range.
"""

import numpy as np

from condmask._jit import kernel
from condmask.kernels.cycle import DIGIT, MOVES, by_digits

SIGN = np.uint64(1 << 63)
PARTING = np.int64(3 * DIGIT)  # bits: of numbers spread over some octaves nearly all differ in these


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


@kernel
def count_parts(z, least, down, counts):
    """counts[k]: how many numbers lie in part k of their range, by the bits above `down` of their words."""
    for bits in z.view(np.uint64):
        word = ~bits if bits & SIGN else bits | SIGN
        counts[np.int64((word - least) >> down)] += 1


@kernel
def take_parts(z, least, down, chosen, known, out):
    """The numbers of the parts with chosen[k] above 0 but those equal to known[chosen[k]], into out.

    Returns how many. `out` has one place to spare.
    """
    bits, size = z.view(np.uint64), 0
    for j in range(z.size):  # without a branch, which would be mispredicted
        word = ~bits[j] if bits[j] & SIGN else bits[j] | SIGN
        own = chosen[np.int64((word - least) >> down)]
        out[size] = z[j]
        size += (own > 0) & (z[j] != known[own])
    return size


@kernel
def sort_floats(values):
    """Sort numbers; returns whether they are spread widely enough for it, else they stay in some order."""
    bits = values.view(np.uint64)
    least, up = float_words(bits)
    words = by_digits(bits, np.empty_like(bits), PARTING)
    left = MOVES * words.size
    for k in range(words.size):
        word, place = words[k], k
        while place > 0 and words[place - 1] > word:
            words[place] = words[place - 1]
            place -= 1
        words[place] = word
        left -= k - place
        if left < 0:
            break
    for k in range(words.size):
        word = (words[k] >> up) + least
        bits[k] = word ^ SIGN if word & SIGN else ~word
    return left >= 0


@kernel
def float_words(bits):
    """The bits of numbers become words in the same order that differ in their top bits; returns what was
    taken from them, and by how many bits they were moved up."""
    least, most = ~np.uint64(0), np.uint64(0)
    for k in range(bits.size):
        word = ~bits[k] if bits[k] & SIGN else bits[k] | SIGN
        bits[k] = word
        least, most = min(least, word), max(most, word)
    up = np.uint64(0)
    while (most - least) << up < SIGN and up < np.uint64(63):
        up += np.uint64(1)
    for k in range(bits.size):
        bits[k] = (bits[k] - least) << up
    return least, up
