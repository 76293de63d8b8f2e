"""The normal law within a distance, and below a point. Oracle: mpmath."""

import mpmath
import numpy as np
import pytest

from condmask.kernels.normal import share_below, within


@pytest.mark.parametrize("u", [0.0, 1e-300, 1e-9, 0.3, 1.0, 1.9599, 5.0, 8.2, 40.0, np.inf])
def test_shares_are_those_of_the_error_function(u):
    shares = np.empty(1)
    within(np.array([u]), shares)

    exact = 1.0 if u == np.inf else float(mpmath.erf(mpmath.mpf(u) / mpmath.sqrt(2)))
    assert shares[0] == pytest.approx(exact, rel=4e-16)


@pytest.mark.parametrize("x", [-37.0, -5.0, -1.0, 0.0, 0.3, 6.0, np.inf])
def test_shares_below_are_those_of_the_law(x):
    assert share_below(x) == pytest.approx(1.0 if x == np.inf else float(mpmath.ncdf(x)), rel=1e-13)
