"""Intervals of the distribution function and of quantiles.

Coverage is counted over R seeded files of n records, masked once each; a share is compared with .95 and may
be off by what the theory leaves at this n (at most .006, docs/inference.rst) and 4.5 standard
errors of the count: a false alarm in 7 of 10^6 looks, of which there are fewer than 200 here. What is caught
stands beside each test.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from marks import rest_long, rest_slow
from releases import masked_rows
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import condmask as cm
from condmask.inference import rearranged_variance, score_inversion

R, N = 1000, 2000
ALPHA = np.array([0.05, 0.3, 0.5, 0.9])
SD = 50.0  # of the data in whole steps: fine enough for quantiles, coarse enough to be quick
EDGE = np.sqrt(0.95 * 0.05 / R) * 4.5 + 0.006

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]


def files(draw, scheme, seed, strata=None, count=R):
    """So many files and what is released of them."""
    rng = np.random.default_rng(seed)
    x = np.array([draw(rng) for _ in range(count)])
    return x, masked_rows(scheme, x, rng, strata)


def normal(rng, n=N):
    return np.rint(SD * rng.standard_normal(n))


def covered(interval, truth):
    return np.mean((interval.low <= truth) & (truth <= interval.high), axis=0)


def quantiles(x, q):
    """The q-quantiles of rows: the first values up to which a share q lies."""
    return np.sort(x, axis=1)[:, np.ceil(q * x.shape[1] - 1e-9).astype(int) - 1]


# points and what the population has there; the quantiles of rounded data are whole
POINTS = np.rint(SD * ndtri(ALPHA))
SHARES = ndtr((POINTS + 0.5) / SD)
ROUNDED = np.ceil(SD * ndtri(ALPHA) - 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "noise", "donors"),
    rest_long([(0.3, "normal", "sample"), (0.6, "normal", "sample"), (0.6, "laplace", "permutation")]),
)
def test_intervals_cover_as_often_as_they_say(p, noise, donors):
    # V/n alone covers .87 at p = .6 for the population, without D .96; V - Var h for sample donors .90
    scheme = cm.ConditionalMasking(p, 0.7 * SD, noise=noise, donors=donors, decimals=0)
    x, z = files(normal, scheme, seed=1)
    estimate = scheme.estimate(z)

    for target, truth, places in (
        ("population", SHARES, ROUNDED),
        ("file", (x[:, :, None] <= POINTS).mean(axis=1), quantiles(x, ALPHA)),
    ):
        of_cdf = covered(estimate.cdf_interval(POINTS, target=target), truth)
        of_quantiles = covered(estimate.quantile_interval(ALPHA, target=target), places)
        assert (np.abs(of_cdf - 0.95) <= EDGE).all(), (target, of_cdf)
        assert (of_quantiles >= 0.95 - EDGE).all(), (target, of_quantiles)
        assert (of_quantiles <= 0.98 + EDGE).all(), (target, of_quantiles)


def test_a_lower_level_covers_less():
    scheme = cm.ConditionalMasking(0.6, 0.7 * SD, decimals=0)
    _, z = files(normal, scheme, seed=2, count=500)

    found = covered(scheme.estimate(z).cdf_interval(POINTS, confidence_level=0.8), SHARES)

    assert (np.abs(found - 0.8) <= 0.01 + 4.5 * np.sqrt(0.8 * 0.2 / 500)).all()


def test_strata_make_no_difference_to_donors_of_a_permutation():
    # strata 1.5 s.d. apart
    strata = np.repeat(np.arange(4), N // 4)
    scheme = cm.ConditionalMasking(0.6, 0.7 * SD, decimals=0, strata="region")
    x, z = files(lambda rng: normal(rng) + np.rint(1.5 * SD) * strata, scheme, seed=6, strata=strata)
    points = np.quantile(x, [0.1, 0.3, 0.5, 0.7, 0.9]).round()

    found = scheme.estimate(z).cdf_interval(points, target="file")

    assert (np.abs(covered(found, (x[:, :, None] <= points).mean(axis=1)) - 0.95) <= EDGE).all()


def release(p=0.6, n=500, seed=1, decimals=None):
    scheme = cm.ConditionalMasking(p, 0.7, decimals=decimals)
    x = np.random.default_rng(seed).standard_normal(n)
    return scheme.estimate(scheme.mask(x if decimals is None else x.round(decimals), rng=seed))


def test_the_population_interval_is_where_the_score_test_accepts():
    estimate, t = release(), np.array([-1.5, 0.2, 2.0])
    found, file = estimate.cdf_interval(t), estimate.cdf_interval(t, target="file")
    c, a = ndtri(0.975) ** 2 / 500, 500 * file.standard_error**2

    for g in (found.low, found.high):
        inside = (g > 0.0) & (g < 1.0)
        both = (found.estimate - g) ** 2 * (1.0 - c), c * (a + g * (1.0 - g))
        np.testing.assert_allclose(both[0][inside], both[1][inside], rtol=1e-9)
    np.testing.assert_allclose(file.high - file.low, 2.0 * np.sqrt(a * c / (1.0 - c)), rtol=1e-9)
    np.testing.assert_allclose(found.estimate, estimate.cdf(t), rtol=0.0, atol=0.0)


def test_it_is_wilsons_where_nothing_is_masked():
    # swapped by a permutation alone the values of the file stay: A = 0, and n - z^2 in place of n
    scheme = cm.ConditionalMasking(1.0 - 1e-9, 1.0, donors="permutation", decimals=0)
    x = np.arange(50.0)
    found, m = scheme.estimate(x).cdf_interval([4.0, 24.0]), 50.0 - ndtri(0.975) ** 2
    share, z = np.array([0.1, 0.5]), ndtri(0.975)

    middle = (share + z**2 / (2.0 * m)) / (1.0 + z**2 / m)
    half = z / (1.0 + z**2 / m) * np.sqrt(share * (1.0 - share) / m + z**2 / (4.0 * m**2))

    np.testing.assert_allclose([found.low, found.high], [middle - half, middle + half], rtol=1e-7)
    assert np.abs(scheme.estimate(x).cdf_interval([4.0], target="file").standard_error[0]) < 1e-4


@pytest.mark.parametrize("options", [{}, {"decimals": 1}, {"step": 0.0}])
@pytest.mark.parametrize("p", [0.3, 0.6])
@pytest.mark.parametrize("target", ["population", "file"])
def test_quantile_intervals_grow_with_the_level_and_hold_the_estimate(options, p, target):
    x = np.random.default_rng(3).lognormal(0.0, 0.5, 300)
    scheme = cm.ConditionalMasking(p, 0.4, **options)
    estimate = scheme.estimate(scheme.mask(x.round(1) if "decimals" in options else x, rng=3))
    q = np.array([0.1, 0.5, 0.8])

    found = [
        estimate.quantile_interval(q, target=target, confidence_level=level)
        for level in (0.5, 0.8, 0.95, 0.999)
    ]

    for narrow, wide in pairwise(found):
        assert (wide.low <= narrow.low + 1e-9).all()
        assert (narrow.high <= wide.high + 1e-9).all()
    for each in found:
        assert ((each.low <= each.estimate) & (each.estimate <= each.high)).all()
    np.testing.assert_allclose(
        found[2].standard_error, (found[2].high - found[2].low) / (2.0 * ndtri(0.975)), rtol=1e-12
    )


def test_an_end_is_infinite_exactly_where_so_few_records_need_not_reach():
    estimate = release(n=200)
    limit = ndtri(0.975) ** 2 / 200
    q = np.array([limit * 0.999, limit * 1.001, 1.0 - limit * 1.001, 1.0 - limit * 0.999])

    found, file = estimate.quantile_interval(q), estimate.quantile_interval(q, target="file")

    assert np.isinf(found.low).tolist() == [True, False, False, False]
    assert np.isinf(found.high).tolist() == [False, False, False, True]
    assert found.about.endswith("; infinite where q or 1 - q is at most z^2/n = 0.0192")
    assert np.isfinite([file.low, file.high]).all()
    assert file.about == "the quantile in the original file"
    assert np.isinf(estimate.quantile_interval(0.5, confidence_level=1.0 - 1e-15).high) == (
        ndtri(1.0 - 5e-16) ** 2 / 200 >= 0.5
    )


def test_too_few_records_for_the_level_bound_nothing():
    estimate = release(n=3)

    assert estimate.cdf_interval(0.0)[:2] == (0.0, 1.0)
    assert estimate.cdf_interval(0.0, target="file")[:2] == (0.0, 1.0)
    assert estimate.quantile_interval(0.5)[:2] == (-np.inf, np.inf)


def modes(rng, n):
    """30% within a mode a twelfth as wide as the noise; the others are wide. In steps of a 16th."""
    narrow = rng.random(n) < 0.3
    return np.rint(16.0 * np.where(narrow, rng.normal(0.0, 1.0, n), rng.normal(30.0, 10.0, n))) / 16.0


def zeros(rng, n):
    """A fifth are 0, the others exponential; in steps of a 16th."""
    return np.rint(16.0 * np.where(rng.random(n) < 0.2, 0.0, rng.exponential(10.0, n))) / 16.0


def mode_quantiles(q):
    at = lambda t: 0.3 * ndtr(t) + 0.7 * ndtr((t - 30.0) / 10.0) - q  # noqa: E731
    return brentq(at, -20.0, 120.0)


# law, sigma, quantiles to look at and where they are: a bandwidth from the spread of the masked values covers
# .40 .76 of the modes and .05 .78 of the zeros at n = 1000
LOCAL = {
    "modes": (modes, 12.0, [0.05, 0.1], [mode_quantiles(0.05), mode_quantiles(0.1)]),
    "zeros": (zeros, 7.0, [0.05, 0.3], [0.0, 10.0 * np.log(0.8 / 0.7)]),
}


@pytest.mark.parametrize("law", rest_slow(LOCAL))
def test_modes_and_atoms_narrower_than_the_noise_keep_their_quantiles(law):
    # 25 files: an interval that covers .95 of them misses more than 5 once in 800, one of .76 in 2 of 3
    draw, sigma, q, places = LOCAL[law]
    scheme = cm.ConditionalMasking(0.3, sigma, step=0.0625)
    _, z = files(lambda rng: draw(rng, 1000), scheme, seed=8, count=25)

    found = scheme.estimate(z).quantile_interval(q)

    inside = (found.low - 0.03125 <= places) & (np.array(places) <= found.high + 0.03125)  # rounding
    assert (inside.sum(axis=0) >= 20).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "target", "p", "n"),
    [
        ("modes", "population", 0.15, 1000),
        ("modes", "file", 0.3, 150),
        ("zeros", "population", 0.3, 150),
        ("zeros", "file", 0.15, 1000),
    ],
)
def test_they_do_so_at_every_size(law, target, p, n):
    # 200 files: 4.5 standard errors of .015, and .02 for what the normal law is off at so few records
    draw, sigma, q, places = LOCAL[law]
    scheme = cm.ConditionalMasking(p, sigma, step=0.0625)
    x, z = files(lambda rng: draw(rng, n), scheme, seed=9, count=200)
    places = quantiles(x, np.array(q)) if target == "file" else np.array(places)

    found = scheme.estimate(z).quantile_interval(q, target=target)

    inside = (found.low - 0.03125 <= places) & (places <= found.high + 0.03125)
    assert (inside.mean(axis=0) >= 0.95 - 0.02 - 4.5 * np.sqrt(0.0475 / 200)).all()


def test_quantiles_of_the_file_are_about_as_uncertain_as_they_say():
    # in 1000 files the ratios are 1.07 and .98, with the variance of T 1.23 and 1.06; in these 80, by which
    # they may be off by 8%, 1.11 and .94, and 1.27 and 1.02
    scheme = cm.ConditionalMasking(0.3, 0.7 * SD, donors="sample", decimals=0)
    x, z = files(lambda rng: normal(rng, 200), scheme, seed=10, count=80)

    found = scheme.estimate(z).quantile_interval([0.1, 0.5], target="file")

    errors = found.estimate - quantiles(x, np.array([0.1, 0.5]))
    ratio = np.mean(found.high - found.low, axis=0) / (2.0 * ndtri(0.975)) / np.std(errors, axis=0)
    assert (np.abs(ratio - 1.0) <= 0.2).all()


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize(
    ("p", "n", "rounded"), [(0.3, 200, 1.0), (0.3, 300, 30.0), (0.15, 150, 1.0), (0.45, 150, 1.0)]
)
def test_ends_are_where_the_rearrangement_differs_by_its_own_standard_error(
    target, donors, p, n, rounded, monkeypatch
):
    # in 150 records at p = .15, n p^2 / 10 = .34 is less than tau; with sigma 60 steps variances are exact
    monkeypatch.setattr(score_inversion, "CANDIDATES", 4_000)  # every one
    scheme = cm.ConditionalMasking(p, 60.0, donors=donors, decimals=0)
    x = rounded * np.rint(90.0 / rounded * np.random.default_rng(2).standard_normal(n))
    z, probabilities = scheme.mask(x, rng=2), np.array([0.04, 0.25, 0.4, 0.55, 0.7, 0.93])
    estimate, c = scheme.estimate(z), ndtri(0.975) ** 2 / n
    points = np.arange(z.min() - 1500.0, z.max() + 1500.0)
    rearranged = np.clip(np.sort(estimate.cdf(points)), 0.0, 1.0)
    given_file = n * estimate.cdf_interval(points, target="file").standard_error ** 2

    def ends(q, share):
        variance = given_file + (q * (1.0 - q) if target == "population" else 0.0)
        radius = np.sqrt(c / (1.0 - c) * share * variance)
        first = np.append(0, np.flatnonzero(rearranged < q - radius) + 1)[-1]
        last = np.flatnonzero(rearranged > q + radius)[0]
        return [(points[k], radius[k], variance[k]) for k in (first, last)]

    def share_of(q):
        middle, taus = points[np.searchsorted(rearranged, q)], []
        (low, *of_low), (high, *of_high) = ends(q, 1.0)
        below = [low <= each <= middle for each in z]
        above = [middle < each <= high for each in z]
        for held, rise, variance in ((below, *of_low), (above, *of_high)):
            rate = sum(held) / n / p**2 + rise * ((target == "population") - (donors == "permutation"))
            taus.append((max(rate, 0.0) / rise) ** 2 / (n * variance))
        return (1.0 + 2.0 / 3.0 * min(*taus, n * p**2 / 10.0)) ** -0.5

    shares = [share_of(q) for q in probabilities]
    expected = np.array(
        [[end for end, *_ in ends(q, share)] for q, share in zip(probabilities, shares, strict=True)]
    )
    found = estimate.quantile_interval(probabilities, target=target)
    assert np.array([found.low, found.high]).T.tolist() == expected.tolist()
    assert min(shares) < 0.97
    plain = np.array([[end for end, *_ in ends(q, 1.0)] for q in probabilities])
    monkeypatch.setattr(rearranged_variance, "GAIN", 0.0)
    found = estimate.quantile_interval(probabilities, target=target)
    assert np.array([found.low, found.high]).T.tolist() == plain.tolist()


def test_a_first_crossing_has_the_variance_of_t(monkeypatch):
    q = np.arange(1, 10) / 10
    found = [release(p=p, n=200).quantile_interval(q) for p in (0.7, 0.72)]  # rearranged, first

    monkeypatch.setattr(rearranged_variance, "GAIN", 0.0)

    plain = [release(p=p, n=200).quantile_interval(q) for p in (0.7, 0.72)]
    assert np.sum(found[0].high - found[0].low) < np.sum(plain[0].high - plain[0].low)
    assert found[1].low.tolist() == plain[1].low.tolist()
    assert found[1].high.tolist() == plain[1].high.tolist()


class Searched:
    """A distribution function of which quantiles alone are known."""

    rearrangement = None

    def __init__(self, cdf):
        self.quantile = cdf.quantile


def test_the_search_by_values_of_t_finds_what_the_whole_line_shows(monkeypatch):
    estimate, q = release(p=0.3), np.array([0.02, 0.1, 0.5, 0.77])
    source = estimate._sample
    found = [estimate.quantile_interval(q, target=t) for t in ("file", "population")]

    whole = source.cdf
    monkeypatch.setattr(source, "cdf", lambda bandwidth, tol: Searched(whole(bandwidth, tol)))

    again = [estimate.quantile_interval(q, target=t) for t in ("file", "population")]
    for one, other in zip(found, again, strict=True):
        np.testing.assert_allclose(one[:2], other[:2], rtol=0.0, atol=2.1 * 2.0**-11)  # steps


def test_where_ends_are_looked_for_does_not_matter(monkeypatch):
    estimate, q = release(p=0.3, n=200, decimals=2), np.arange(1, 10) / 10
    found = estimate.quantile_interval(q)

    monkeypatch.setattr(score_inversion, "CANDIDATES", 5_000)  # every one

    again = estimate.quantile_interval(q)
    assert again.low.tolist() == found.low.tolist()
    assert again.high.tolist() == found.high.tolist()


def test_data_in_pieces_far_apart():
    # two clusters 10^6 sigma apart, of 30% and 70%: quantiles between are in the one or the other
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(0.0, 1.0, 300), rng.normal(1e6, 1.0, 700)])
    scheme = cm.ConditionalMasking(0.5, 0.7, donors="sample")
    found = scheme.estimate(scheme.mask(x, rng=4)).quantile_interval([0.1, 0.3, 0.5], target="file")

    assert (np.abs(found.low[:2]) < 5.0).all()
    assert abs(found.high[0]) < 5.0
    assert (np.abs(found.high[1:] - 1e6) < 5.0).all()
    assert abs(found.low[2] - 1e6) < 5.0


def test_batches_have_a_leading_axis_and_summaries_serve():
    scheme = cm.ConditionalMasking(0.6, 0.7, decimals=1)
    x = np.random.default_rng(5).standard_normal((3, 400)).round(1)
    z = np.array([scheme.mask(row, rng=k) for k, row in enumerate(x)])
    counts = cm.Counts(scheme)
    counts.update(z[1])

    batch, one = scheme.estimate(z), scheme.estimate(counts)

    for name, argument in (("cdf_interval", [[0.0, 1.0]]), ("quantile_interval", [[0.3, 0.5]])):
        found, alone = getattr(batch, name)(argument), getattr(one, name)(argument)
        assert found.low.shape == (3, 1, 2)
        assert alone.low.shape == (1, 2)
        assert found.low[1].tolist() == alone.low.tolist()
    assert isinstance(one.cdf_interval(0.0).low, float)
    assert isinstance(one.quantile_interval(0.5).high, float)


def test_additive_noise_has_no_intervals():
    estimate = cm.AdditiveNoise(1.0).estimate([1.0, 2.0, 4.0])

    for call in (lambda: estimate.cdf_interval(1.0), lambda: estimate.quantile_interval(0.5)):
        with pytest.raises(
            ValueError,
            match=r"^intervals are available only for conditionally masked values, got values with added "
            r"noise, whose distribution can only be estimated smoothed$",
        ):
            call()


@pytest.mark.parametrize(("p", "says"), [(0.01, True), (0.6, False)])
def test_a_distribution_function_of_which_nothing_is_known_says_so(p, says):
    scheme = cm.ConditionalMasking(p, 20.0, step=0.5)
    estimate = scheme.estimate(np.arange(50.0))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = estimate.cdf_interval([10.0, 30.0])

    largest = found.standard_error.max()
    assert (largest > 0.5) == says
    message = (
        f"the distribution function has standard errors of up to {largest:.2g} here, which tell next to "
    )
    assert [str(each.message) for each in caught] == (
        [f"{message}nothing: too few records for p=0.01"] if says else []
    )
