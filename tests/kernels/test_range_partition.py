"""Numbers in order against NumPy's sorts."""

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
def test_numbers_are_sorted(name):
    values = COLUMNS[name]
    copy = values.copy()

    assert range_partition.sort_floats(copy)

    assert np.array_equal(copy, np.sort(values))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_any_numbers_are_sorted_or_given_up(numbers):
    values = np.array(numbers) + 0.0  # zero has no sign here
    copy = values.copy()

    done = range_partition.sort_floats(copy)

    assert np.array_equal(copy if done else np.sort(copy), np.sort(values))


def test_numbers_in_a_tiny_part_of_their_range_are_given_up_and_stay_the_same_ones():
    values = np.append(1e6 + RNG.normal(0.0, 1e-3, 5_000), 1e300)
    copy = values.copy()

    assert not range_partition.sort_floats(copy)
    assert np.array_equal(np.sort(copy), np.sort(values))
