"""The masking kernels.

Oracle: Python integers of any length. ``NUMBA_DISABLE_JIT=1`` passes the same tests.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import masking

WORDS = st.integers(0, 2**64 - 1)
EDGES = (0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1)  # where a half of a word is empty or full


def as_words(values):
    return np.array(values, dtype=np.uint64)


def test_high_product_carries_at_the_edges():
    for a, b in product(EDGES, EDGES):
        assert int(masking.high_product(np.uint64(a), np.uint64(b))) == a * b >> 64


@pytest.mark.parametrize("threshold", [1, 2**63, 2**64 - 2**11])
def test_toss_splits_the_rows_at_the_threshold(threshold):
    coins = [threshold - 1, threshold, 0, 2**64 - 1, threshold + 1, threshold // 2]
    swapped, kept = np.empty((2, len(coins) + 1), dtype=np.int64)

    s, k = masking.toss(as_words(coins), np.uint64(threshold), swapped, kept)

    assert swapped[:s].tolist() == [i for i, coin in enumerate(coins) if coin < threshold]
    assert kept[:k].tolist() == [i for i, coin in enumerate(coins) if coin >= threshold]


def all_donors(words, rows, start, n):
    donors = np.empty(len(rows), dtype=np.int64)
    masking.choose_donors(as_words(words), np.array(rows), start, n, donors)
    return donors.tolist()


@given(
    words=st.lists(WORDS, min_size=4, max_size=4),
    n=st.one_of(st.integers(2, 50), st.integers(2**16 - 2, 2**16 + 2), st.integers(2**31 - 2, 2**40)),
    data=st.data(),
)
def test_donors_are_exact_at_any_size_of_the_file(words, n, data):
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=4, max_size=4))
    start = min(rows)

    expected = [word * (n - 1) >> 64 for word in words]
    expected = [donor + (donor >= row) for donor, row in zip(expected, rows, strict=True)]

    assert all_donors(words, [row - start for row in rows], start, n) == expected


def test_pool_donors_are_the_others_of_the_pool():
    members = {0: [0, 3, 4], 1: [1, 6, 7, 9], -1: [2, 5, 8]}
    pool = np.empty(10, dtype=np.int64)
    for number, rows in members.items():
        pool[rows] = number
    order = np.array(members[0] + members[1])
    first, size = np.array([0, 3]), np.array([3, 4])
    words = np.random.default_rng(12).integers(0, 2**64, size=10, dtype=np.uint64)
    start = 2
    swapped = np.arange(8)  # rows 2 .. 9
    donors = np.empty(8, dtype=np.int64)

    masking.choose_pool_donors(words[:8], swapped, start, pool, first, size, order, donors)

    for k, row in enumerate(range(2, 10)):
        others = [other for other in members[int(pool[row])] if other != row]
        expected = others[int(words[k]) * len(others) >> 64] if pool[row] >= 0 else -1
        assert donors[k] == expected


def test_place_puts_each_value_in_its_row():
    x = np.array([10.0, 11.0, 12.0, 13.0, 14.0, 15.0])
    z = np.full(4, 99.0)

    # the block holds rows 2 .. 5; rows 2 and 4 are swapped, row 4 has no donor
    masking.place(x, np.array([0, 2]), np.array([0, -1]), np.array([1, 3]), np.array([0.25, -0.5]), 2, z)

    assert np.array_equal(z, [10.0, 13.25, np.nan, 14.5], equal_nan=True)
    assert x.tolist() == [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]


# rank swapping, against a plain loop over the records that are free


def plainly(x, order, window, chance):
    z, free = x.copy(), set(range(x.size))
    for i in range(x.size):
        if i not in free:
            continue
        partners = [j for j in range(i + 1, min(i + window, x.size - 1) + 1) if j in free]
        if partners:
            j = partners[int(chance[i] * len(partners))]
            z[order[i]], z[order[j]] = x[order[j]], x[order[i]]
            free -= {i, j}
    return z


@pytest.mark.parametrize("n", [2, 3, 7, 64, 65, 200])
@pytest.mark.parametrize("window", [1, 2, 10, 500])
def test_partners_are_those_of_a_plain_loop(n, window):
    stream = np.random.default_rng([n, window])
    for x in (stream.normal(size=n), np.rint(stream.normal(size=n))):
        order, chance, z = np.argsort(x, kind="stable"), stream.random(n), np.empty(n)
        masking.swap_ranks(x, order, window, chance, z)
        assert z.tolist() == plainly(x, order, window, chance).tolist()
