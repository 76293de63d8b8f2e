"""The order of random words against a stable argsort, and the cycle against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import cycle

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
