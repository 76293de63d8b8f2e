"""Reverse mapping of rows against a plain loop over them."""

import numpy as np
import pytest

from condmask.kernels.reverse_mapping_rows import rearrange

RNG = np.random.default_rng(4)


def plainly(x, swapped, words, noise, ties, multiplied):
    """One row: swapped rows by words; kept ones by keys, ties by words, with their values in order."""
    z = x.copy()
    away, kept = np.flatnonzero(swapped), np.flatnonzero(~swapped)
    z[away] = x[away][np.argsort(words)]
    keys = x[kept] * np.exp(noise) if multiplied else x[kept] + noise
    z[kept[np.lexsort((ties, keys))]] = np.sort(x[kept])
    return z


CASES = {
    "spread": RNG.lognormal(3.0, 1.0, (5, 400)),
    "ties and zeros": np.rint(RNG.normal(0.0, 2.0, (5, 400))),
    "far from zero": 1e12 + np.rint(RNG.normal(0.0, 50.0, (5, 400))),
    "one value": np.full((3, 60), 7.0),
    "one far off": np.column_stack([RNG.normal(size=(4, 300)), np.full(4, 1e300)]),
    "a few": RNG.normal(size=(60, 3)),
}


@pytest.mark.parametrize("multiplied", [False, True])
@pytest.mark.parametrize("sigma", [0.0, 0.3])  # without noise all equal values have equal keys
@pytest.mark.parametrize("name", CASES)
def test_rows_are_rearranged_as_by_a_plain_loop(name, sigma, multiplied):
    x = CASES[name]
    swapped = RNG.random(x.shape) < 0.5
    s, k = np.flatnonzero(swapped), np.flatnonzero(~swapped)
    words, ties = (RNG.integers(0, 2**64, size, dtype=np.uint64) for size in (s.size, k.size))
    noise = sigma * RNG.standard_normal(k.size)
    found = np.full(x.shape, np.nan)
    rearrange(x, s, k, words, noise, ties, multiplied, found)

    first_s, first_k = (np.cumsum([0, *rows.sum(axis=1)]) for rows in (swapped, ~swapped))
    for row in range(len(x)):
        own_s, own_k = (slice(*first[row : row + 2]) for first in (first_s, first_k))
        expected = plainly(x[row], swapped[row], words[own_s], noise[own_k], ties[own_k], multiplied)
        assert found[row].tolist() == expected.tolist()
    assert np.sort(found, axis=1).tolist() == np.sort(x, axis=1).tolist()


def test_equal_keys_are_ordered_by_words_not_by_rows():
    # the keys of 1 and 2 tie once noise makes both 3; which of them gets 1 is a matter of the words
    x, kept = np.array([[2.0, 1.0]]), np.array([0, 1])
    none, noise = np.empty(0, dtype=np.int64), np.array([1.0, 2.0])
    for ties, expected in (([5, 9], [1.0, 2.0]), ([9, 5], [2.0, 1.0])):
        z = np.empty_like(x)
        rearrange(x, none, kept, none.astype(np.uint64), noise, np.array(ties, dtype=np.uint64), False, z)
        assert z[0].tolist() == expected
