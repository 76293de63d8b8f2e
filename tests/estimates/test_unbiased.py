"""Estimates are unbiased given the original values: many releases of one file, averaged.

Every test has a fixed seed. Where a statistic is averaged over R releases, its distance from the truth is
at most 5.5 empirical standard errors, which a correct estimate exceeds in 4 of 10^8 seeds; no test looks
at more than 20 numbers, so false alarms are below 1e-6. (The mean of R = 2000 releases is normal as far
out as that matters.) What a real fault would give stands beside each test.
"""

import numpy as np
import pandas as pd
import pytest
from marks import rest_slow
from releases import masked_rows

import condmask as cm

pytestmark = pytest.mark.filterwarnings(
    "ignore::condmask.ReleaseWarning",
    "ignore::condmask.EstimateWarning",
)

R = 2000
N = 40
ROUNDED = rest_slow([("normal", 0.5), ("laplace", 0.5), ("laplace", 2.0), ("normal", 20.0)])
X = np.random.default_rng(21).gamma(2.0, 1.0, N)


def releases(scheme, x, count=R, strata=None):
    return masked_rows(scheme, np.tile(x, (count, 1)), np.random.default_rng(25), strata)


def assert_unbiased(values, truth):
    """Means over the first axis against the truth, in standard errors."""
    values = np.asarray(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    assert np.size(truth) <= 20
    assert (error > 0.0).all()
    assert (np.abs(values.mean(axis=0) - truth) <= 5.5 * error).all()


@pytest.mark.parametrize(
    ("noise", "p", "donors"),
    rest_slow([("normal", 0.3, "sample"), ("laplace", 0.6, "permutation"), ("laplace", 0.3, "permutation")]),
)
def test_the_distribution_function_is_unbiased(noise, p, donors):
    # with the other noise's K some points are off by 6 to 12 standard errors, with p + .1 by 8 to 11
    scheme = cm.ConditionalMasking(p, 1.0, noise=noise, donors=donors)
    t = np.array([-0.5, 0.4, 1.0, float(np.median(X)), 2.6, 4.5])

    found = scheme.estimate(releases(scheme, X)).cdf(t)

    assert_unbiased(found, [(t_ >= X).mean() for t_ in t])


@pytest.mark.parametrize(("noise", "steps"), ROUNDED)
def test_the_distribution_function_of_rounded_data_is_unbiased(noise, steps):
    # ignoring the grid, T is off by 30 standard errors and more up to two steps (by 3 at twenty)
    x = np.round(X * steps * 1.5)
    scheme = cm.ConditionalMasking(0.4, steps, noise=noise, decimals=0)
    t = np.quantile(x, [0.1, 0.3, 0.5, 0.7, 0.9]).round()

    found = scheme.estimate(releases(scheme, x)).cdf(t)

    assert_unbiased(found, [(x <= t_).mean() for t_ in t])


W = 0.8 * X + np.random.default_rng(22).normal(0.0, 1.0, N)


@pytest.mark.slow
def test_the_covariance_of_columns_masked_together_has_the_bias_of_a_variance():
    # two separate releases would leave (1-p)^2 = 16% of it
    p, n = 0.6, N
    frame = pd.DataFrame({"x": X, "w": W})
    scheme = cm.ConditionalMasking(p, 0.5, donors="sample")
    found = []
    for seed in range(R // 4):
        release = cm.mask_table(frame, {"x": scheme, "w": scheme}, rng=seed)
        found.append(release["x"].covariance(release["w"]))

    kappa = p**2 * (n - 2) / (n - 1) ** 2 + 2 * p * (1 - p) / (n - 1)
    assert_unbiased(found, (1 - kappa) * np.cov(X, W)[0, 1])
