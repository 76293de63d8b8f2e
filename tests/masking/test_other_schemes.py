"""Additive and multiplicative noise, swapping, rank swapping and shuffling: what stays, estimates,
bounds."""

import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import norm

import condmask as cm
from condmask.masking.range import MAX_EXPECTED_OUTSIDE, bounds_on_grid, expected_outside

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
    z = cm.AdditiveNoise(2.0, noise=noise).mask_rows(
        np.zeros((40, 900)), np.random.default_rng(3), ()
    )

    # the means of 40 independent values, of which 900 know the deviation to 2.4%
    assert z.std() == pytest.approx(2.0, rel=0.05)
    assert z.mean(axis=0).std() == pytest.approx(2.0 / np.sqrt(40), rel=0.15)
    assert z.mean(axis=1).std() == pytest.approx(2.0 / np.sqrt(900), rel=0.6)


SIGNED = np.random.default_rng(3).normal(100.0, 60.0, 40_000)  # some below zero
SCHEME = cm.MultiplicativeNoise(0.3)


def test_factors_have_mean_one_and_the_given_deviation():
    factors = SCHEME.mask(SIGNED, rng=1) / SIGNED

    # 4 standard errors of the mean, and of the s.d. of a lognormal with kurtosis 4.7: one run in
    # 16,000 fails
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
    values = {
        "a": pd.Series([1, None, *range(20)], dtype="Int64"),
        "b": pd.Series([*range(21), np.nan]),
    }
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
    x = np.arange(float(n))
    reached = 0
    for seed in range(200):
        reached = max(reached, int(np.abs(cm.RankSwapping(percent).mask(x, rng=seed) - x).max()))

    # rank 0 takes the farthest partner with chance 1/window >= 1/60: missed by 200 files with
    # (59/60)^200 = .035 at most were it the only record; these seeds are fixed
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
        group = group[np.argsort(x)]
        x = np.sort(x)

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
    with pytest.raises(
        ValueError, match=r"^others must have the unmasked columns that DataShuffling uses"
    ):
        cm.DataShuffling().mask_rows(X[None], np.random.default_rng(1), ())


N = 4_000
AGES = np.random.default_rng(1).integers(0, 100, N).astype(float)


def scheme(sigma=10.0, **options):
    return cm.ConditionalMasking(0.6, sigma, decimals=0, **options)


def drawn(made, x, runs):
    """How many released values lie below and above the bounds, run by run."""
    free = cm.ConditionalMasking.from_dict({**made.to_dict(), "range": None})
    (low, high) = bounds_on_grid(made.range, made.law)
    releases = [free.mask(x, rng=k, accept="all") for k in range(runs)]
    return np.array([[(z < low).sum(), (z > high).sum()] for z in releases])


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("grid", [{"decimals": 0}, {"step": 5.0}, {"step": 0}, {}])
def test_what_is_expected_outside_is_what_is_released_there(noise, grid):
    made = cm.ConditionalMasking(0.6, 10.0, noise=noise, **grid, range=(20, 119.5))
    x = 20.0 + (AGES if grid != {"step": 5.0} else AGES // 5 * 5)
    below, above = expected_outside(x, made.law, bounds_on_grid(made.range, made.law))

    runs = 40
    counts = drawn(made, x, runs)
    for expected, column in zip((below, above), counts.T, strict=True):
        # five standard errors of a sum of independent draws: by chance once in 1.7 million
        assert abs(column.mean() - expected) < 5.0 * math.sqrt(expected / runs)
        assert expected > 20


def test_one_far_record_is_counted_to_the_last_digit():
    law = scheme(sigma=1.0).law
    for room in (4, 6, 8):
        expected = expected_outside(np.array([0.0, np.nan]), law, (-math.inf, float(room)))

        assert expected == (
            0.0,
            pytest.approx(0.4 * stats.norm.sf(room + 0.5), rel=1e-3, abs=1e-16),
        )


def test_a_release_is_refused_from_one_in_a_million_on():
    x = np.arange(1_000.0)
    far = -stats.norm.ppf(MAX_EXPECTED_OUTSIDE / 0.4)  # of one record at the bound

    for margin, refused in ((far - 0.3, True), (far + 0.3, False)):
        made = scheme(sigma=10.0, range=(None, 999 + round(10 * margin)))
        if refused:
            with pytest.raises(
                ValueError, match=r"x must stay within its range, at most \d+, got noise"
            ):
                made.mask(x, rng=1, accept="all")
        else:
            made.mask(x, rng=1, accept="all")


def test_a_refused_release_says_how_many_and_what_serves():
    with pytest.raises(
        ValueError, match=r"expected to take \d+ below and [\d.]+ above it, of 4,000"
    ) as error:
        scheme(range=(0, 120)).mask(AGES, accept="all")

    serves = (
        "use cm.ReverseMapping(p=0.6, sigma=10.0), which releases values of the data alone, or "
        "leave range out"
    )
    assert serves in str(error.value)
    reverse = cm.ReverseMapping(0.6, 10.0, range=(0, 120))
    assert set(reverse.mask(AGES, accept="all")) == set(AGES)


@pytest.mark.parametrize("method", [partial(cm.ConditionalMasking, decimals=1), cm.ReverseMapping])
@pytest.mark.parametrize(("outside", "many"), [([7], "a value"), ([7, 9], "2 values")])
def test_originals_outside_are_refused_by_position_and_never_shown(method, outside, many):
    x = AGES.copy()
    x[outside] = 1234

    with pytest.raises(
        ValueError, match=f"x must lie within its range, 0 to 120, got {many} outside, the f"
    ) as error:
        method(0.6, 0.1, range=(0, 120)).mask(x, accept="all")

    assert "at position 7" in str(error.value)
    assert "1234" not in str(error.value)


def test_codes_and_missing_values_have_no_range():
    x = AGES.copy() + 200.0
    x[:50] = -8.0
    x[50:60] = np.nan

    z = scheme(range=(0, 500), missing=-8).mask(x, nan_policy="omit", accept="all")

    assert (z[:50] == -8).all()
    assert np.isnan(z[50:60]).all()


def test_a_bound_between_points_of_the_grid_is_that_point():
    made = cm.ConditionalMasking(0.6, 10.0, decimals=0, range=(0.4, 99.6))

    assert bounds_on_grid(made.range, made.law) == (0.0, 100.0)
    mapping = cm.ReverseMapping(0.6, 1.0, range=(0.4, 99.6))
    assert bounds_on_grid(mapping.range, mapping.law) == (0.4, 99.6)


def test_an_infinite_bound_is_none():
    ranges = [(0, math.inf), [-math.inf, 9], (-math.inf, math.inf), (None, None), (0, 9)]

    assert [scheme(range=each).range for each in ranges] == [
        (0, None),
        (None, 9),
        None,
        None,
        (0, 9),
    ]
    assert repr(scheme(range=(-0.0, 9)).range) == "(0.0, 9.0)"
    with pytest.raises(ValueError, match=r"^range must be two numbers, the lower first"):
        scheme(range=(5, 5))


@pytest.mark.parametrize(("shift", "warned"), [(0.0, True), (300.0, False), (-1.0, False)])
def test_many_released_values_below_0_are_worth_a_word(shift, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheme().mask(AGES + shift, rng=1, accept="all")
        cm.mask_table({"x": AGES}, {"x": cm.AdditiveNoise(10.0)}, rng=1)

    texts = [str(warning.message) for warning in caught]
    assert len(texts) == warned
    if warned:
        assert texts[0].startswith(
            "some 2% of the released values of x will lie below 0, where no original"
        )
        assert str(int(AGES.max())) not in texts[0]
