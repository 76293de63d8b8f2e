"""Gini coefficient and Lorenz curve, with intervals.

Oracle: sums over the file, and releases drawn again and again.
"""

import numpy as np
import pytest

import condmask as cm

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def gini(x):
    x = np.sort(x)
    return (2.0 * np.arange(1, x.size + 1) - x.size - 1) @ x / (x.size * (x.size - 1) * x.mean())


def lorenz(x, q):
    return np.sort(x)[: round(q * x.size)].sum() / x.sum()


def release(p=0.45, n=500, sigma=80.0, seed=5, **options):
    x = np.exp(5.0 + 0.5 * np.random.default_rng(seed).standard_normal(n))
    if "decimals" in options:
        x = np.round(x, options["decimals"])
    scheme = cm.ConditionalMasking(p, sigma, **options)
    return scheme.estimate(scheme.mask(x, rng=seed))


def unmasked(x):
    """The estimate from values that swapping by a permutation leaves as they are, together."""
    return cm.ConditionalMasking(1.0 - 1e-9, 1e-3 * 60, donors="permutation", decimals=2).estimate(x)


def test_gini_and_lorenz_without_masking_are_those_of_the_file():
    # swapped by a permutation alone, the values stay
    x = np.round(np.exp(np.random.default_rng(8).standard_normal(60)), 2)
    estimate = unmasked(x)
    q = np.array([0.2, 0.5, 0.9])

    np.testing.assert_allclose(estimate.gini(), gini(x), rtol=1e-6)
    np.testing.assert_allclose(estimate.lorenz(q), [lorenz(x, share) for share in q], rtol=1e-6)
    assert estimate.gini_interval(target="file").standard_error < 1e-4
    # the population's: that of E|X - X'| / (2 mean), a ratio of a U-statistic and a mean
    apart = np.abs(x[:, None] - x).mean(axis=1)
    expected = np.std((apart - gini(x) * x) / x.mean()) / np.sqrt(60)
    np.testing.assert_allclose(estimate.gini_interval().standard_error, expected, rtol=1e-3)


def test_lorenz_without_masking_has_the_error_of_the_file_as_a_sample():
    # the infinitesimal jackknife: by how much the curve of weighted records changes with each weight
    x = np.sort(np.round(np.exp(np.random.default_rng(8).standard_normal(60)), 2))
    q = np.array([0.21, 0.52, 0.93])

    def curve(weights):
        shares = np.append(0.0, np.cumsum(weights)) / weights.sum()
        return np.interp(q, shares, np.append(0.0, np.cumsum(weights * x)) / (weights @ x))

    small = 1e-6 * np.eye(60)
    slopes = np.array([(curve(1.0 + each) - curve(1.0 - each)) / 2e-6 for each in small])
    expected = np.sqrt((slopes**2).sum(axis=0))

    found = unmasked(x).lorenz_interval(q)

    np.testing.assert_allclose(found.estimate, curve(np.ones(60)), rtol=1e-6)
    np.testing.assert_allclose(found.standard_error, expected, rtol=1e-5)
    assert (unmasked(x).lorenz_interval(q, target="file").standard_error < 1e-4).all()


def test_gini_does_not_depend_on_where_it_is_integrated(monkeypatch):
    from condmask.inference import inequality

    estimate = release(donors="sample")
    found, line = estimate.gini_interval(), estimate.lorenz([0.3, 0.8])

    monkeypatch.setattr(inequality, "LONGEST", 10)

    np.testing.assert_allclose(estimate.gini_interval()[:4], found[:4], rtol=3e-3)
    np.testing.assert_allclose(estimate.lorenz([0.3, 0.8]), line, rtol=1e-3)


def some_amounts(n, shift=0.0):
    return np.rint(2.0 * np.random.default_rng(5).exponential(10.0, n)) / 2.0 + shift


def test_shares_of_a_total_stay_within_what_can_be():
    # 60 records at p = .05, of whose T the standard error is large: -+ 1.96 of it would reach beyond
    scheme = cm.ConditionalMasking(0.05, 20.0, step=0.5)
    q = np.array([0.2, 0.5, 0.95])
    reached = 0
    for seed in range(4):
        estimate = scheme.estimate(scheme.mask(some_amounts(60), rng=seed))
        gini, lorenz = estimate.gini_interval(), estimate.lorenz_interval(q)
        assert 0.0 <= gini.low <= gini.estimate <= gini.high <= 1.0
        assert ((lorenz.low >= 0.0) & (lorenz.low <= lorenz.estimate)).all()
        assert ((lorenz.estimate <= lorenz.high) & (lorenz.high <= q)).all()
        assert (lorenz.high - lorenz.low > 0.01 * q).all()
        outside = ~((estimate.lorenz(q) >= 0) & (estimate.lorenz(q) <= q))
        assert (f"{outside.sum()} of the estimates lie outside" in lorenz.about) == outside.any()
        reached += np.any(lorenz.high == q) + (gini.high == 1.0)

    assert reached > 0


def test_shares_far_from_the_bounds_have_normal_intervals():
    scheme = cm.ConditionalMasking(0.6, 3.0, step=0.125)
    estimate = scheme.estimate(scheme.mask(some_amounts(2_000), rng=1))

    for found in (estimate.gini_interval(), estimate.lorenz_interval([0.5, 0.7])):
        reach = 1.959963985 * found.standard_error
        np.testing.assert_allclose(found.low, found.estimate - reach, rtol=1e-8)
        np.testing.assert_allclose(found.high, found.estimate + reach, rtol=1e-8)


def test_where_amounts_are_negative_nothing_is_cut():
    # a third of them: the Gini coefficient about a mean near 0 is above 1, and ordinates are below 0
    scheme = cm.ConditionalMasking(0.6, 3.0, step=0.125)
    estimate = scheme.estimate(scheme.mask(some_amounts(2_000, -8.0), rng=1))

    gini, lorenz = estimate.gini_interval(), estimate.lorenz_interval(0.4)

    assert gini.low > 1.0
    assert lorenz.high < 0.0


@pytest.mark.parametrize("options", [{}, {"reverse_mapping": True}])
def test_no_shares_are_asked_for(options):
    scheme = cm.ConditionalMasking(0.6, 1.0, **options)
    estimate = scheme.estimate(np.arange(1.0, 50.0))

    assert estimate.lorenz([]).shape == estimate.lorenz_interval([]).low.shape == (0,)
