"""Bands, and tests of whole distributions.

Shares are counted over seeded files: of 300 a share of .95 is known to .013, and may be off by 4.5 times that
and .01 for what the theory leaves: a false alarm in 7 of 10^6 looks.
"""

import numpy as np
import pytest
from marks import rest_slow
from scipy.special import ndtr, ndtri

import condmask as cm
from condmask.estimates import process

SD, R, N = 50.0, 300, 2000
QUICK = {"points": 120, "draws": 400}
SLACK = 0.01 + 4.5 * np.sqrt(0.0475 / R)

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]


def normal(rng, n=N, shift=0.0):
    return np.rint(shift + SD * rng.standard_normal(n))


def below(t):
    """The distribution function of the rounded data."""
    return ndtr((np.floor(t) + 0.5) / SD)


def everywhere(estimate, truth, half_width):
    """Whether T, rearranged or not, is nowhere farther from a distribution function."""
    t = np.arange(-6.0 * SD, 6.0 * SD)
    return np.abs(estimate.cdf(t, monotone=True) - truth(t)).max() <= half_width


@pytest.mark.parametrize(("p", "donors"), rest_slow([(0.6, "sample"), (0.4, "permutation")]))
def test_bands_hold_the_whole_distribution_as_often_as_they_say(p, donors):
    # with the variance of T alone: .76 for the population, 1.0 for the file
    scheme, rng, hits = (
        cm.ConditionalMasking(p, 0.7 * SD, donors=donors, decimals=0),
        np.random.default_rng(1),
        [],
    )
    for k in range(R):
        x = normal(rng)
        estimate, ordered = scheme.estimate(scheme.mask(x, rng=k)), np.sort(x)
        of_file = lambda t, x=ordered: np.searchsorted(x, t, side="right") / N  # noqa: E731
        hits.append([
            everywhere(estimate, truth, estimate.cdf_band(target=target, rng=k, **QUICK).half_width)
            for target, truth in (("population", below), ("file", of_file))
        ])  # fmt: skip

    assert (np.abs(np.mean(hits, axis=0) - 0.95) <= SLACK).all(), np.mean(hits, axis=0)


def test_one_sample_is_rejected_as_rarely_as_it_should():
    # with the covariances of V alone .15 and more
    scheme, rng, found = cm.ConditionalMasking(0.6, 0.7 * SD, decimals=0), np.random.default_rng(2), []
    for k in range(R):
        estimate = scheme.estimate(scheme.mask(normal(rng), rng=k))
        found.append(cm.compare_distributions(estimate, below, rng=k, **QUICK).pvalue)

    for level in (0.05, 0.2, 0.5):
        edge = 0.01 + 4.5 * np.sqrt(level * (1.0 - level) / R)
        assert abs(np.mean(np.array(found) <= level) - level) <= edge


@pytest.mark.slow
def test_two_samples_are_told_apart_only_where_they_differ():
    one = cm.ConditionalMasking(0.6, 0.7 * SD, decimals=0)
    other = cm.ConditionalMasking(0.4, 0.5 * SD, decimals=0, noise="laplace", donors="permutation")
    rng, same, apart = np.random.default_rng(3), [], []
    for k in range(300):
        a = one.estimate(one.mask(normal(rng), rng=k))
        for shift, found in ((0.0, same), (0.2 * SD, apart)):
            b = other.estimate(other.mask(normal(rng, N // 2, shift), rng=k))
            found.append(cm.compare_distributions(a, b, rng=k, **QUICK).pvalue)

    assert abs(np.mean(np.array(same) <= 0.1) - 0.1) <= 0.025 + 4.5 * np.sqrt(0.09 / 300)
    assert np.mean(np.array(apart) <= 0.05) > 0.7


def test_small_samples_are_compared_by_the_rearranged_t():
    scheme, rng = cm.ConditionalMasking(0.3, 0.7 * SD, decimals=0), np.random.default_rng(4)
    a, b = (scheme.estimate(scheme.mask(normal(rng, 300), rng=k)) for k in (1, 2))

    found = cm.compare_distributions(a, b, rng=1)

    at = found.at - 0.5  # between two points of the grid
    assert abs(found.difference - (a.cdf(at, monotone=True) - b.cdf(at, monotone=True))) < 1e-12
    assert found.statistic == abs(found.difference)
    assert found.about == "whether both populations have one distribution"


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("options", [{}, {"heaps": 10}, {"strata": "region"}])
def test_covariances_have_the_variances_of_the_intervals_on_their_diagonal(donors, target, options):
    rng, strata = np.random.default_rng(8), np.repeat([0, 1], 200)
    x = normal(rng, 400) + 60.0 * strata
    given = {"strata": strata} if "strata" in options else {}
    scheme = cm.ConditionalMasking(0.5, 0.7 * SD, decimals=0, donors=donors, **options)
    estimate = scheme.estimate(scheme.mask(x, rng=8, **given), **given)
    points = np.array([-40.0, 0.0, 30.0, 80.0])

    found = estimate._covariance(0, points, target)

    expected = 400 * estimate.cdf_interval(points, target=target).standard_error ** 2
    np.testing.assert_allclose(np.diag(found), expected, rtol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=0.0, atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > 0.0


def test_draws_have_the_covariance_and_need_not_be_definite():
    rng = np.random.default_rng(9)
    root = rng.standard_normal((5, 5))

    alone = process.largest(np.diag([4.0, 0.0]), 20_000, rng)
    both = process.largest(root @ root.T, 1000, rng)
    rounded = process.largest(np.diag([1.0, -1e-3]), 1000, rng)

    np.testing.assert_allclose(np.quantile(alone, 0.95), 2.0 * ndtri(0.975), rtol=0.03)  # 5 standard errors
    assert both.shape == (1000,)
    assert np.isfinite(rounded).all()


def release(p=0.6, n=300, seed=1, **options):
    scheme = cm.ConditionalMasking(p, 0.7 * SD, decimals=0, **options)
    return scheme.estimate(scheme.mask(normal(np.random.default_rng(seed), n), rng=seed))


def test_a_band_is_seeded_and_says_what_it_is():
    estimate = release()

    band, again, other = (estimate.cdf_band(rng=seed) for seed in (1, 1, 2))

    assert band.half_width == again.half_width != other.half_width
    assert estimate.cdf_band(rng=None).half_width != estimate.cdf_band(rng=None).half_width
    assert (np.diff(band.x) > 0.0).all()
    np.testing.assert_allclose(band.estimate, estimate.cdf(band.x, monotone=True), rtol=0.0, atol=0.0)
    np.testing.assert_allclose(band.low, np.maximum(band.estimate - band.half_width, 0.0))
    np.testing.assert_allclose(band.high, np.minimum(band.estimate + band.half_width, 1.0))
    assert (np.diff(band.low) >= 0.0).all()
    assert band.about == "the distribution function in the population"
    assert estimate.cdf_band(rng=1, confidence_level=0.5).half_width < band.half_width
    assert estimate.cdf_band(rng=1, target="file").half_width < band.half_width
    assert isinstance(band.half_width, float)


def test_bands_of_batches_and_summaries():
    scheme = cm.ConditionalMasking(0.6, 0.7 * SD, decimals=0)
    z = np.array([scheme.mask(normal(np.random.default_rng(k), 200), rng=k) for k in range(2)])
    summary = cm.Summary(scheme)
    summary.update(z[0])

    batch, one = scheme.estimate(z).cdf_band(rng=1), scheme.estimate(summary).cdf_band(rng=1)

    assert batch.low.shape == batch.x.shape == (2, 250)
    assert batch.half_width.shape == (2,)
    assert np.unique(batch.x[0]).tolist() == one.x.tolist()
    np.testing.assert_allclose(batch.half_width[0], one.half_width, rtol=0.2)  # draws differ


@pytest.mark.parametrize(
    "options", [{"scale": "log", "decimals": None}, {"step": 0.0, "decimals": None}, {"heaps": 10}]
)
def test_bands_and_tests_of_other_data(options):
    x = np.exp(5.0 + 0.5 * np.random.default_rng(12).standard_normal(300))
    scheme = cm.ConditionalMasking(0.6, 0.3 if "scale" in options else 60.0, **{"decimals": 0, **options})
    estimate = scheme.estimate(scheme.mask(x.round() if "heaps" in options else x, rng=1))

    band = estimate.cdf_band(rng=1, points=50, target="file")
    of_file = (x.round() if "heaps" in options else x)[:, None] <= band.x
    same = cm.compare_distributions(
        estimate, lambda t: ndtr((np.log(np.maximum(t, 1e-9)) - 5.0) / 0.5), rng=1, points=50
    )
    other = cm.compare_distributions(
        estimate, lambda t: ndtr((np.log(np.maximum(t, 1e-9)) - 5.5) / 0.5), rng=1, points=50
    )

    assert (np.abs(of_file.mean(axis=0) - band.estimate) <= 1.3 * band.half_width).all()
    assert same.pvalue > 0.001
    assert other.pvalue < 0.01
    assert other.about == "whether the population has the given distribution"


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (lambda: cm.compare_distributions(1.0, release()), TypeError, "a must be an Estimate, got float"),
        (lambda: cm.compare_distributions(release(), 1.0), TypeError, "b must be an Estimate, got float"),
        (
            lambda: cm.compare_distributions(release(), lambda t: 2.0 + 0.0 * t),
            ValueError,
            "b must give a probability for each value of an array",
        ),
        (
            lambda: cm.compare_distributions(release(), lambda t: 0.5),
            ValueError,
            "b must give a probability for each value of an array",
        ),
        (
            lambda: cm.compare_distributions(release().scheme.estimate(np.ones((2, 5))), release()),
            ValueError,
            "a must be the estimate of one column, got 2 replicates",
        ),
        (
            lambda: release().cdf_band(draws=99),
            ValueError,
            "draws must be a whole number of at least 100, got 99",
        ),
        (
            lambda: release().cdf_band(rng="x"),
            TypeError,
            "rng must be None, a whole number, a Generator or a Key, got str",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(call, exception, message):
    with pytest.raises(exception) as info:
        call()
    assert str(info.value) == message
