"""Sums of powers. Oracle: sums in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condmask.kernels import moments

VALUES = st.lists(st.floats(-50, 50), min_size=1, max_size=40).map(np.array)


@example(z=np.array([6.232438373405477e-80, 1.0608649655205961e-78]), center=0.0, scale=0.5)
@given(z=VALUES, center=st.floats(-50, 50), scale=st.floats(0.5, 100))
def test_powers_are_summed_about_the_centre(z, center, scale):
    sums = np.zeros(7)

    moments.add_powers(z, center, scale, 0, z.size, sums)

    exact = [((Fraction(v) - Fraction(center)) / Fraction(scale)) ** k for k in range(7) for v in z.tolist()]
    for k in range(7):
        terms = exact[k * z.size : (k + 1) * z.size]
        # k + 1 roundings a power, one for each addition; below 2e-308 a power is rounded to 5e-324, which
        # further factors of at most 200 enlarge to 2e-312
        slack = 1e-16 * (2 * k + 2 + z.size) * float(sum(abs(t) for t in terms)) + 1e-308
        assert sums[k] == pytest.approx(float(sum(terms)), rel=0, abs=slack)


@given(split=st.integers(0, 50))
def test_parts_add_up_exactly_in_order(split):
    z = np.linspace(-3.1, 2.9, 50)
    whole, parts = np.zeros(6), np.zeros(6)

    moments.add_powers(z, 0.3, 2.0, 0, 50, whole)
    moments.add_powers(z, 0.3, 2.0, 0, split, parts)
    moments.add_powers(z, 0.3, 2.0, split, 50, parts)

    assert np.array_equal(whole, parts)  # exactly: the same additions in the same order


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
