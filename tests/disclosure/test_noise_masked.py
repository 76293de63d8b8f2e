"""A pool under noise: what is drawn for trials, and a brief look beside a whole one."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import baselines
from condmask.disclosure.pools import pools_of
from condmask.disclosure.risk_result import BEST, RELEASED
from condmask.disclosure.swap_attack import FULL

X = np.random.default_rng(5).normal(0.0, 100.0, 3_000).round()
D = np.array([5.0, 60.0])


def pool_of(scheme):
    ((_, pool),) = pools_of(X, scheme, None, "risk").pools
    return pool


def test_trials_are_masked_as_releases_are():
    pool = pool_of(cm.ConditionalMasking(0.4, 20.0, step=1))
    rows = np.arange(0, X.size, 2)
    away = pool.drawn(rows, np.random.default_rng(1)) - pool.units[rows]

    # kept ones show noise: within 3 sigma of .6 of 1,500 records and a few of the others, s.e. .013
    assert np.mean(np.abs(away) < 60.0) == pytest.approx(0.6 + 0.4 * 0.33, abs=0.05)
    assert (away == np.rint(away)).all()


def test_added_noise_alone_swaps_nobody():
    pool = pool_of(cm.AdditiveNoise(20.0))
    rows = np.arange(X.size)
    away = (pool.drawn(rows, np.random.default_rng(1)) - pool.units) * pool.grid.step

    assert away.std() == pytest.approx(20.0, rel=0.06)  # s.e. 1.3%
    assert np.abs(away).max() < 20.0 * 15.0  # beyond lies e^-21 of Laplace noise


def test_a_brief_look_with_full_effort_is_the_whole_one():
    pool = pool_of(cm.ConditionalMasking(0.4, 20.0, step=1))
    constant = baselines.by_constant(pool, D)
    (risks, nothing), (released, most, best) = pool.expected(D, constant), pool.brief(D, constant, FULL)

    assert np.array_equal(released, risks[RELEASED])
    assert np.array_equal(best, risks[BEST])
    assert (most >= released).all()
    assert nothing is None
    assert pool.most_exposed(D) is None
