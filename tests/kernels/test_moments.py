"""Moments against Theorem 2.1 in fractions, by tests/reference.py."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st

from condmask.kernels import moments
from condmask.samples.moments import shift, theorem_2_1

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


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@given(
    z=st.lists(st.floats(-4, 4), min_size=1, max_size=20), p=st.floats(0.01, 0.99), sigma=st.floats(0.1, 3)
)
def test_unmasking_follows_theorem_2_1(noise, z, p, sigma):
    order = 6
    masked = [float(sum(Fraction(v) ** k for v in z) / len(z)) for k in range(order + 1)]
    added = [float(m) for m in reference.noise_moments(noise, order, Fraction(sigma))]

    found = theorem_2_1(np.array(masked), p, np.array(added))

    exact = reference.original_moments(z, order, noise, p, sigma)
    # the recursion may cancel: errors are relative to its largest terms
    size = max(4.0, 3.0 * sigma) ** np.arange(order + 1) * 720.0
    assert (
        np.abs(found - np.array([float(m) for m in exact])).max(initial=0.0, where=True) <= 1e-13 * size.max()
    )
    assert found[:3] == pytest.approx([float(m) for m in exact[:3]], abs=1e-13 * size[2])


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_unmasking_inverts_the_masking_of_moments(noise):
    original = [Fraction(1), Fraction(2), Fraction(7), Fraction(31), Fraction(180)]
    added = reference.noise_moments(noise, 4, Fraction(3, 2))
    p = Fraction(1, 4)
    masked = [
        p * original[k] + (1 - p) * sum(comb(k, j) * original[k - j] * added[j] for j in range(k + 1))
        for k in range(5)
    ]

    found = theorem_2_1(np.array([float(m) for m in masked]), 0.25, np.array([float(m) for m in added]))

    assert found.tolist() == pytest.approx([float(m) for m in original], rel=1e-14)


@given(z=st.lists(st.integers(-9, 9), min_size=1, max_size=20), distance=st.integers(-9, 9))
def test_shift_moves_the_centre(z, distance):
    about = np.array([float(sum(Fraction(v) ** k for v in z) / len(z)) for k in range(6)])

    found = shift(about, distance)

    for k in range(6):
        exact = float(sum(Fraction(v + distance) ** k for v in z) / len(z))
        assert found[k] == pytest.approx(exact, abs=1e-14 * 18.0**k)


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
        parts = [
            round(Fraction(value) * 2**bits) for value in power.tolist()
        ]  # halves to even, as NumPy does
        rests = [
            round((Fraction(value) - Fraction(part, 2**bits)) * 4**bits)
            for value, part in zip(power.tolist(), parts, strict=True)
        ]
        assert (high, low) == (sum(parts), sum(rests))
