"""The series for K against 25 digits, and against the paper's own alternating sum.

The tolerance asked for is the tolerance tested, factor 1.
"""

from pathlib import Path

import numba
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import series
from condmask.weights import series as host

ROWS = np.genfromtxt(Path(__file__).parents[1] / "data" / "weight.csv", delimiter=",", names=True)
P = sorted({float(p) for p in ROWS["p"]})
TOLERANCES = (1e-4, 1e-8, 1e-12)


def worst_error(p, tol):
    c = host.coefficients(p, tol)
    chosen = ROWS[ROWS["p"] == p]
    assert chosen.size == 198
    return max(
        abs(series.weight(row["u"], c, host.rates(row["bandwidth_over_sigma"], c.size)) - row["weight"])
        for row in chosen
    )


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("p", P)
def test_series_keeps_its_tolerance_or_says_that_it_cannot(p, tol):
    if host.coefficients(p, tol) is None:
        # the coefficients of few terms stay small, so only small p or tight tolerances are refused
        assert p <= 0.5
        return

    assert worst_error(p, tol) <= tol


@given(p=st.floats(0.5, 1, exclude_min=True, exclude_max=True))
def test_series_serves_every_p_above_one_half(p):
    assert host.coefficients(p, 1e-12) is not None


@pytest.mark.parametrize("p", [0.05, 0.2])
def test_series_is_refused_where_rounding_forbids_it(p):
    assert host.coefficients(p, 1e-12) is None


@pytest.mark.parametrize("p", [0.6, 0.75, 0.9, 0.99])
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("u", [-4.0, -1e-9, 0.0, 0.4, 2.2, 9.0])
def test_series_agrees_with_the_plain_one(u, beta, p):
    c = host.coefficients(p, 1e-11)

    found = series.weight(u, c, host.rates(beta, c.size))

    # 400 plain terms leave (2/3)^400 at p = .6
    assert found == pytest.approx(reference.plain_series(u, p, beta), abs=1e-11)


def test_series_needs_few_terms():
    assert host.coefficients(0.501, 1e-10).size <= 20
    assert host.coefficients(0.6, 1e-10).size <= 15
    assert host.coefficients(0.9, 1e-10).size <= 10


@pytest.mark.parametrize("p", [0.2, 0.5, 0.501, 0.6, 0.9, 0.99])
def test_truncation_bound_falls_with_the_number_of_terms(p):
    bounds = [host.truncation_bound(p, terms) for terms in range(2, 60)]

    assert (np.diff(bounds) < 0.0).all()


@pytest.mark.parametrize("p", [0.4, 0.501, 0.6, 0.9])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6, 1e-8])
def test_truncation_bound_holds(p, tol):
    c = host.coefficients(p, tol)

    bound = host.truncation_bound(p, c.size)

    assert worst_error(p, tol) <= bound + 4e-16 * np.abs(c).sum()
    assert bound <= 0.5 * tol < host.truncation_bound(p, c.size - 1)  # not one term too many


@pytest.mark.parametrize("p", [0.6, 0.9])
@pytest.mark.parametrize("beta", [0.05, 1.0])
def test_density_is_the_slope_of_the_weight(p, beta):
    c = host.coefficients(p, 1e-12)
    rate = host.rates(beta, c.size)
    for u in (-3.0, -0.02, 0.0, 0.4, 2.2):
        # K' is 1/sqrt(t + beta^2) <= 1/beta times as rough as K
        assert series.density(u, c, rate) == pytest.approx(
            float(reference.normal_density(u, p, beta)), abs=1e-12 / beta
        )


def test_sums_run_over_part_of_a_sample():
    c = host.coefficients(0.7, 1e-12)
    rate = host.rates(0.4, c.size)
    z = np.random.default_rng(3).normal(0, 4, 30)

    total = series.sum_weights(z, 1.1, 2.0, c, rate, 5, 21)
    slope = series.sum_densities(z, 1.1, 2.0, c, rate, 5, 21)

    u = (1.1 - z[5:21]) / 2.0
    assert total == pytest.approx(reference.normal_weight(u, 0.7, 0.4).sum(), abs=16e-12)
    assert slope == pytest.approx(reference.normal_density(u, 0.7, 0.4).sum(), abs=16e-12 / 0.4)


def test_a_user_may_call_the_kernel_in_compiled_code():
    c = host.coefficients(0.6, 1e-10)
    rate = host.rates(0.0, c.size)

    @numba.njit
    def doubled(u, c, rate):
        return 2.0 * series.weight(u, c, rate)

    assert doubled(0.8, c, rate) == pytest.approx(2.0 * float(reference.normal_weight(0.8, 0.6)), abs=2e-10)
