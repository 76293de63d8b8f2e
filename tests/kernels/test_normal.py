"""The normal law within a distance, and its quantiles. Oracle: mpmath."""

import mpmath
import numpy as np
import pytest

from condmask.kernels.normal import below, quantiles, within


@pytest.mark.parametrize("u", [0.0, 1e-300, 1e-9, 0.3, 1.0, 1.9599, 5.0, 8.2, 40.0, np.inf])
def test_shares_are_those_of_the_error_function(u):
    shares = np.empty(1)
    within(np.array([u]), shares)

    exact = 1.0 if u == np.inf else float(mpmath.erf(mpmath.mpf(u) / mpmath.sqrt(2)))
    assert shares[0] == pytest.approx(exact, rel=4e-16)


@pytest.mark.parametrize("x", [-37.0, -5.0, -1.0, 0.0, 0.3, 6.0, np.inf])
def test_shares_below_are_those_of_the_law(x):
    shares = np.empty(1)
    below(np.array([x]), shares)

    assert shares[0] == pytest.approx(1.0 if x == np.inf else float(mpmath.ncdf(x)), rel=1e-13)


@pytest.mark.parametrize("p", [1e-300, 1e-9, 0.001, 0.0249, 0.3, 0.4999999, 0.5, 0.51, 0.975, 1.0 - 1e-12])
def test_quantiles_are_those_of_the_law(p):
    x = np.empty(1)
    quantiles(np.array([p]), x)

    with mpmath.workdps(40):
        exact = -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(p)) if p > 1e-30 else None
        if exact is None:  # where 1 - 2p is 1: the law of the quantile found
            assert float(mpmath.ncdf(x[0]) / mpmath.mpf(p)) == pytest.approx(1.0, rel=1e-12)
        else:
            assert x[0] == pytest.approx(float(exact), rel=2e-15, abs=2e-16)


def test_quantiles_of_either_side_mirror_each_other():
    p, x = np.array([0.125, 0.875, 0.25, 0.75]), np.empty(4)
    quantiles(p, x)

    assert (x[0], x[2]) == (-x[1], -x[3])
