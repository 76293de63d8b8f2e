"""Theorem 2.1, moments, and Theorem 2.5, moments of pairs. Oracles: sums in exact fractions, all outcomes."""

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask.estimates.base import stacked
from condmask.law import Law
from condmask.moments.moment_interval import Sampled, moment, moment_interval, variance, variance_interval
from condmask.moments.pair_interval import correlation
from condmask.moments.pair_variance import pair_of
from condmask.moments.theorem_2_1 import powers, powers_of_rows
from condmask.moments.theorem_2_5 import pair_moments


@given(
    z=st.lists(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 5e-324]), min_size=1, max_size=40).map(np.array),
    shift=st.sampled_from([0.0, 1e6]),
)
def test_powers_are_those_about_the_mean_in_any_order_and_of_counts(z, shift):
    z = z + shift

    found = powers(z, 4, 1.0)

    for other in (powers(z[::-1].copy(), 4, 1.0), powers(*counted(z)[:1], 4, 1.0, counted(z)[1])):
        assert found.center == other.center
        assert found.scale == other.scale
        assert found.means.tolist() == other.means.tolist()
    assert found.center == pytest.approx(z.mean(), rel=1e-12, abs=1e-12 * found.scale)
    deviations = [(Fraction(v) - Fraction(found.center)) / Fraction(found.scale) for v in z.tolist()]
    exact = [float(sum(d**k for d in deviations) / z.size) for k in range(5)]
    assert found.means == pytest.approx(exact, abs=1e-14)
    assert found.scale >= 1.0  # sigma: in a narrower unit high powers of the noise are infinite


def counted(z):
    return np.unique(z, return_counts=True)


LAW = Law(0.3, "normal", 0.5)


def outcomes(x, pool):
    """Masked files by eq. (1), and their chances; noise of two values has the moments of LAW to order 3."""
    of_record = []
    for j, own in enumerate(x):
        donors = [other for k, other in enumerate(x) if pool[k] == pool[j] and k != j]
        swapped = [(other, LAW.p / len(donors)) for other in donors]
        of_record.append([*swapped, *((own + y, 0.5 * (1 - LAW.p)) for y in (-0.5, 0.5))])
    every = list(product(*of_record))
    values, chances = np.moveaxis(np.array(every), 2, 0)
    return values, chances.prod(axis=1)


def test_moments_and_the_covariance_are_unbiased():
    x, w = np.array([0.1, 2.0, -1.0, 0.7]), np.array([3.0, 1.0, -2.0, 2.5])
    z, chance = outcomes(x, [0] * 4)
    sampled = Sampled(4, LAW, True, powers_of_rows(z, 3, LAW.sigma))

    pair = pair_of(pair_moments(z, np.tile(w, (len(z), 1))), LAW, None, shared_donors=True)

    assert chance @ pair.covariance * pair.unit == pytest.approx(np.cov(x, w)[0, 1], rel=1e-12)
    for order in (1, 2, 3):
        assert chance @ moment(sampled, order, central=False) == pytest.approx(np.mean(x**order), rel=1e-12)


def test_the_variance_is_unbiased_for_a_permutation_and_shrinks_where_donors_are_shared():
    x, p, n = np.array([0.1, 2.0, -1.0, 0.7]), LAW.p, 4
    z, chance = outcomes(x, [0] * n)
    kappa = p**2 * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1)
    shared = variance(Sampled(n, LAW, True, powers_of_rows(z, 2, LAW.sigma)))

    assert chance @ shared == pytest.approx((1.0 - kappa) * x.var(ddof=1), rel=1e-12)

    signs = np.array(list(product((-0.5, 0.5), repeat=n)))
    for kept in product((False, True), repeat=n):  # the swapped have their values together, in any order
        cycles = variance(Sampled(n, LAW, False, powers_of_rows(x + signs * kept, 2, LAW.sigma)))
        excess = LAW.sigma**2 * (np.mean(kept) - (1.0 - p))  # 0 on average over coins
        assert cycles.mean() == pytest.approx(x.var(ddof=1) + excess, rel=1e-12)


def test_sums_of_parts_add_up_to_those_of_all():
    # of parts with other means, units, pools and gaps, one of them without pairs
    stream, n = np.random.default_rng(5), 60
    pool = np.sort(stream.integers(0, 4, n))
    z, w = stream.normal(1e3 * pool, 1.0 + pool), stream.normal(-50.0, 9.0, n) / (1.0 + pool)
    w[:9] = w[stream.random(n) < 0.2] = np.nan

    total = reduce(add, (pair_moments(z[own], w[own], pool[own]) for own in np.split(np.arange(n), [9, 25])))

    u, v = ((x - middle) / unit for x, middle, unit in zip((z, w), total.center, total.unit, strict=True))
    here, in_pool = ~np.isnan(w), pool == np.arange(pool.max() + 1)[:, None]
    for i, j in product(range(5), repeat=2):
        by_hand = [np.sum(u[here & own] ** i * v[here & own] ** j) for own in in_pool]
        assert i + j > 4 or total.sums[:, i, j] == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
    for i in range(3):
        assert total.alone[:, i] == pytest.approx([np.sum(u[own] ** i) for own in in_pool], abs=1e-12)


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize(
    ("scheme", "n", "r"),
    [
        (cm.ConditionalMasking(0.5, 0.7), 150, 0.5),
        (cm.ConditionalMasking(0.3, 0.4, noise="laplace", donors="permutation", decimals=1), 150, -0.97),
        (cm.ConditionalMasking(0.5, 4.0), 60, 0.5),  # the noise hides whether the original varies
    ],
    ids=["plain", "beyond -1", "hidden"],
)
def test_rows_have_the_intervals_of_single_samples(scheme, n, r, target):
    rng, levels = np.random.default_rng(3), (0.9, 0.99)
    x, w = np.moveaxis(rng.multivariate_normal([50.0, 0.0], [[1.0, r], [r, 1.0]], (12, n)), -1, 0)
    law = scheme.law
    z, w = scheme.mask_rows(law.from_units(law.to_units(x)), np.random.default_rng(4), ()), 1e6 * w
    sampled = Sampled(n, law, scheme.shared_donors, powers_of_rows(z, 6, law.sigma))
    of_pairs = correlation(pair_of(pair_moments(z, w), law, None, shared_donors=scheme.shared_donors))
    of_levels = np.array(levels)[:, None]
    found = [
        moment_interval(sampled, of_levels, target, 1, "", central=False)[:2],
        moment_interval(sampled, of_levels, target, 3, "", central=False)[:2],
        variance_interval(sampled, of_levels, target, root=True)[:2],
        np.moveaxis([of_pairs.ends(level, target) for level in levels], 1, 0),
    ]
    batch, singles = scheme.estimate(z), [scheme.estimate(row) for row in z]

    for k, level in enumerate(levels):
        asked = {"confidence_level": level, "target": target}
        calls = [
            lambda e, _, asked=asked: e.mean_interval(**asked),
            lambda e, _, asked=asked: e.moment_interval(3, **asked),
            lambda e, _, asked=asked: e.std_interval(**asked),
            lambda e, other, asked=asked: e.correlation_interval(other, **asked),
        ]
        for rows, call in zip(found, calls, strict=True):
            one, of_batch = stacked([call(e, own) for e, own in zip(singles, w, strict=True)]), call(batch, w)
            size = np.max(np.abs(one.high))
            np.testing.assert_allclose([rows[0][k], rows[1][k]], one[:2], rtol=0.0, atol=1e-9 * size)
            np.testing.assert_allclose(of_batch[:4], one[:4], rtol=0.0, atol=1e-9 * size)
            assert np.array_equal(of_batch.about, one.about)
    if n == 60:
        assert (found[2][0] == 0.0).any()  # of a variance that is estimated negative
        assert np.mean((found[3][0] == -1.0) & (found[3][1] == 1.0)) > 0.1
