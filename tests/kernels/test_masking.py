"""The masking kernels against Python integers of any length, the cycle of donors against its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import cycle, masking

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


ALL = np.iinfo(np.uint64).max


def ordered(words):
    order = np.zeros_like(words)
    return cycle.radix_argsort(words, order, np.empty_like(order)), order


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100, 2_049, 30_000, 1_100_000])  # one, two and three digits
def test_random_words_are_ordered(n):
    words = np.random.default_rng(n).integers(0, ALL, n, dtype=np.uint64, endpoint=True)

    done, order = ordered(words)

    assert done
    assert np.array_equal(order, np.argsort(words, kind="stable"))


@given(
    seed=st.integers(0, 2**32), n=st.integers(0, 120), digit=st.integers(1, 4), alike=st.sampled_from([1, 4]),
    values=st.sampled_from([2, 50, ALL]),
)  # fmt: skip
def test_passes_of_any_number_and_width_order_words(seed, n, digit, alike, values):
    words = np.random.default_rng(seed).integers(0, values, n, dtype=np.uint64, endpoint=True)
    words <<= np.uint64(0 if values == ALL else 58)  # of which the top bits tell
    order = np.zeros_like(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycle, "DIGIT", digit)
        patch.setattr(cycle, "ALIKE", alike)
        # compiled code keeps the constants it was compiled with
        done = getattr(cycle.radix_argsort, "py_func", cycle.radix_argsort)(
            words, order, np.empty_like(order)
        )

    # of random words insertion moves each past fewer than `alike` others on average, of alike ones past all
    assert done or values != ALL
    assert not done or order.tolist() == sorted(range(n), key=words.tolist().__getitem__)


@pytest.mark.parametrize("n", [1_000, 300_000])
def test_words_that_are_not_random_are_given_up_before_that_takes_long(n):
    # 300,000 words the wrong way round would take 4.5e10 moves
    assert not ordered(np.arange(n, dtype=np.uint64)[::-1].copy())[0]
    assert ordered(np.full(n, 7, dtype=np.uint64))[0]  # all tie, none moves


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_numbers_are_ordered_by_size(n):
    drawn = np.random.default_rng(n).normal(size=n)
    for values in (drawn, np.exp(9.0 * drawn), 1.0 + 1e-9 * drawn, np.rint(drawn) + 0.0, np.full(n, -7.0)):
        order = np.zeros(n, dtype=np.uint64)
        assert cycle.order_floats(values.copy(), order, np.empty_like(order))
        assert np.array_equal(order, np.argsort(values, kind="stable"))


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_row_is_linked_to_the_next_of_its_pool_and_the_last_to_the_first(pools, random):
    rows = np.arange(len(pools)) * 2
    pool = np.repeat(pools if any(pools) else [], 2).astype(int)  # empty for one pool of all
    order = list(range(len(pools)))
    random.shuffle(order)
    ends, donors = np.full((2, 4), -1), np.full(len(pools), -1)

    for part in np.array_split(np.array(order, dtype=np.uint64), 3):
        cycle.link(rows, part, pool, *ends, donors)
    cycle.close(rows, *ends, donors)

    for own in range(4):
        members = [k for k in order if pools[k] == own]
        following = dict(zip(members, members[1:] + members[:1], strict=True)) if len(members) > 1 else {}
        for k in members:
            assert donors[k] == (rows[following[k]] if following else -1)
        assert ends[:, own].tolist() == ([members[0], members[-1]] if members else [-1, -1])
    assert all(donors[k] == -1 for k in order if pools[k] < 0)
