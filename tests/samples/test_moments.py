"""Moments of the original by Theorem 2.1. Oracle: sums in exact fractions."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from condmask.law import Law
from condmask.samples.moments import (
    counted_powers,
    noise_matrix,
    original_moments,
    powers,
    shift,
    theorem_2_1,
)


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


def test_mixed_moments_of_columns_masked_together_come_back():
    noise = [np.array([1.0, 0.0, own, 0.0, 3.0 * own**2]) for own in (0.7, 1.6)]
    original, p = np.random.default_rng(1).normal(size=(5, 5, 3)), 0.3  # of three donor pools
    kept = np.einsum("ik,jl,kls->ijs", noise_matrix(noise[0]), noise_matrix(noise[1]), original)

    found = theorem_2_1(p * original + (1 - p) * kept, p, *noise)

    assert found == pytest.approx(original, abs=1e-12 * np.abs(kept).max())


def test_moments_of_noisy_values_are_those_of_all_sums():
    x, y = [-1.0, 0.5, 2.0], [-2.0, 0.0, 2.0]
    of_x, of_y = (np.mean(np.power.outer(values, range(5)), axis=0) for values in (x, y))

    found = noise_matrix(of_y) @ of_x

    exact = [np.mean([(a + b) ** k for a, b in product(x, y)]) for k in range(5)]
    assert found == pytest.approx(exact, rel=1e-14)


def test_powers_are_of_deviations_from_the_mean():
    """About the middle of the range a variance of 91 would be a difference of squares of 1,500."""
    z = np.append(np.tile([-1.0, 1.0], 50_000), 3_000.0)

    for found in (powers(z, 2, 1.0), counted_powers(*np.unique(z, return_counts=True), 2, 1.0)):
        assert found.center == pytest.approx(z.mean(), rel=1e-12)
        assert found.means[1] == pytest.approx(0.0, abs=1e-15)
        assert found.means[2] * found.scale**2 == pytest.approx(z.var(), rel=1e-12)


def test_moments_of_a_column_far_narrower_than_the_noise_are_numbers():
    z, law = np.array([0.0, 1e-150]), Law(0.6, "normal", 1.0)

    found = original_moments(powers(z, 6, law.sigma), law)

    assert np.isfinite(found.means).all()
    assert found.means[2] * found.scale**2 == pytest.approx(-0.4)  # less than nothing is left of a constant
