"""The counting kernel against a loop over the records."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels.counting import CHUNK, count_window

SLACK = 4 * 2.0**-52


def counted(z, first, points, per_step=1.0, start=0, stop=None):
    z = np.asarray(z, dtype=float)
    stop = z.size if stop is None else stop
    counts, outside = np.zeros(points + 1, dtype=np.int64), np.full(stop - start + 1, -99.0)
    with np.errstate(invalid="ignore"):  # without compilation, NumPy warns of infinities
        left = count_window(z, per_step, SLACK, first, start, stop, counts, outside)
    assert counts[-1] == left
    return counts[:-1].tolist(), outside[:left].tolist()


@given(
    z=st.lists(st.one_of(st.integers(-9, 9), st.sampled_from([0.5, 1e300, -np.inf, np.inf])), max_size=60),
    first=st.integers(-12, 12),
    points=st.integers(1, 20),
)
def test_records_in_the_window_are_counted_and_others_handed_back_in_order(z, first, points):
    found, outside = counted(z, float(first), points)

    inside = [v for v in z if first <= v < first + points and v == np.rint(v)]
    assert found == [inside.count(first + k) for k in range(points)]
    assert outside == [v for v in z if not (first <= v < first + points and v == np.rint(v))]


@pytest.mark.parametrize("size", [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_every_chunk_is_counted(size):
    z = np.arange(size) % 7.0

    found, outside = counted(z, 1.0, 5)

    assert found == [np.count_nonzero(z == k) for k in range(1, 6)]
    assert outside == z[(z == 0) | (z == 6)].tolist()


def test_missing_values_are_outside():
    found, outside = counted([np.nan, 2.0, np.nan], 0.0, 4)

    assert found == [0, 0, 1, 0]
    assert len(outside) == 2
    assert np.isnan(outside).all()


def test_only_the_rows_asked_for_are_counted():
    assert counted(np.arange(10.0), 0.0, 10, start=3, stop=6) == ([0, 0, 0, 1, 1, 1, 0, 0, 0, 0], [])


def test_steps_may_be_fractions_and_values_miss_their_point_by_rounding():
    near = np.array([0.1 * 3, 0.3, np.nextafter(0.3, 1), 0.3 + 1e-12])

    assert counted(near, 0.0, 5, per_step=10.0) == ([0, 0, 0, 3, 0], [0.3 + 1e-12])


def test_counts_are_added_to_what_is_there():
    counts, outside = np.array([5, 0, 0]), np.empty(3)

    count_window(np.array([0.0, 1.0]), 1.0, SLACK, 0.0, 0, 2, counts, outside)

    assert counts.tolist() == [6, 1, 0]


def test_a_user_may_call_the_kernel_in_compiled_code():
    @numba.njit
    def mode(z):
        counts, outside = np.zeros(10, dtype=np.int64), np.empty(z.size + 1)
        count_window(z, 1.0, 0.0, 0.0, 0, z.size, counts, outside)
        return np.argmax(counts)

    assert mode(np.array([3.0, 4.0, 4.0])) == 4
