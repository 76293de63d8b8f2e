"""Counts, sums, sorting and windows against loops over the records, exact fractions and stable sorts."""

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import counting_sort, moments, windows
from condmask.kernels.counting import CHUNK, count_window

SLACK = 4 * 2.0**-52


def counted(z, first, points, per_step=1.0, start=0, stop=None, there=0):
    z = np.asarray(z, dtype=float)
    stop = z.size if stop is None else stop
    counts, outside = np.append(np.full(points, there), 0), np.full(stop - start + 1, -99.0)
    with np.errstate(invalid="ignore"):  # without compilation, NumPy warns of infinities
        left = count_window(z, per_step, SLACK, first, start, stop, counts, outside)
    assert counts[-1] == left
    return counts[:-1].tolist(), outside[:left].tolist()


@given(
    z=st.lists(
        st.one_of(st.integers(-9, 9), st.sampled_from([0.5, 1e300, -np.inf, np.inf, np.nan])), max_size=60
    ),
    first=st.integers(-12, 12),
    points=st.integers(1, 20),
    ends=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_rows_asked_for_are_added_to_the_counts_and_others_handed_back_in_order(z, first, points, ends):
    start, stop = sorted(min(end, len(z)) for end in ends)

    found, outside = counted(z, float(first), points, start=start, stop=stop, there=5)

    rows = z[start:stop]
    inside = [v for v in rows if first <= v < first + points and v == np.rint(v)]
    assert found == [5 + inside.count(first + k) for k in range(points)]
    others = [v for v in rows if not (first <= v < first + points and v == np.rint(v))]
    assert np.array_equal(outside, others, equal_nan=True)


@pytest.mark.parametrize("size", [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_every_chunk_is_counted(size):
    z = np.arange(size) % 7.0

    found, outside = counted(z, 1.0, 5)

    assert found == [np.count_nonzero(z == k) for k in range(1, 6)]
    assert outside == z[(z == 0) | (z == 6)].tolist()


def test_steps_may_be_fractions_and_values_miss_their_point_by_rounding():
    near = np.array([0.1 * 3, 0.3, np.nextafter(0.3, 1), 0.3 + 1e-12])

    assert counted(near, 0.0, 5, per_step=10.0) == ([0, 0, 0, 3, 0], [0.3 + 1e-12])


def test_a_user_may_call_the_kernel_in_compiled_code():
    @numba.njit
    def mode(z):
        counts, outside = np.zeros(10, dtype=np.int64), np.empty(z.size + 1)
        count_window(z, 1.0, 0.0, 0.0, 0, z.size, counts, outside)
        return np.argmax(counts)

    assert mode(np.array([3.0, 4.0, 4.0])) == 4


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


@pytest.mark.parametrize("width", [0.01, 0.7, 5.0])
def test_no_interval_holds_more(width):
    cells = np.array([0, 30, 31, 60])
    drawn = np.random.default_rng(1).normal(size=60).round(1)
    values = np.concatenate([np.sort(own) for own in np.split(drawn, cells[1:-1])])
    first = np.empty(3)

    windows.fullest(cells, values, width, first)

    for begin, own in zip(first, np.split(values, cells[1:-1]), strict=True):
        held = [np.count_nonzero((own >= a) & (own < a + width)) for a in (begin, *own)]
        assert held[0] == max(held)


PARTS = st.lists(
    st.floats(-1, 1) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-60, 5e-324]), min_size=1, max_size=1_100
).map(np.array)


@given(u=PARTS, bits=st.sampled_from([20, 40]))
def test_whole_sums_are_exact_and_counts_give_the_same_ones(u, bits):
    records, counted = np.zeros((3, 2), dtype=np.int64), np.zeros((3, 2), dtype=np.int64)
    values, counts = np.unique(u, return_counts=True)

    moments.add_whole_powers(u, np.empty(0, dtype=np.int64), 0.0, 1.0, bits, records)
    moments.add_whole_powers(values, counts, 0.0, 1.0, bits, counted)

    assert np.array_equal(records, counted)
    powers = [u, u * u, u * u * u]
    for power, (high, low) in zip(powers, records.tolist(), strict=True):
        # halves to even, as NumPy does
        parts = [round(Fraction(value) * 2**bits) for value in power.tolist()]
        rests = [
            round((Fraction(value) - Fraction(part, 2**bits)) * 4**bits)
            for value, part in zip(power.tolist(), parts, strict=True)
        ]
        assert (high, low) == (sum(parts), sum(rests))
