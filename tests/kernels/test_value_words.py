"""Words of numbers. Oracle: Steele, Lea and Flood's mixing in Python's whole numbers, which have no end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import value_words

# without compilation, NumPy warns where words wrap
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")

WORD = (1 << 64) - 1


def mixed(word):
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def words_of(bits):
    words = np.empty(bits.size, dtype=np.uint64)
    value_words.number_words(bits, words)
    return words.tolist()


@given(st.lists(st.integers(0, WORD)).map(lambda bits: np.array(bits, dtype=np.uint64)))
def test_words_are_the_bits_mixed(bits):
    values = bits.view(np.float64)
    absent = mixed(0xFFF8 << 48)
    usual = [mixed(0 if value == 0 else word) for value, word in zip(values, bits.tolist(), strict=True)]

    expected = [absent if value != value else word for value, word in zip(values, usual, strict=True)]
    assert words_of(bits) == expected
    assert value_words.mix.py_func(bits).tolist() == [mixed(word) for word in bits.tolist()]


def test_infinite_and_missing_numbers():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324])
    zero, other, *infinite, missing, negative, small = words_of(values.view(np.uint64))

    assert zero == other
    assert missing == negative == value_words.ABSENT
    assert len({zero, *infinite, missing, small}) == 5


def test_the_first_words_are_the_published_ones():
    # SplitMix64 from the state 0 gives these numbers first (Vigna's prng.di.unimi.it/splitmix64.c)
    states = np.array([0, 0x9E3779B97F4A7C15], dtype=np.uint64)

    assert value_words.mix.py_func(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
