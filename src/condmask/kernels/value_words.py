"""Numbers as words of 64 bits that look random: equal numbers have equal words.

They are mixed as Steele, Lea and Flood (2014) do.
"""

import numpy as np

from condmask._jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
THIRTY, TWENTY_SEVEN, THIRTY_ONE = np.uint64(30), np.uint64(27), np.uint64(31)
ZERO, SIZE, INFINITE = np.uint64(0), np.uint64((1 << 63) - 1), np.uint64(0x7FF << 52)


@kernel
def mix(word):
    """A bijection of words after which all their bits look random."""
    word = word + GOLDEN
    word = (word ^ (word >> THIRTY)) * FIRST
    word = (word ^ (word >> TWENTY_SEVEN)) * SECOND
    return word ^ (word >> THIRTY_ONE)


ABSENT = mix.py_func(np.array([0xFFF8 << 48], dtype=np.uint64))[0]  # that a value is missing


@kernel
def number_words(bits, words):
    """words[i]: that of the number of float64 with these bits; zero has no sign, and all NaN are alike."""
    for i in range(bits.size):
        size = bits[i] & SIZE
        word = mix(ZERO if size == ZERO else bits[i])
        words[i] = ABSENT if size > INFINITE else word
