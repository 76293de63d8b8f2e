"""Moments of the original by Theorem 2.1. Oracle: sums in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.moments.theorem_2_1 import powers


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
    assert found.scale >= 1.0  # sigma: in a narrower unit high powers of the noise are infinite


def counted(z):
    return np.unique(z, return_counts=True)
