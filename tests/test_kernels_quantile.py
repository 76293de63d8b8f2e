"""Quantiles against a scan of every gap between masked values, by tests/reference.py."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from condmask.kernels import interpolant, quantile, weight
from condmask.kernels.weight import Masking

NOISES = ("normal", "laplace")
TOL = 1e-12


def quantiles(z, q, noise, p, sigma, beta=0.0):
    masking = Masking(noise, p, beta)
    out = np.empty(len(q))
    reach = weight.reach(masking, 0.25 * TOL)
    table = interpolant.table(masking, TOL)
    quantile.bisect_quantiles(np.sort(z), np.asarray(q, dtype=float), beta == 0.0, sigma, reach, *table, out)
    return out


def is_a_crossing(x, intervals):
    """x is a masked value where T jumps through the level, or in a piece of a gap where it rises."""
    return any(x == right if left == right else left - 1e-9 <= x <= right + 1e-9 for left, right in intervals)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7])
@pytest.mark.parametrize(
    "z",
    [
        [0.3, 1.9],
        [3.7041, -1.25013, 12.50021, 0.62517, 8.10019, -4.33321, 2.71828, 5.00013, 7.77771, 1.41421],
        [1.5, 1.5, 1.5, -2.0, -2.0, 4.0],
        [2.5] * 7,
        [-1000.0, 0.1, 1000.0],
    ],
    ids=["two", "generic", "ties", "all equal", "wide gaps"],
)
def test_quantiles_are_crossings(noise, p, z):
    q = [0.04, 0.21, 0.5, 0.77, 0.96]

    found = quantiles(z, q, noise, p, 1.3)

    for x, intervals in zip(found, reference.crossings(z, q, noise, p, 1.3), strict=True):
        assert is_a_crossing(x, intervals)


@settings(max_examples=15)
@given(
    z=st.lists(st.floats(-8, 8).map(lambda v: v + 0.1234567), min_size=2, max_size=6),
    q=st.floats(0.02, 0.98),
    p=st.floats(0.2, 0.9),
    noise=st.sampled_from(NOISES),
)
def test_quantiles_of_any_small_sample_are_crossings(z, q, p, noise):
    (x,) = quantiles(z, [q], noise, p, 0.9)

    assert_weakly_crosses(x, z, q, noise, p, 0.9)


def assert_weakly_crosses(x, z, q, noise, p, sigma):
    """T reaches q at x and is below it, or at it within the tolerance, just before."""
    before = x - 1e-9 * sigma
    at, just_before = reference.cdf(z, [x, before], noise, p, sigma)
    # T moves by less than 2e-9 / p in this distance where it does not jump
    assert at >= q - 1e-8
    assert just_before <= q + 1e-8


def test_one_of_several_crossings_is_found():
    # at p = .3 the smooth part of T rises above .04 at -2.06, where no masked value lies, falls, and T
    # jumps through .04 again at 0: either is documented as an answer
    z = [0.0] * 5
    (intervals,) = reference.crossings(z, [0.04], "normal", 0.3, 1.0, steps=400)

    (x,) = quantiles(z, [0.04], "normal", 0.3, 1.0)

    assert [np.mean(interval) for interval in intervals] == pytest.approx([-2.06, 0.0], abs=0.1)
    assert is_a_crossing(x, intervals)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("beta", [0.05, 0.7])
@pytest.mark.parametrize("p", [0.3, 0.7])
def test_smoothed_quantiles_meet_their_probability(noise, beta, p):
    z = np.random.default_rng(5).normal(0, 3, 40)
    q = np.array([0.03, 0.3, 0.5, 0.9])

    x = quantiles(z, q, noise, p, 1.4, beta)

    # T_b has slope at most 1/(p beta sigma) and x is good to 1e-13 sigma
    assert reference.cdf(z, x, noise, p, 1.4, beta * 1.4) == pytest.approx(q, abs=1e-11)


@pytest.mark.parametrize("p", [0.55, 0.95])
def test_a_large_sample_crosses_at_a_masked_value_or_in_a_gap(p):
    z = np.random.default_rng(6).normal(0, 2, 300)
    q = np.array([0.1, 0.25, 0.5, 0.9])

    for level, x in zip(q, quantiles(z, q, "normal", p, 1.0), strict=True):
        assert_weakly_crosses(x, z, level, "normal", p, 1.0)


def test_count_below_counts_what_lies_strictly_below():
    z = np.array([1.0, 2.0, 2.0, 3.0])

    assert [quantile.count_below(z, x) for x in (0.0, 1.0, 2.0, 2.5, 3.0, 9.0)] == [0, 0, 1, 3, 3, 4]


def test_total_weight_is_the_sum_over_all_values():
    z = np.sort(np.random.default_rng(7).normal(0, 60, 200))
    masking = Masking("normal", 0.6)
    table = interpolant.table(masking, TOL)
    for x in (-70.0, 0.0, 31.0, 500.0):
        found = quantile.total_weight(z, x, 1.0, weight.reach(masking, TOL), *table)

        assert found == pytest.approx(
            200 * reference.cdf(z, [x], "normal", 0.6, 1.0)[0], abs=200 * 2 * TOL + 1e-12
        )
