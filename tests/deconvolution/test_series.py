"""Coefficients of the series: how many, where they are refused, and what rounded noise adds to its rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.deconvolution import series as host
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.engines.choice import summable
from condmask.kernels import series


@given(p=st.floats(0.5, 1, exclude_min=True, exclude_max=True))
def test_series_serves_every_p_above_one_half(p):
    assert host.coefficients(p, 1e-12) is not None


@pytest.mark.parametrize("p", [0.05, 0.2])
def test_series_is_refused_where_rounding_forbids_it(p):
    assert host.coefficients(p, 1e-12) is None


def test_series_needs_few_terms():
    assert host.coefficients(0.501, 1e-10).size <= 20
    assert host.coefficients(0.6, 1e-10).size <= 15
    assert host.coefficients(0.9, 1e-10).size <= 10


@pytest.mark.parametrize("p", [0.2, 0.5, 0.501, 0.6, 0.9, 0.99])
def test_truncation_bound_falls_with_the_number_of_terms(p):
    bounds = [host.truncation_bound(p, terms) for terms in range(2, 60)]

    assert (np.diff(bounds) < 0.0).all()


@pytest.mark.parametrize("delta", [0.001, 0.02, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("beta", [0.0, 0.5])
@pytest.mark.parametrize("p", [0.55, 0.6, 0.9])
def test_rates_of_rounded_noise_err_by_no_more_than_their_bound(p, beta, delta):
    tol = 1e-12
    c = host.coefficients(p, 0.5 * tol)
    masking = Masking("normal", p, beta, delta)
    # half a step off the grid without a bandwidth, anywhere with one
    u = (np.arange(-60, 60, 1) + (0.5 if beta == 0.0 else 0.13)) * 0.1 // delta * delta + 0.5 * delta
    half = weight.half_weight(masking, np.abs(u))

    found = np.array([series.weight(v, c, host.rates(beta, c.size, delta)) for v in u])

    error = np.abs(found - np.where(u > 0.0, 0.5 + half, 0.5 - half)).max()
    assert error <= tol + host.rounding_bound(p, delta)
    if delta >= 0.2:  # and the bound is not for show: without what rounding adds the error is far above it
        plain = np.array([series.weight(v, c, host.rates(beta, c.size)) for v in u])
        assert np.abs(plain - np.where(u > 0.0, 0.5 + half, 0.5 - half)).max() > 3 * host.rounding_bound(
            p, delta
        )


def test_the_bare_step_has_an_infinite_rate_and_rounding_widens_the_others():
    assert host.rates(0.0, 3).tolist() == [np.inf, 1 / np.sqrt(2.0), 0.5]
    # t noises, one less where u is taken half a step off the grid
    assert host.rates(0.0, 3, 0.6) == pytest.approx([np.inf, 1 / np.sqrt(2.0), 1 / np.sqrt(2 * 2.03)])
    assert host.rates(0.5, 2, 0.6) == pytest.approx([1 / np.sqrt(0.5), 1 / np.sqrt(2 * 1.28)])


def test_grids_too_coarse_for_the_tolerance_are_not_summed():
    assert summable(Masking("normal", 0.6, 0.0, 0.001), 1e-10)
    assert not summable(Masking("normal", 0.6, 0.0, 0.3), 1e-10)
    assert summable(Masking("normal", 0.6, 0.0, 0.3), 1e-4)
