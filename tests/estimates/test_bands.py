"""Bands, and tests of whole distributions.

Oracles: how far T lies from the truth in many releases made by eq. (1) (tests/reference.py),
Kolmogorov's law where masking changes nothing, and counting. Every test has a
fixed seed.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import reference
from scipy.special import ndtr
from scipy.stats import kstwobign

import condmask as cm
from condmask.distribution.band import supremum_increase
from condmask.estimates import bands

SD = 50.0

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]


def normal(rng, n, shift=0.0):
    return np.rint(shift + SD * rng.standard_normal(n))


# --- how far T lies from the truth, in many releases
# -----------------------------------------------------

COARSE = 8.0
N = 1000
R = 2000  # standard deviation in steps, records, releases
EVERYWHERE = np.arange(-45.0, 46.0)  # 2e-8 of the records lie beyond
DONORS = {"sample": "sample", "permutation": "permutation", "wide": "permutation"}
# p, sigma in SDs, noise
RULES = {
    "sample": (0.6, 0.7, "normal"),
    "permutation": (0.4, 0.5, "laplace"),
    "wide": (0.6, 30.0, "normal"),
}


def below(t):
    """The distribution function of the rounded data."""
    return ndtr((np.floor(t) + 0.5) / COARSE)


def scheme_of(donors):
    p, sigma, noise = RULES[donors]
    return cm.ConditionalMasking(p, sigma * COARSE, donors=DONORS[donors], noise=noise, decimals=0)


@lru_cache
def many(donors, n=N):
    """Masked files, T of each everywhere, and the shares of its originals."""
    p, sigma, noise = RULES[donors]
    rng = np.random.default_rng(1)
    x = np.rint(COARSE * rng.standard_normal((R, n)))
    z = reference.releases(rng, x, p, sigma * COARSE, DONORS[donors], noise)
    of_file = np.array([np.searchsorted(np.sort(row), EVERYWHERE, side="right") for row in x]) / n
    return z, reference.cdfs(z, EVERYWHERE, noise, p, 1.0 / (sigma * COARSE)), of_file


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize(
    "donors", ["sample", "permutation", pytest.param("wide", marks=pytest.mark.slow)]
)
def test_a_band_is_as_wide_as_many_releases_are_far_from_the_truth(donors, target):
    # The .95 and .5 quantiles of 2000 largest differences are known to 1.3 and 1.5%, those of 8
    # bands of 1000 draws each to .7%, and their covariances to 1%: 4.5 times 2%. With the variance
    # of T alone the bands of the population would be .8 times as wide, those of the file of a
    # permutation 1.5 times.
    z, t, of_file = many(donors)
    largest = np.abs(t - (below(EVERYWHERE) if target == "population" else of_file)).max(axis=1)

    for level in (0.5, 0.95):
        found = [
            scheme_of(donors)
            .estimate(row)
            .cdf_band(confidence_level=level, target=target, rng=k)
            .half_width
            for k, row in enumerate(z[:8])
        ]
        assert np.mean(found) == pytest.approx(np.quantile(largest, level), rel=0.09)


def test_the_pvalue_of_two_samples_is_the_share_of_pairs_of_releases_as_far_apart(monkeypatch):
    # schemes, noises and numbers of records that differ; as above
    monkeypatch.setattr(bands, "MIN_RECORDS_UNREARRANGED", 500)
    (z, t, _) = many("sample")
    (w, u, _) = many("permutation", 500)
    largest = np.abs(t - u).max(axis=1)

    for k in range(12):
        a = scheme_of("sample").estimate(z[k])
        b = scheme_of("permutation").estimate(w[k])
        found = cm.compare_distributions(a, b, rng=k)
        turned = cm.compare_distributions(b, a, rng=k)
        assert abs(found.statistic - largest[k]) < 1e-12
        assert (turned.statistic, turned.difference) == (found.statistic, -found.difference)
        assert abs(found.pvalue - np.mean(largest >= found.statistic)) <= 4.5 * 0.019 + 0.045


def test_without_masking_bands_and_tests_are_those_of_kolmogorov():
    # Values that a permutation leaves as they are, together. At 250 even steps the largest is
    # smaller by .5826 / sqrt(250) than on the whole line (Siegmund), which leaves some 1/250; of
    # 1000 draws the .95 quantile is known to .025, shares to .015: three times that.
    x = np.round(np.random.default_rng(3).gamma(2.0, 10.0, 2000), 1)
    scheme = cm.ConditionalMasking(1.0 - 1e-9, 0.6, donors="permutation", decimals=1)
    estimate = scheme.estimate(x)
    less = 0.5826 / np.sqrt(250.0)

    half = np.mean([estimate.cdf_band(rng=k).half_width for k in range(40)])  # on the whole line

    assert half * np.sqrt(2000.0) == pytest.approx(
        kstwobign.ppf(0.95), abs=4.5 * 0.027 / np.sqrt(40.0) + 0.004
    )
    assert estimate.cdf_band(rng=1, target="file").half_width < 1e-4
    for k in (1, 2, 3):
        again = scheme.estimate(np.round(np.random.default_rng(3 + k).gamma(2.0, 10.0, 2000), 1))
        found = cm.compare_distributions(estimate, again, rng=1)
        chance = kstwobign.sf(found.statistic * np.sqrt(1000.0) + less)
        assert abs(found.pvalue - chance) <= 4.5 * 0.011 + 0.004


def test_between_points_a_process_goes_on_as_a_path_of_brown():
    # with the median of its steps; where most of the points asked for coincide, it goes nowhere
    time = np.cumsum(np.append([1.0, 5.0], np.full(200, 0.04)))
    path = np.minimum.outer(time, time)
    assert supremum_increase(path, 202) == pytest.approx(0.5826 * 0.2)
    assert supremum_increase(path, 500) == supremum_increase(path[:1, :1], 1) == 0.0


def test_a_pvalue_counts_the_draws_that_are_as_large_and_the_data():
    # so that it is never 0
    a = release(seed=1)
    far = release(seed=3, shift=6.0 * SD)
    assert cm.compare_distributions(a, a, rng=1).pvalue == 1.0
    assert cm.compare_distributions(a, far, rng=1).pvalue == 1 / 1001


def release(p=0.6, n=300, seed=1, shift=0.0, **options):
    scheme = cm.ConditionalMasking(p, 0.7 * SD, decimals=0, **options)
    return scheme.estimate(scheme.mask(normal(np.random.default_rng(seed), n, shift), rng=seed))


def test_a_band_is_seeded_and_says_what_it_is():
    estimate = release()

    band, again, other = (estimate.cdf_band(rng=seed) for seed in (1, 1, 2))

    assert band.half_width == again.half_width != other.half_width
    assert (np.diff(band.x) > 0.0).all()
    # steps of the estimate
    even = estimate.quantile((np.arange(250) + 0.5) / 250, crossing="rearranged")
    assert band.x.tolist() == np.unique(even).tolist()
    np.testing.assert_allclose(
        band.estimate, estimate.cdf(band.x, monotone=True), rtol=0.0, atol=0.0
    )
    np.testing.assert_allclose(band.low, np.maximum(band.estimate - band.half_width, 0.0))
    np.testing.assert_allclose(band.high, np.minimum(band.estimate + band.half_width, 1.0))
    assert (np.diff(band.low) >= 0.0).all()
    assert band.about == "the distribution function in the population"
    assert estimate.cdf_band(rng=1, confidence_level=0.5).half_width < band.half_width
    assert estimate.cdf_band(rng=1, target="file").half_width < band.half_width
    assert isinstance(band.half_width, float)


def test_bands_and_tests_of_data_without_a_grid():
    x = np.exp(5.0 + 0.5 * np.random.default_rng(12).standard_normal(300))
    scheme = cm.ConditionalMasking(0.6, 60.0, step=0.0)
    estimate = scheme.estimate(scheme.mask(x, rng=1))

    # held in all but one of 1000 seeds
    band = estimate.cdf_band(rng=1, target="file", confidence_level=0.999)
    of_file = x[:, None] <= band.x
    again = np.exp(5.0 + 0.5 * np.random.default_rng(13).standard_normal(300))
    same, other = (
        cm.compare_distributions(
            estimate, scheme.estimate(scheme.mask(times * again, rng=2)), rng=1
        )
        for times in (1.0, np.exp(0.5))
    )

    assert (np.abs(of_file.mean(axis=0) - band.estimate) <= band.half_width).all()
    assert same.pvalue > 0.001
    assert other.pvalue < 0.01


def test_one_file_in_steps_of_two_widths_has_one_distribution():
    # swapped by a permutation alone, the values stay
    x = 0.2 * np.random.default_rng(4).integers(0, 300, 1000)
    scheme = cm.ConditionalMasking(1.0 - 1e-9, 0.6)
    fine = replace(scheme, step=0.2).estimate(x)
    wide = replace(scheme, p=1.0 - 2e-9, step=3.0).estimate(3.0 * np.rint(x / 3.0))

    assert cm.compare_distributions(fine, wide, rng=1).statistic < 1e-6
    assert cm.compare_distributions(wide, fine, rng=1).statistic < 1e-6


def test_what_cannot_be_had_is_refused():
    batch = release().scheme.estimate(np.ones((2, 5)))

    with pytest.raises(TypeError, match="b must be an Estimate, got 1"):
        cm.compare_distributions(release(), 1.0)
    noise = cm.AdditiveNoise(1.0).estimate([1.0, 2.0, 4.0])
    tests = (lambda: cm.compare_distributions(release(), noise), lambda: noise.expectation(np.abs))
    for ask in (noise.mean_interval, noise.cdf_band, lambda: noise.cdf_interval(0.0), *tests):
        with pytest.raises(
            ValueError, match=r"^intervals are available only for conditionally masked"
        ):
            ask()
    with pytest.raises(
        TypeError, match=r"a must be an Estimate, got Estimate\(replicates=2, n=5,"
    ):
        cm.compare_distributions(batch, release())
    for name in ("cdf_band", "plot_cdf", "summary"):
        with pytest.raises(
            ValueError, match=f"z must be 1-D for {name}, got a batch; estimate its rows one by"
        ):
            getattr(batch, name)()
