"""Theorem 2.1, moments, and Theorem 2.5, moments of pairs; intervals of moments; warnings of heavy
tails.

Oracles: sums in exact fractions, all outcomes, closed forms, laws of released records in full.
"""

import warnings
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.polynomial import polyval
from releases import in_group
from scipy.special import ndtri

import condmask as cm
from condmask.estimates.batch import stacked
from condmask.law import Law
from condmask.moments import heavy_tails
from condmask.moments.influence import influence_of_moment
from condmask.moments.moment_interval import Sampled, moment, moment_interval, variance
from condmask.moments.theorem_2_1 import Powers, powers, powers_of_rows
from condmask.moments.variance_interval import variance_interval
from condmask.pairs.pair_interval import correlation
from condmask.pairs.pair_variance import conditional_pair
from condmask.pairs.theorem_2_5 import pair_moments


@given(
    z=st.lists(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 5e-324]), min_size=1, max_size=40).map(
        np.array
    ),
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
    deviations = [
        (Fraction(v) - Fraction(found.center)) / Fraction(found.scale) for v in z.tolist()
    ]
    exact = [float(sum(d**k for d in deviations) / z.size) for k in range(5)]
    assert found.means == pytest.approx(exact, abs=1e-14)
    assert found.scale >= 1.0  # sigma: in a narrower unit high powers of the noise are infinite


def counted(z):
    return np.unique(z, return_counts=True)


LAW = Law(0.3, "normal", 0.5)


def outcomes(x, pool):
    """Masked files by eq. (1), and their chances; noise of two values has the moments of LAW to
    order 3."""
    of_record = []
    for j, own in enumerate(x):
        donors = [other for k, other in enumerate(x) if pool[k] == pool[j] and k != j]
        swapped = [(other, LAW.p / len(donors)) for other in donors]
        of_record.append([*swapped, *((own + y, 0.5 * (1 - LAW.p)) for y in (-0.5, 0.5))])
    every = list(product(*of_record))
    values, chances = np.moveaxis(np.array(every), 2, 0)
    return values, chances.prod(axis=1)


def test_moments_and_the_covariance_are_unbiased():
    x = np.array([0.1, 2.0, -1.0, 0.7])
    w = np.array([3.0, 1.0, -2.0, 2.5])
    z, chance = outcomes(x, [0] * 4)
    sampled = Sampled(4, LAW, True, powers_of_rows(z, 3, LAW.sigma))

    pair = conditional_pair(
        pair_moments(z, np.tile(w, (len(z), 1))), LAW, None, shared_donors=True
    )

    assert chance @ pair.covariance * pair.unit == pytest.approx(np.cov(x, w)[0, 1], rel=1e-12)
    for order in (1, 2, 3):
        assert chance @ moment(sampled, order, central=False) == pytest.approx(
            np.mean(x**order), rel=1e-12
        )


def test_the_variance_is_unbiased_for_a_permutation_and_shrinks_where_donors_are_shared():
    x = np.array([0.1, 2.0, -1.0, 0.7])
    p = LAW.p
    n = 4
    z, chance = outcomes(x, [0] * n)
    kappa = p**2 * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1)
    shared = variance(Sampled(n, LAW, True, powers_of_rows(z, 2, LAW.sigma)))

    assert chance @ shared == pytest.approx((1.0 - kappa) * x.var(ddof=1), rel=1e-12)

    signs = np.array(list(product((-0.5, 0.5), repeat=n)))
    # the swapped have their values together, in any order
    for kept in product((False, True), repeat=n):
        cycles = variance(Sampled(n, LAW, False, powers_of_rows(x + signs * kept, 2, LAW.sigma)))
        excess = LAW.sigma**2 * (np.mean(kept) - (1.0 - p))  # 0 on average over coins
        assert cycles.mean() == pytest.approx(x.var(ddof=1) + excess, rel=1e-12)


def test_sums_of_parts_add_up_to_those_of_all():
    # of parts with other means, units, pools and gaps, one of them without pairs
    stream = np.random.default_rng(5)
    n = 60
    pool = np.sort(stream.integers(0, 4, n))
    z = stream.normal(1e3 * pool, 1.0 + pool)
    w = stream.normal(-50.0, 9.0, n) / (1.0 + pool)
    w[:9] = w[stream.random(n) < 0.2] = np.nan

    total = reduce(
        add, (pair_moments(z[own], w[own], pool[own]) for own in np.split(np.arange(n), [9, 25]))
    )

    u, v = (
        (x - middle) / unit
        for x, middle, unit in zip((z, w), total.center, total.unit, strict=True)
    )
    here = ~np.isnan(w)
    in_pool = pool == np.arange(pool.max() + 1)[:, None]
    for i, j in product(range(5), repeat=2):
        by_hand = [np.sum(u[here & own] ** i * v[here & own] ** j) for own in in_pool]
        assert i + j > 4 or total.sums[:, i, j] == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
    assert total.middle == pytest.approx([z[here].mean(), w[here].mean()], rel=1e-12)
    for i in range(3):
        assert total.alone[:, i] == pytest.approx(
            [np.sum(u[own] ** i) for own in in_pool], abs=1e-12
        )


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize(
    ("scheme", "n", "r"),
    [
        (cm.ConditionalMasking(0.5, 0.7), 150, 0.5),
        (
            cm.ConditionalMasking(0.3, 0.4, noise="laplace", donors="permutation", decimals=1),
            150,
            -0.97,
        ),
        (cm.ConditionalMasking(0.5, 4.0), 60, 0.5),  # the noise hides whether the original varies
    ],
    ids=["plain", "beyond -1", "hidden"],
)
def test_rows_have_the_intervals_of_single_samples(scheme, n, r, target):
    rng = np.random.default_rng(3)
    levels = (0.9, 0.99)
    x, w = np.moveaxis(rng.multivariate_normal([50.0, 0.0], [[1.0, r], [r, 1.0]], (12, n)), -1, 0)
    law = scheme.law
    z = scheme.mask_rows(law.from_units(law.to_units(x)), np.random.default_rng(4), ())
    w = 1e6 * w
    sampled = Sampled(n, law, scheme.shared_donors, powers_of_rows(z, 6, law.sigma))
    of_pairs = correlation(
        conditional_pair(pair_moments(z, w), law, None, shared_donors=scheme.shared_donors)
    )
    of_levels = np.array(levels)[:, None]
    found = [
        moment_interval(sampled, of_levels, target, 1, "", central=False)[:2],
        moment_interval(sampled, of_levels, target, 3, "", central=False)[:2],
        variance_interval(sampled, of_levels, target, root=True)[:2],
        np.moveaxis([of_pairs.ends(level, target) for level in levels], 1, 0),
    ]
    batch = scheme.estimate(z)
    singles = [scheme.estimate(row) for row in z]

    for k, level in enumerate(levels):
        asked = {"confidence_level": level, "target": target}
        calls = [
            lambda e, _, asked=asked: e.mean_interval(**asked),
            lambda e, _, asked=asked: e.moment_interval(3, **asked),
            lambda e, _, asked=asked: e.std_interval(**asked),
            lambda e, other, asked=asked: e.correlation_interval(other, **asked),
        ]
        for rows, call in zip(found, calls, strict=True):
            one = stacked([call(e, own) for e, own in zip(singles, w, strict=True)])
            of_batch = call(batch, w)
            size = np.max(np.abs(one.high))
            np.testing.assert_allclose(
                [rows[0][k], rows[1][k]], one[:2], rtol=0.0, atol=1e-9 * size
            )
            np.testing.assert_allclose(of_batch[:4], one[:4], rtol=0.0, atol=1e-9 * size)
            assert np.array_equal(of_batch.about, one.about)
    if n == 60:
        assert (found[2][0] == 0.0).any()  # of a variance that is estimated negative
        assert np.mean((found[3][0] == -1.0) & (found[3][1] == 1.0)) > 0.1


def mean_of(values, weights, order, *, about):
    middle = values @ weights if about is None else -about
    return (values - middle) ** order @ weights


@pytest.mark.parametrize("about", [None, 0.0, 0.8])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_influence_of_a_record_is_how_much_a_moment_rises_with_its_weight(order, about):
    x = np.array([-1.0, 0.2, 0.5, 1.7])
    even = np.full(4, 0.25)
    means = np.array([np.mean(x**k) for k in range(order + 1)])
    step = 1e-6
    slopes = []
    for own in np.eye(4):
        high, low = (
            mean_of(x, even + side * step * (own - even), order, about=about)
            for side in (1.0, -1.0)
        )
        slopes.append((high - low) / (2.0 * step))

    found = influence_of_moment(means, order, about, np.eye(1, order + 1)[0], 0.5).h[0, :, 0]

    # central differences: step^2 times third derivatives below 10^3
    assert polyval(x, found) == pytest.approx(np.array(slopes), abs=1e-8)


@pytest.mark.parametrize("target", ["population", "file"])
def test_the_mean_has_the_variance_of_its_formula(target):
    z = np.random.default_rng(6).normal(0.0, 3.0, 400).round(2)
    for donors in ("sample", "permutation"):
        estimate = cm.ConditionalMasking(0.4, 1.0, donors=donors, decimals=2).estimate(z)
        scatter = z.var()
        spread = estimate.moment(2, central=True)
        file = scatter - (0.36 if donors == "sample" else 1.0) * spread

        found = estimate.mean_interval(target=target)

        expected = np.sqrt((file + (spread if target == "population" else 0.0)) / 400)
        np.testing.assert_allclose(found.standard_error, expected, rtol=1e-10)
        np.testing.assert_allclose(
            [found.low, found.high], z.mean() + np.array([-1, 1]) * ndtri(0.975) * expected
        )
        assert (
            found.about
            == f"the mean {'in the population' if target == 'population' else 'in the original file'}"
        )


@pytest.mark.parametrize(
    ("donors", "target"), [("sample", "file"), ("sample", "population"), ("permutation", "file")]
)
def test_the_variance_and_central_moments_have_those_of_theirs(donors, target):
    # the closed forms of docs/inference.rst: D = (1-p)^2 (m4 - m2^2), V the scatter of (z - mu)^2
    p = 0.4
    z = np.random.default_rng(7).normal(0.0, 3.0, 400).round(2)
    estimate = cm.ConditionalMasking(p, 1.0, donors=donors, decimals=2).estimate(z)
    m2 = estimate.moment(2, central=True)
    m4 = estimate.moment(4, central=True)
    h = m4 - m2**2
    file = ((z - z.mean()) ** 2).var() - ((1 - p) ** 2 if donors == "sample" else 1.0) * h
    expected = np.sqrt((file + (h if target == "population" else 0.0)) / 400)

    found = estimate.variance_interval(target=target)
    root = estimate.std_interval(target=target)

    np.testing.assert_allclose(found.standard_error, expected, rtol=1e-9)
    np.testing.assert_allclose(
        estimate.moment_interval(2, central=True, target=target).standard_error,
        expected,
        rtol=1e-9,
    )
    np.testing.assert_allclose(root[:2], np.sqrt(found[:2]), rtol=1e-12)
    np.testing.assert_allclose(root.standard_error, expected / (2.0 * estimate.std()), rtol=1e-9)


def test_moments_too_large_for_a_number_are_infinite_and_so_are_their_intervals():
    z = np.random.default_rng(6).normal(0.0, 1e200, 400)
    estimate = cm.ConditionalMasking(0.4, 1e200, step=0.0).estimate(z)

    found = estimate.moment_interval(2)

    assert estimate.variance() == estimate.moment(2) == np.inf
    assert found.standard_error == np.inf
    assert estimate.std() == pytest.approx(
        np.sqrt((z / 1e200).var(ddof=1) - 0.6) * 1e200, rel=1e-12
    )
    assert estimate.std_interval().low < estimate.std() < estimate.std_interval().high < np.inf


def test_released_values_of_reverse_mapping_are_those_of_the_file():
    z = np.random.default_rng(6).gamma(1.0, size=400)
    estimate = cm.ReverseMapping(0.4, 1.0).estimate(z)

    assert estimate.mean() == pytest.approx(z.mean(), rel=1e-14)
    assert estimate.std() == pytest.approx(z.std(ddof=1), rel=1e-13)
    for ask in (estimate.mean_interval, estimate.std_interval):
        found = ask(target="file")
        assert (found.low, found.high, found.standard_error) == (
            found.estimate,
            found.estimate,
            0.0,
        )
    assert estimate.mean_interval().standard_error == pytest.approx(z.std() / 20.0, rel=1e-12)


pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
P = 0.6
N = 150
FILES = 200


def masked_moments(second, fourth, p, sigma, about=0.0):
    """Raw moments about a centre of p X + (1-p) (X + Y), Y normal, of a symmetric X with mean
    `about`."""
    m2 = second + (1 - p) * sigma**2
    m4 = fourth + (1 - p) * (6 * second * sigma**2 + 3 * sigma**4)
    return np.array(
        [1.0, about, m2 + about**2, 3 * about * m2 + about**3, m4 + 6 * about**2 * m2 + about**4]
    )


@pytest.mark.parametrize("about", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_kurtosis_is_that_of_the_originals(about, scale):
    law = Law(P, "normal", 0.7)
    means = masked_moments(1.0, 7.5, P, 0.7, about) / scale ** np.arange(5)

    found = heavy_tails.kurtosis(Powers(2.0, scale, means), law)

    assert found == pytest.approx(7.5, rel=1e-12)


@pytest.mark.parametrize(("second", "known"), [(0.401, True), (0.399, False)])
def test_nothing_is_known_where_half_of_the_variance_is_noise(second, known):
    law = Law(P, "normal", 1.0)  # (1-p) sigma^2 = .4
    means = masked_moments(second, 30.0, P, 1.0)

    found = heavy_tails.kurtosis(Powers(0.0, 1.0, means), law)

    assert np.isnan(found) != known


def of_plain(w):
    """The kurtosis of a column, in a unit in which it is of about 1."""
    about = w / np.abs(w).max()
    return heavy_tails.plain_kurtosis(*(np.mean((about - about.mean()) ** k) for k in (2, 3, 4)))


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
def test_kurtosis_of_a_plain_column(unit):
    # -1, 0, 0, 0, 0, 0, 0, 1: m2 = 1/4, m4 = 1/4
    w = unit * np.array([-1.0, 0, 0, 0, 0, 0, 0, 1.0]) + 2 * unit

    assert of_plain(w) == pytest.approx(4.0, rel=1e-12)


def test_a_column_of_two_values_has_no_tails():
    assert np.isnan(of_plain(np.append(np.zeros(99), 1.0)))
    assert np.isnan(of_plain(np.full(5, 3.0)))
    assert of_plain(np.append(np.zeros(98), [1.0, 2.0])) > heavy_tails.MAX_KURTOSIS


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: np.sqrt(12.0) * rng.random(shape),
    "laplace": lambda rng, shape: np.sqrt(0.5) * rng.laplace(size=shape),
    "t4": lambda rng, shape: np.sqrt(0.5) * rng.standard_t(4.0, shape),
    "pareto": lambda rng, shape: rng.pareto(3.0, shape) / np.sqrt(0.75),
}


@pytest.mark.parametrize(
    ("name", "share"),
    [("normal", 0.0), ("uniform", 0.0), ("laplace", 0.04), ("t4", 0.13), ("pareto", 0.7)],
)
def test_it_speaks_as_often_as_the_docs_say(name, share):
    # 200 files: 4.5 standard errors and what the stated shares are rounded by, .01; 1 seed in 10^5
    rng = np.random.default_rng(4)
    x = LAWS[name](rng, (FILES, N))
    donor = (np.arange(N) + rng.integers(1, N, x.shape)) % N
    noisy = x + 0.7 * rng.normal(size=x.shape)
    z = np.where(rng.random(x.shape) < P, np.take_along_axis(x, donor, 1), noisy)
    law = Law(P, "normal", 0.7)

    found = np.mean(
        [
            heavy_tails.kurtosis(powers(row, 4, law.sigma), law) > heavy_tails.MAX_KURTOSIS
            for row in z
        ]
    )

    assert abs(found - share) <= 4.5 * np.sqrt(share * (1 - share) / FILES) + 0.01


HEAVY = np.append(np.random.default_rng(1).normal(size=199), 40.0)
SCHEME = cm.ConditionalMasking(0.3, 0.5, step=0.0)
LIGHT = np.random.default_rng(2).normal(size=200)
CALLS = {
    "variance": lambda e, w: e.variance_interval(),
    "deviation": lambda e, w: e.std_interval(),
    "moment": lambda e, w: e.moment_interval(2),
    "slope": lambda e, w: e.regress(w),
    "covariance": lambda e, w: e.covariance_interval(w),
    "correlation": lambda e, w: e.correlation_interval(w),
    "covariance, together": lambda e, w: e.covariance_interval(in_group(SCHEME.estimate(w))),
    "correlation, together": lambda e, w: e.correlation_interval(in_group(SCHEME.estimate(w))),
}


def said(call, z, w):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(in_group(SCHEME.estimate(z)), w)
    assert all(
        each.filename == __file__ and each.category is cm.EstimateWarning for each in caught
    )
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("name", CALLS)
def test_an_interval_warns_once(name):
    call = CALLS[name]
    own = said(call, HEAVY, LIGHT)
    other = said(call, LIGHT, HEAVY)
    both = said(call, HEAVY, HEAVY)

    assert said(call, LIGHT, LIGHT) == []
    assert len(own) == len(both) == 1
    assert len(other) == (name not in ("variance", "deviation", "moment"))
    assert own[0].startswith("heavy tails of the original (kurtosis ")
    if other:
        named = {"slope": "'w1'"}.get(name, "the other column")
        assert other[0].startswith(f"heavy tails of {named} (kurtosis ")
        assert both[0].startswith(f"heavy tails of the original and {named} (kurtosis up to ")
    assert own[0].endswith("less than their nominal coverage, as they would without masking")


@pytest.mark.parametrize(
    ("kurtosis", "n", "says"),
    [
        (10.0, 2, False),
        (10.1, 2, True),
        (20.0, 6_000, False),
        (20.1, 6_000, True),
        (np.nan, 2, False),
    ],
)
def test_more_records_bear_heavier_tails(kurtosis, n, says):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        heavy_tails.warn_of_heavy_tails([1.0, kurtosis, np.nan], n, "variances", ["a", "b", "c"])

    expected = (
        f"heavy tails of b (kurtosis {kurtosis:.3g}, {n} records): intervals for variances have "
    )
    assert [str(each.message)[: len(expected)] for each in caught] == [expected] * says


@pytest.mark.parametrize(
    ("skewness", "n", "says"),
    [(3.0, 2, False), (3.1, 2, True), (4.9, 1_250, False), (5.1, 1_250, True), (np.nan, 2, False)],
)
def test_means_bear_more_skewness_the_more_records_they_have(skewness, n, says):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        heavy_tails.warn_of_skewness(skewness, n, "means", "'income'")

    expected = (
        f"heavy tails of 'income' (skewness {skewness:.3g}, {n} records): intervals for means "
        "have "
    )
    assert [str(each.message)[: len(expected)] for each in caught] == [expected] * says


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_skewness_is_that_of_the_originals(scale):
    # of p X + (1-p) (X + Y) about the mean: m2 + (1-p) sigma^2, and m3 of the originals
    law = Law(P, "normal", 0.7)
    means = np.array([1.0, 0.0, 1.0 + (1 - P) * 0.7**2, -2.5]) / scale ** np.arange(4)

    assert heavy_tails.skewness(Powers(2.0, scale, means), law) == pytest.approx(2.5, rel=1e-12)


OF_MEANS = {
    "mean": lambda e, **target: e.mean_interval(**target),
    "weighted mean": lambda e, **target: e.weighted_mean(np.linspace(0.5, 1.0, e.n), **target),
    "groups": lambda e, **target: e.group_means(np.arange(e.n) % 2, **target),
    "total": lambda e, **target: e.total(**target),
    "Gini": lambda e, **target: e.gini_interval(**target),
    "Lorenz": lambda e, **target: e.lorenz_interval([0.5, 0.9], **target),
}


@pytest.mark.parametrize("name", OF_MEANS)
def test_intervals_of_means_warn_of_heavy_tails_about_the_population(name):
    ask = OF_MEANS[name]
    rng = np.random.default_rng(5)
    pareto = 5.0 + rng.pareto(2.5, 1_000)
    gamma = rng.gamma(2.0, 1.0, 1_000)
    scheme = cm.ConditionalMasking(0.6, 0.3)
    heavy, light = (scheme.estimate(scheme.mask(x, rng=1)) for x in (pareto, gamma))

    def texts(estimate, **target):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(estimate, **target)
        assert all(each.filename == __file__ for each in caught)
        return [str(each.message) for each in caught]

    (text,) = texts(heavy)
    assert text.startswith("heavy tails of the original (skewness ")
    assert texts(heavy, target="file") == texts(light) == []


@pytest.mark.parametrize(
    ("draw", "low", "high"),
    [
        (lambda rng, shape: rng.normal(size=shape), 0.0, 0.0),
        (lambda rng, shape: np.exp(0.5 * rng.normal(size=shape)), 0.0, 0.04),
        (lambda rng, shape: rng.exponential(0.6, shape), 0.0, 0.04),
        (lambda rng, shape: rng.pareto(2.5, shape) / 2.5, 0.7, 1.0),
    ],
    ids=["normal", "lognormal", "exponential", "Pareto"],
)
def test_means_warn_as_often_as_the_docs_say(draw, low, high):
    # 1,000 files of 200 records; 4.3 standard errors: 1 seed in 10^5
    files = 1_000
    n = 200
    sigma = 0.3
    rng = np.random.default_rng(6)
    scheme = cm.ConditionalMasking(P, sigma, step=0.0)
    z = scheme.mask_rows(draw(rng, (files, n)), rng, ())

    found = heavy_tails.skewness(powers_of_rows(z, 3, sigma), scheme.law) > max(
        3.0, (n / 2) ** 0.25
    )

    room = 4.3 * np.sqrt(max(low * (1 - low), high * (1 - high)) / files)
    assert low - room <= found.mean() <= high + room
