"""The comparators: what must stay, what must change, and what is estimated, against plain sums."""

import numpy as np
import pytest
from scipy.stats import laplace, norm

import condmask as cm

RNG = np.random.default_rng(31)
X = RNG.laplace(10, 1000, 3_000)
W = -0.5 * X + RNG.normal(0, 800, X.size)
SCHEMES = [
    cm.AdditiveNoise(900.0),
    cm.AdditiveNoise(900.0, noise="normal"),
    cm.DataSwapping(),
    cm.RankSwapping(5.0),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_seed_repeats_a_masking_and_columns_share_nothing(scheme):
    z = scheme.mask(X, rng=1)

    assert np.array_equal(z, scheme.mask(X, rng=1))
    assert not np.array_equal(z, scheme.mask(X, rng=2))
    assert not np.array_equal(scheme.mask(X), scheme.mask(X))
    if isinstance(scheme, cm.AdditiveNoise):
        assert np.abs(np.corrcoef(z - X, scheme.mask(X[::-1], rng=1) - X[::-1])[0, 1]) < 0.1


SWAPPED = {
    "swapping": cm.DataSwapping().mask(X, rng=1),
    "rank swapping": cm.RankSwapping(5.0).mask(X, rng=1),
    "shuffling": cm.DataShuffling().mask(X, given=W, rng=1),
}


@pytest.mark.parametrize("masked", SWAPPED.values(), ids=SWAPPED)
def test_swapped_columns_keep_their_margin(masked):
    assert np.array_equal(np.sort(masked), np.sort(X))
    assert np.count_nonzero(masked == X) < 0.02 * X.size


def test_rank_swapping_stays_within_its_window():
    z = cm.RankSwapping(5.0).mask(X, rng=3)
    rank = np.argsort(np.argsort(X))
    given = np.searchsorted(np.sort(X), z)

    assert np.abs(rank - given).max() <= 0.05 * X.size
    assert np.abs(rank - given).mean() > 0.02 * X.size


WINDOWS = [(29, 100, 29), (0.29, 10_000, 29), (57, 100, 57), (1e-5, 50, 1), (100, 60, 60)]


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


def test_schemes_describe_themselves():
    scheme = cm.AdditiveNoise(3.0, noise="normal")

    assert cm.AdditiveNoise.from_dict(scheme.to_dict()) == scheme
    with pytest.raises(ValueError, match=r"^percent must be at most 100, got 101$"):
        cm.RankSwapping(101)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_risk_is_the_share_of_records_near_their_masked_values(noise):
    scheme = cm.ConditionalMasking(0.6, 700.0, noise=noise, step=0)
    x = X[:300]
    d = np.array([100.0, 500.0, 2_000.0])
    pairs = np.abs(x[:, None] - x) < d[:, None, None]
    share = (pairs.sum(axis=(1, 2)) - x.size) / (x.size * (x.size - 1))
    kept = 2 * norm.cdf(d / 700.0) - 1 if noise == "normal" else 1 - np.exp(-d * np.sqrt(2) / 700.0)

    assert scheme.risk(x, d) == pytest.approx(0.6 * share + 0.4 * kept, rel=1e-12)
    differences = (x[:, None] - x) ** 2
    exact = 0.6 * differences.sum() / (x.size * (x.size - 1)) + 0.4 * 700.0**2
    assert scheme.mse(x) == pytest.approx(exact, rel=1e-12)
    assert cm.AdditiveNoise(700.0, noise=noise).risk(x, d) == pytest.approx(kept, rel=1e-12)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_risk_of_rounded_data_counts_whole_steps(noise):
    x = np.round(np.random.default_rng(3).normal(0, 2, 60), 1)
    d = np.array([0.0, 0.05, 0.1, 0.3, 0.7, 1.1, 1.15])
    law = norm(0, 0.35) if noise == "normal" else laplace(0, 0.35 / np.sqrt(2))
    steps = np.rint(np.abs(x[:, None] - x)[~np.eye(60, dtype=bool)] * 10)
    nearer = np.array([0, 1, 1, 3, 7, 11, 12])  # the whole steps k with k / 10 < d
    share = [np.mean(steps < k) for k in nearer]
    kept = [max(0.0, 2 * law.cdf((k - 0.5) / 10) - 1) for k in nearer]

    scheme = cm.ConditionalMasking(0.6, 0.35, noise=noise, decimals=1)

    assert scheme.risk(x, d) == pytest.approx(0.6 * np.array(share) + 0.4 * np.array(kept), rel=1e-12)
    assert np.array_equal(scheme.risk(np.append(x, np.nan), d), scheme.risk(x, d))
    assert scheme.mse([*x, np.nan]) == scheme.mse(x)


@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_rows_are_masked_by_eq_1(donors):
    scheme = cm.ConditionalMasking(0.4, 50.0, donors=donors, step=0)
    x = RNG.normal(0, 1e4, (20, 2_000))

    z = scheme.mask_rows(x, np.random.default_rng(1), ())

    swapped = np.array([np.isin(a, b) for a, b in zip(z, x, strict=True)])
    # six standard errors of a coin of .4 thrown 40,000 times
    assert abs(swapped.mean() - 0.4) < 6 * np.sqrt(0.24 / x.size)
    assert abs((z - x)[~swapped].std() - 50.0) < 6 * 50.0 / np.sqrt(2 * (~swapped).sum())
    assert not (z == x)[swapped].any()
    if donors == "permutation":
        for a, b, chosen in zip(z, x, swapped, strict=True):
            assert np.array_equal(np.sort(a[chosen]), np.sort(b[chosen]))
