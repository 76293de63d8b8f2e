"""Moments of the original by Theorem 2.1. Oracle: sums in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from condmask.moments.theorem_2_1 import powers, theorem_2_1


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@given(
    z=st.lists(st.floats(-4, 4), min_size=1, max_size=20), p=st.floats(0.01, 0.99), sigma=st.floats(0.1, 3)
)
def test_unmasking_follows_theorem_2_1(noise, z, p, sigma):
    order = 6
    masked = [float(sum(Fraction(v) ** k for v in z) / len(z)) for k in range(order + 1)]
    added = [float(m) for m in reference.noise_moments(noise, order, Fraction(sigma))]

    found = theorem_2_1(np.array(masked), p, np.array(added))

    exact = [float(m) for m in reference.original_moments(z, order, noise, p, sigma)]
    # the recursion may cancel: errors are relative to its largest terms
    size = max(4.0, 3.0 * sigma) ** np.arange(order + 1) * 720.0
    assert found == pytest.approx(exact, abs=1e-13 * size.max())
    assert found[:3] == pytest.approx(exact[:3], abs=1e-13 * size[2])


@given(
    z=st.lists(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 5e-324]), min_size=1, max_size=40).map(np.array),
    shift=st.sampled_from([0.0, 1e6]),
)
def test_powers_are_those_about_the_mean_in_any_order_and_of_counts(z, shift):
    z = z + shift

    found = powers(z, 4, 1.0)

    for other in (powers(z[::-1].copy(), 4, 1.0), powers(*counted(z)[:1], 4, 1.0, counted(z)[1])):
        assert found.center == other.center
        assert found.scale == other.scale
        assert found.means.tolist() == other.means.tolist()
    assert found.center == pytest.approx(z.mean(), rel=1e-12, abs=1e-12 * found.scale)
    deviations = [(Fraction(v) - Fraction(found.center)) / Fraction(found.scale) for v in z.tolist()]
    exact = [float(sum(d**k for d in deviations) / z.size) for k in range(5)]
    assert found.means == pytest.approx(exact, abs=1e-14)


def counted(z):
    return np.unique(z, return_counts=True)
