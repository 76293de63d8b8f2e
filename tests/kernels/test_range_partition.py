"""Numbers in order against NumPy's stable sorts, and the keys of reverse mapping against their formula."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import range_partition

RNG = np.random.default_rng(1)
COLUMNS = {
    "both signs": RNG.normal(0.0, 1.0, 5_000),
    "amounts": RNG.lognormal(8.0, 0.5, 5_000),
    "heaped": RNG.lognormal(8.0, 0.5, 5_000).round(-2),
    "far from 0": 1e6 + RNG.normal(0.0, 1.0, 5_000),
    "half of them 0": np.where(RNG.random(5_000) < 0.5, 0.0, RNG.normal(0.0, 1.0, 5_000)),
    "infinite ones": np.append(RNG.normal(0.0, 1.0, 500), [np.inf, -np.inf, np.inf]),
    "all the same": np.full(300, -2.5),
    "one": np.array([3.0]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_are_ordered_and_sorted(name):
    values = COLUMNS[name]
    order, copy = np.empty(values.size, dtype=np.uint64), values.copy()

    assert range_partition.order_floats(values.copy(), order, np.empty_like(order))
    assert range_partition.sort_floats(copy)

    assert np.array_equal(order, np.argsort(values, kind="stable"))
    assert np.array_equal(copy, np.sort(values))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_any_numbers_are_ordered_or_given_up(numbers):
    values = np.array(numbers) + 0.0  # zero has no sign here, and no key has one
    order, copy = np.empty(values.size, dtype=np.uint64), values.copy()

    words = values.copy()
    ordered, done = (
        range_partition.order_floats(words, order, np.empty_like(order)),
        range_partition.sort_floats(copy),
    )

    right = np.argsort(values, kind="stable")
    assert not ordered or np.array_equal(order, right)
    assert np.array_equal(np.argsort(words.view(np.uint64), kind="stable"), right)
    assert np.array_equal(copy if done else np.sort(copy), np.sort(values))
    assert ordered != 1 or np.unique(values).size == values.size


def test_numbers_in_a_tiny_part_of_their_range_are_given_up_and_stay_the_same_ones():
    values = np.append(1e6 + RNG.normal(0.0, 1e-3, 5_000), 1e300)
    order, copy = np.empty(values.size, dtype=np.uint64), values.copy()

    assert not range_partition.order_floats(values.copy(), order, np.empty_like(order))
    assert not range_partition.sort_floats(copy)
    assert np.array_equal(np.sort(copy), np.sort(values))


@pytest.mark.parametrize("size", [0, 1, 7, 3_000])
def test_equal_numbers_stand_in_the_order_of_their_words(size):
    values = RNG.integers(0, 1 + size // 5, size).astype(np.uint64)
    words = RNG.integers(0, 1 << 63, size, dtype=np.uint64) // np.uint64(1 << 60)  # of which some are equal
    order = np.argsort(values, kind="stable").astype(np.int32)

    room = [np.empty(size, dtype=np.uint64) for _ in range(3)]
    range_partition.break_ties(values, order, words, *room)

    assert np.array_equal(order, np.lexsort((words, values)))


@pytest.mark.parametrize("multiplied", [False, True])
def test_keys_are_values_with_noise(multiplied):
    x, rows = np.array([5.0, -3.0, 0.0, 8.0]), np.array([0, 1, 2], dtype=np.int32)
    noise, keys = np.array([0.5, -2.0, 800.0]), np.empty(3)

    range_partition.make_keys(x, rows, noise, multiplied, keys)

    # an infinite factor leaves 0 what it is
    expected = [5.0 * math.exp(0.5), -3.0 * math.exp(-2.0), 0.0] if multiplied else [5.5, -5.0, 800.0]
    assert np.allclose(keys, expected, rtol=4e-16, atol=0.0)
    assert not np.signbit(keys[2])


def test_places_left_out_are_all_of_them():
    rows, values, none = np.array([4, 0, 2]), np.array([1.0, 2.0, 3.0]), np.empty(0, dtype=np.uint64)
    x, y = np.zeros(5), np.zeros(5)

    range_partition.place(rows, none, np.array([2, 0, 1], dtype=np.uint64), values, x)
    range_partition.place(rows, np.array([2, 0, 1], dtype=np.uint64), none, values, y)

    assert x.tolist() == [1.0, 0.0, 2.0, 0.0, 3.0]
    assert y.tolist() == [3.0, 0.0, 1.0, 0.0, 2.0]
