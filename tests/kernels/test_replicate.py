"""The fused quantiles of many samples against the engines, which find them one sample at a time."""

import numpy as np
import pytest
from scipy.stats import norm

import condmask as cm
from condmask.deconvolution import stencil
from condmask.grid import grid_of
from condmask.kernels import replicate
from condmask.law import Law

TOL = 1e-7
Q = np.array([0.002, 0.02, 0.1, 0.3, 0.5, 0.8, 0.97, 0.999])


def fused(z, law, q=Q, widths=None):
    """Crossings of T_1, of T_b, and which rows were served, as studies call the kernel."""
    sharp, smoothed = np.full((2, len(z), q.size), np.nan)
    served = np.zeros(len(z), dtype=bool)
    unit = law.step or 1.0
    widths = np.full(len(z), law.sigma) if widths is None else widths
    plan = stencil.plan(law, TOL)
    replicate.conditional_quantiles(law.to_units(z), widths / unit, q, plan, sharp, smoothed, served)
    return law.from_units(sharp), law.from_units(smoothed), served


def rows(scheme, n, count=24, seed=1):
    x = np.random.default_rng(seed).laplace(0.0, 1.3, (count, n))
    return np.sort(scheme.mask_rows(x, np.random.default_rng(seed + 1), ()), axis=1)


# Many crossings of p = .1 and n = 20 lie in gaps between records; 1/3 of sigma is the coarsest grid served.
@pytest.mark.parametrize("step", [None, 0.1, 1 / 3])
@pytest.mark.parametrize(("p", "n"), [(0.1, 4), (0.1, 20), (0.1, 600), (0.3, 100), (0.6, 20), (0.9, 300)])
def test_crossings_of_t_1_are_the_grid_points_of_the_engine(p, n, step):
    scheme = cm.ConditionalMasking(p, 1.0, step=step)
    z = rows(scheme, n)

    sharp, _, served = fused(z, scheme.law)

    estimate = scheme.estimate(z)
    own = estimate.quantile(Q, crossing="first", tol=TOL)
    off = sharp != own
    assert served.all()
    if off.any():  # both are first crossings of T as it is computed, to TOL / 2 here and to rounding there
        for row, k in zip(*np.nonzero(off), strict=True):
            at = min(sharp[row, k], own[row, k])
            assert abs(scheme.estimate(z[row]).cdf(at) - (Q[k] - TOL)) < TOL
    assert np.count_nonzero(off) <= 1


# T_b to TOL / 2 on both sides, where its slope is at least 1e-3 per sigma: 1e-4 sigma. An excursion between
# two points of the search is missed at most once in these 24 * 6 crossings.
@pytest.mark.parametrize("step", [None, 0.1, 1 / 3])
@pytest.mark.parametrize("p", [0.1, 0.6, 0.9])
def test_crossings_of_t_b_are_those_of_the_engine(p, step):
    scheme = cm.ConditionalMasking(p, 1.0, step=step)
    z = rows(scheme, 200)
    q = Q[2:]

    _, smoothed, _ = fused(z, scheme.law, q, np.full(len(z), 0.7))

    own = scheme.estimate(z).quantile(q, bandwidth=0.7, crossing="first", tol=1e-9)
    assert np.count_nonzero(~(np.abs(smoothed - own) < 1e-4)) <= 1


def test_a_crossing_left_of_all_records_is_found():
    law = Law(0.3, "normal", 1.0, grid_of(2.0**-10))

    sharp, _, _ = fused(np.zeros((1, 50)), law, np.array([0.04]))

    # T has K's own ripple there, of height .04 at -2.06 sigma (docs/theory.rst, "Crossings")
    assert sharp[0, 0] == pytest.approx(-2.06, abs=0.01)
    scheme = cm.ConditionalMasking(0.3, 1.0)
    assert sharp[0, 0] == scheme.estimate(np.zeros(50)).quantile(0.04, crossing="first", tol=TOL)


def test_a_crossing_between_far_records_is_found():
    # the same ripple behind one record so far away that T is lower at both ends of the gap
    scheme = cm.ConditionalMasking(0.3, 1.0)
    z = np.append(-8.0, np.zeros(49))[None]
    q = np.array([0.055])

    sharp, _, _ = fused(z, scheme.law, q)

    assert -3.0 < sharp[0, 0] < -2.0
    assert sharp[0, 0] == scheme.estimate(z[0]).quantile(q, crossing="first", tol=TOL)[0]


def test_rows_too_wide_are_marked_and_others_served():
    scheme = cm.ConditionalMasking(0.6, 1.0)
    z = rows(scheme, 100, count=3)
    z[1, -1] = 1e6
    z[2] = 0.0

    sharp, smoothed, served = fused(z, scheme.law, widths=np.array([0.5, 0.5, 0.0]))

    assert served.tolist() == [True, False, False]
    assert np.isfinite(sharp[0]).all()
    assert np.isfinite(smoothed[0]).all()
    assert np.isnan(sharp[1:]).all()  # left as they were


@pytest.mark.parametrize(
    ("law", "served"),
    [
        (Law(0.6, "normal", 1.0), True),
        (Law(0.6, "normal", 1.0, grid_of(0.25)), True),
        (Law(0.6, "normal", 1.0, grid_of(0.5)), False),
        (Law(0.6, "laplace", 1.0), False),
        (Law(0.0, "normal", 1.0), False),
    ],
)
def test_fine_grids_and_normal_noise_are_served(law, served):
    assert stencil.serves(law) is served


def test_noisy_quantiles_cross_the_plain_sum():
    rng = np.random.default_rng(3)
    z = np.sort(rng.laplace(0.0, 2.0, (4, 500)), axis=1)
    z[3, -1] = 1e9
    widths, q = np.full(4, 0.6), np.array([0.1, 0.5, 0.9])
    out, served = np.full((4, 3), np.nan), np.zeros(4, dtype=bool)

    replicate.noisy_quantiles(z, widths, q, *stencil.normal(0.5 * TOL), 0.7, out, served)

    assert served.tolist() == [True, True, True, False]
    for row in range(3):
        v = (out[row][:, None] - z[row]) / 0.6
        plain = (norm.cdf(v) + (0.7 / 0.6) ** 2 * v * norm.pdf(v)).mean(axis=1)
        assert plain == pytest.approx(q, abs=2 * TOL)
