"""Multiplicative noise. Oracle: simulation."""

import numpy as np
import pytest

import condmask as cm

X = np.random.default_rng(3).normal(100.0, 60.0, 40_000)  # some below zero
SCHEME = cm.MultiplicativeNoise(0.3)


def test_factors_have_mean_one_and_the_given_deviation():
    factors = SCHEME.mask(X, rng=1) / X

    # 4 standard errors of the mean, and of the s.d. of a lognormal with kurtosis 4.7: one run in 16,000 fails
    assert abs(factors.mean() - 1.0) < 4 * 0.3 / 200
    assert abs(factors.std() - 0.3) < 4 * 0.3 * np.sqrt((4.7 - 1.0) / 4) / 200
    assert (factors > 0.0).all()


def test_a_deviation_whose_square_is_too_large_masks():
    small = cm.MultiplicativeNoise(2.0**53).mask(X, rng=1)
    large = cm.MultiplicativeNoise(1e155).mask(X, rng=1)

    # log E has mean -m and variance 2 m, with m = log sigma where sigma is large
    for z, sigma in ((small, 2.0**53), (large, 1e155)):
        m = np.log(sigma)
        drawn = (np.log(z / X) + m) / np.sqrt(2.0 * m)
        assert abs(drawn.mean()) < 4.0 / 200
        assert abs(drawn.std() - 1.0) < 4.0 / 200 / np.sqrt(2.0)


def test_it_is_read_back_and_refused_as_others_are():
    assert cm.MultiplicativeNoise.from_dict(SCHEME.to_dict()) == SCHEME
    with pytest.raises(ValueError, match="sigma must be positive and finite, got 0"):
        cm.MultiplicativeNoise(0.0)
    with pytest.raises(ValueError, match=r"^x must stay finite"):
        cm.MultiplicativeNoise(2.0).mask(np.full(200, 4e307), rng=1)
    with pytest.raises(TypeError, match="has no estimator of the original"):
        SCHEME.estimate(X)
    with pytest.raises(TypeError, match="has no closed form of its risk"):
        SCHEME.risk(X, 1.0)
