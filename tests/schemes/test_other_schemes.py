"""Additive and multiplicative noise, swapping, rank swapping and shuffling: what must stay, and estimates."""

import numpy as np
import pandas as pd
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


SIGNED = np.random.default_rng(3).normal(100.0, 60.0, 40_000)  # some below zero
SCHEME = cm.MultiplicativeNoise(0.3)


def test_factors_have_mean_one_and_the_given_deviation():
    factors = SCHEME.mask(SIGNED, rng=1) / SIGNED

    # 4 standard errors of the mean, and of the s.d. of a lognormal with kurtosis 4.7: one run in 16,000 fails
    assert abs(factors.mean() - 1.0) < 4 * 0.3 / 200
    assert abs(factors.std() - 0.3) < 4 * 0.3 * np.sqrt((4.7 - 1.0) / 4) / 200
    assert (factors > 0.0).all()


def test_a_deviation_whose_square_is_too_large_masks():
    small = cm.MultiplicativeNoise(2.0**53).mask(SIGNED, rng=1)
    large = cm.MultiplicativeNoise(1e155).mask(SIGNED, rng=1)

    # log E has mean -m and variance 2 m, with m = log sigma where sigma is large
    for z, sigma in ((small, 2.0**53), (large, 1e155)):
        m = np.log(sigma)
        drawn = (np.log(z / SIGNED) + m) / np.sqrt(2.0 * m)
        assert abs(drawn.mean()) < 4.0 / 200
        assert abs(drawn.std() - 1.0) < 4.0 / 200 / np.sqrt(2.0)


def test_it_is_read_back_and_refused_as_others_are():
    assert cm.MultiplicativeNoise.from_dict(SCHEME.to_dict()) == SCHEME
    with pytest.raises(ValueError, match="sigma must be positive and finite, got 0"):
        cm.MultiplicativeNoise(0.0)
    with pytest.raises(ValueError, match=r"^x must stay finite"):
        cm.MultiplicativeNoise(2.0).mask(np.full(200, 4e307), rng=1)
    with pytest.raises(TypeError, match="has no estimator of the original"):
        SCHEME.estimate(SIGNED)
    with pytest.raises(TypeError, match="has no closed form of its risk"):
        SCHEME.risk(SIGNED, 1.0)


SWAPPED = {
    "swapping": cm.DataSwapping().mask(X, rng=1),
    "rank swapping": cm.RankSwapping(5.0).mask(X, rng=1),
    "shuffling": cm.DataShuffling().mask(X, given=W, rng=1),
}


@pytest.mark.parametrize("masked", SWAPPED.values(), ids=SWAPPED)
def test_swapped_columns_keep_their_margin(masked):
    assert np.array_equal(np.sort(masked), np.sort(X))
    assert np.count_nonzero(masked == X) < 0.02 * X.size


def test_noise_leaves_gaps_where_they_are_and_what_moves_values_refuses_them():
    values = {"a": pd.Series([1, None, *range(20)], dtype="Int64"), "b": pd.Series([*range(21), np.nan])}
    frame = pd.DataFrame(values)
    for scheme in (cm.AdditiveNoise(3.0), cm.MultiplicativeNoise(0.3)):
        released = cm.mask_table(frame, dict.fromkeys(frame, scheme), nan_policy="omit").data
        assert released.isna().equals(frame.isna())
        assert scheme.mask(frame["a"]).isna().equals(frame["a"].isna())
    with pytest.raises(ValueError, match=r"^x must be complete, got 1 missing value"):
        cm.DataSwapping().mask(frame["a"])


WINDOWS = [(29, 100, 29), (0.57, 10_000, 57), (57, 100, 57), (1e-5, 50, 1), (100, 60, 60)]


@pytest.mark.parametrize(("percent", "n", "window"), WINDOWS)
def test_the_window_is_the_share_of_the_records_rounded_down(percent, n, window):
    x, reached = np.arange(float(n)), 0
    for seed in range(200):
        reached = max(reached, int(np.abs(cm.RankSwapping(percent).mask(x, rng=seed) - x).max()))

    # rank 0 takes the farthest partner with chance 1/window >= 1/60: missed by 200 files with (59/60)^200 =
    # .035 at most were it the only record; these seeds are fixed
    assert reached == min(window, n - 1)


def test_shuffling_by_a_column_that_says_nothing_is_swapping():
    x = np.sort(X)

    z = cm.DataShuffling().mask(x, given=np.ones(x.size), rng=1)

    # six standard errors of a correlation of zero
    assert abs(np.corrcoef(z, x)[0, 1]) < 6 / np.sqrt(x.size)
    assert np.array_equal(np.sort(z), x)


@pytest.mark.parametrize("order", ["as drawn", "sorted by x"])
def test_shuffling_keeps_the_correlation_with_a_column_of_few_values(order):
    rng = np.random.default_rng(7)
    group = rng.choice([0.0, 1.0], 20_000, p=[0.7, 0.3])
    x = rng.normal(1.6 * group, 1.0)
    if order == "sorted by x":
        group, x = group[np.argsort(x)], np.sort(x)

    z = cm.DataShuffling().mask(x, given=group, rng=2)

    # .59; scores of x and of z differ in law within the groups by what the copula leaves out
    assert np.corrcoef(z, group)[0, 1] == pytest.approx(np.corrcoef(x, group)[0, 1], abs=0.02)


def test_shuffling_a_constant_or_by_itself_returns_it():
    x = np.round(X, -3)  # many ties

    assert np.array_equal(cm.DataShuffling().mask(np.ones(50), given=X[:50], rng=1), np.ones(50))
    assert np.array_equal(cm.DataShuffling().mask(x, given=x, rng=1), x)


def test_shuffling_keeps_the_rank_correlation_and_swapping_loses_it():
    rho = np.corrcoef(np.argsort(np.argsort(X)), np.argsort(np.argsort(W)))[0, 1]
    z = cm.DataShuffling().mask(X, given=W, rng=1)
    found = np.corrcoef(np.argsort(np.argsort(z)), np.argsort(np.argsort(W)))[0, 1]

    # six standard errors of a rank correlation at n = 3000
    assert abs(found - rho) < 6 / np.sqrt(X.size)
    assert abs(np.corrcoef(cm.DataSwapping().mask(X, rng=1), W)[0, 1]) < 6 / np.sqrt(X.size)


def test_shuffling_needs_another_column_of_as_many_values():
    with pytest.raises(ValueError, match=r"^given must have at least one column, got none$"):
        cm.DataShuffling().mask(X, given=np.ones((X.size, 0)))
    with pytest.raises(ValueError, match=r"^others must have the unmasked columns that DataShuffling uses"):
        cm.DataShuffling().mask_rows(X[None], np.random.default_rng(1), ())
