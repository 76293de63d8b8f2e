"""Sums of powers. Oracle: sums in exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import moments

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
