"""Rows sorted by counting, against a stable argsort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import counting_sort


@given(st.lists(st.integers(-1, 5), max_size=40))
def test_rows_are_counted_and_sorted_by_their_number(numbers):
    number, counts = np.array(numbers, dtype=np.int32), np.zeros(6, dtype=np.int64)

    counting_sort.count(number, counts)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ends, order = first.copy(), np.empty(counts.sum(), dtype=np.int32)
    counting_sort.sort(number, ends, order)

    assert counts.tolist() == [numbers.count(own) for own in range(6)]
    stable = np.argsort(number, kind="stable")
    assert np.array_equal(order, stable[number[stable] >= 0])
    assert np.array_equal(ends, first + counts)
