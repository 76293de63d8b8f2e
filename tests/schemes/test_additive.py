"""Additive noise: its estimates against plain sums."""

import numpy as np
import pytest
from scipy.stats import norm

import condmask as cm

RNG = np.random.default_rng(31)
X = RNG.laplace(10, 1000, 3_000)
W = -0.5 * X + RNG.normal(0, 800, X.size)


def test_the_noise_estimate_is_its_formula():
    scheme = cm.AdditiveNoise(900.0)
    z = scheme.mask(X, rng=4)
    found = scheme.estimate(z)
    t = np.linspace(-4_000, 4_000, 21)
    b = 1.06 * min(z.std(ddof=1), np.subtract(*np.quantile(z, [0.75, 0.25])) / 1.34) * z.size**-0.2
    v = (t[:, None] - z) / b
    plain = (norm.cdf(v) + 0.5 * (900.0 / b) ** 2 * v * norm.pdf(v)).mean(axis=1)

    assert found.cdf(t) == pytest.approx(plain, abs=1e-9)
    q = found.quantile([0.1, 0.5, 0.9])
    assert found.cdf(q) == pytest.approx([0.1, 0.5, 0.9], abs=1e-8)
    assert found.variance() == pytest.approx(z.var(ddof=1) - 900.0**2, rel=1e-12)
    assert found.moment(2) == pytest.approx(np.mean(z**2) - 900.0**2, rel=1e-12)
    assert found.covariance(W) == pytest.approx(np.cov(z, W)[0, 1], rel=1e-12)
    assert found.mean() == pytest.approx(z.mean(), rel=1e-13)


def test_normal_noise_has_no_distribution_function():
    found = cm.AdditiveNoise(900.0, noise="normal").estimate(X)

    assert found.mean() == pytest.approx(X.mean(), rel=1e-13)
    with pytest.raises(
        ValueError, match=r"^noise must be 'laplace' for a distribution function, got 'normal'"
    ):
        found.cdf(0.0)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_rows_have_noise_of_their_own(noise):
    z = cm.AdditiveNoise(2.0, noise=noise).mask_rows(np.zeros((40, 900)), np.random.default_rng(3), ())

    # the means of 40 independent values, of which 900 know the deviation to 2.4%
    assert z.std() == pytest.approx(2.0, rel=0.05)
    assert z.mean(axis=0).std() == pytest.approx(2.0 / np.sqrt(40), rel=0.15)
    assert z.mean(axis=1).std() == pytest.approx(2.0 / np.sqrt(900), rel=0.6)
