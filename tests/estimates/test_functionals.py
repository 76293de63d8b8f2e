"""Means of functions, moments, Gini and Lorenz, and their intervals.

Coverage as in test_distribution_intervals.py: within 4.5 standard errors of the count, and `slack` for what
the normal approximation leaves at this n, of .95. Fewer than 100 looks, a false alarm in 7 of 10^6 each.
"""

import numpy as np
import pytest
from marks import rest_long
from releases import masked_rows
from scipy.special import ndtr, ndtri

import condmask as cm

R, N, S = 500, 2000, 0.6  # lognormal data
MEAN = np.exp(S**2 / 2)
LINE, FLOOR = 0.6, 0.05

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def gap(x):
    return np.maximum(LINE - x, 0.0) / LINE


def gini(x):
    x = np.sort(x)
    return (2.0 * np.arange(1, x.size + 1) - x.size - 1) @ x / (x.size * (x.size - 1) * x.mean())


def lorenz(x, q):
    return np.sort(x)[: round(q * x.size)].sum() / x.sum()


MANY = np.exp(S * ndtri((np.arange(200_000) + 0.5) / 200_000))  # the law without sampling error
# what is asked, its value in the population, and in a file
ASKED = {
    "gap": (lambda e, **o: e.expectation_interval(gap, **o), gap(MANY).mean(), lambda x: gap(x).mean()),
    "log": (
        lambda e, **o: e.expectation_interval(np.log, floor=FLOOR, **o),
        np.log(np.maximum(MANY, FLOOR)).mean(),
        lambda x: np.log(np.maximum(x, FLOOR)).mean(),
    ),
    "mean": (lambda e, **o: e.mean_interval(**o), MEAN, np.mean),
    "variance": (
        lambda e, **o: e.variance_interval(**o),
        np.expm1(S**2) * MEAN**2,
        lambda x: x.var(ddof=1),
    ),
    "second": (lambda e, **o: e.moment_interval(2, **o), np.exp(2 * S**2), lambda x: np.mean(x**2)),
    "gini": (lambda e, **o: e.gini_interval(**o), 2.0 * ndtr(S / np.sqrt(2.0)) - 1.0, gini),
    "lorenz": (lambda e, **o: e.lorenz_interval(0.3, **o), ndtr(ndtri(0.3) - S), lambda x: lorenz(x, 0.3)),
}


def coverage(scheme, draw, names, seed, count=R, strata=None):
    """Shares of intervals that cover, by what is asked and target."""
    rng, hits, given = np.random.default_rng(seed), {}, {} if strata is None else {"strata": strata}
    files = np.array([draw(rng) for _ in range(count)])
    for x, z in zip(files, masked_rows(scheme, files, rng, strata), strict=True):
        estimate = scheme.estimate(z, **given)
        for name in names:
            ask, population, of_file = ASKED[name]
            for target, truth in (("population", population), ("file", of_file(x))):
                found = ask(estimate, target=target)
                hits.setdefault((name, target), []).append(found.low <= truth <= found.high)
    return {key: float(np.mean(each)) for key, each in hits.items()}


def near(found, count=R, slack=0.012):
    return {
        key: share
        for key, share in found.items()
        if abs(share - 0.95) > slack + 4.5 * np.sqrt(0.0475 / count)
    }


def amounts(step):
    return lambda rng: step * np.rint(np.exp(S * rng.standard_normal(N)) / step)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "donors"), rest_long([(0.3, "sample"), (0.6, "permutation")]))
def test_intervals_cover_as_often_as_they_say(p, donors):
    # without D, V alone: the file's mean .99; for a permutation with D in place of Var h, .87
    scheme = cm.ConditionalMasking(p, 0.45, donors=donors, step=1 / 128)

    found = coverage(scheme, amounts(1 / 128), list(ASKED), seed=1)

    # heavy tails cost the variance 2%
    assert near({key: share for key, share in found.items() if key[0] != "variance"}) == {}
    assert near({key: share for key, share in found.items() if key[0] == "variance"}, slack=0.025) == {}


OPTIONS = [
    {},
    {"noise": "laplace"},
    {"decimals": 0},
    {"donors": "permutation", "decimals": -1},
]


def release(p=0.45, n=500, sigma=80.0, seed=5, **options):
    x = np.exp(5.0 + 0.5 * np.random.default_rng(seed).standard_normal(n))
    if "decimals" in options:
        x = np.round(x, options["decimals"])
    scheme = cm.ConditionalMasking(p, sigma, **options)
    return scheme.estimate(scheme.mask(x, rng=seed))


@pytest.mark.parametrize("options", OPTIONS)
def test_powers_give_moments_and_steps_the_distribution_function(options):
    # two routes: Fourier transforms of the grid, and the recursion of Theorem 2.1 with exact sums
    estimate = release(**options)

    for order in (1, 2, 3):
        found = estimate.expectation_interval(lambda x, k=order: x**k, target="file")
        expected = estimate.moment_interval(order, target="file")
        np.testing.assert_allclose(found.estimate, estimate.moment(order), rtol=1e-11)
        np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-8)
    for target in ("population", "file"):
        found = estimate.expectation_interval(lambda x: x <= 150.0, target=target)
        expected = estimate.cdf_interval(150.0, target=target)
        np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-11)
        np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-3)


def unmasked(x):
    """The estimate from values that swapping by a permutation leaves as they are, together."""
    return cm.ConditionalMasking(1.0 - 1e-9, 1e-3 * 60, donors="permutation", decimals=2).estimate(x)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("central", [True, False])
def test_moments_without_masking_have_the_errors_of_the_file_as_a_sample(order, central):
    # the same: a central moment is about the mean of the same records
    x = np.round(np.exp(np.random.default_rng(8).standard_normal(60)), 2)

    def moment(weights):
        share = weights / weights.sum()
        return share @ (x - central * (share @ x)) ** order

    small = 1e-5 * np.eye(60)
    slopes = np.array([(moment(1.0 + each) - moment(1.0 - each)) / 2e-5 for each in small])

    found = unmasked(x).moment_interval(order, central=central)

    np.testing.assert_allclose(found.estimate, moment(np.ones(60)), rtol=1e-6)
    np.testing.assert_allclose(found.standard_error, np.sqrt((slopes**2).sum()), rtol=1e-5)


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("order", [3, 4])
def test_central_moments_have_the_errors_of_what_is_linear_in_them(order, target):
    # two routes: the recursion of Theorem 2.1, and the mean of (x-m)^k - k m_(k-1) (x-m) by a transform
    estimate = release(decimals=0)
    m, about = estimate.mean(), estimate.moment(order - 1, central=True)

    found = estimate.moment_interval(order, central=True, target=target)

    linear = estimate.expectation_interval(
        lambda x: (x - m) ** order - order * about * (x - m), target=target
    )
    np.testing.assert_allclose(found.standard_error, linear.standard_error, rtol=1e-6)


def test_median_and_interquartile_range_are_quantiles():
    estimate = release(p=0.6)
    first, median, third = estimate.quantile([0.25, 0.5, 0.75])

    assert estimate.median() == median
    assert estimate.interquartile_range() == third - first
    assert estimate.median_interval() == estimate.quantile_interval(0.5)


def test_batches_and_summaries_serve():
    scheme = cm.ConditionalMasking(0.6, 60.0, decimals=0)
    x = np.exp(5.0 + 0.5 * np.random.default_rng(9).standard_normal((3, 200))).round()
    z = np.array([scheme.mask(row, rng=k) for k, row in enumerate(x)])
    counts = cm.Counts(scheme)
    counts.update(z[1])
    batch, one = scheme.estimate(z), scheme.estimate(counts)

    for ask in (
        lambda e: e.expectation_interval(gap),
        lambda e: e.mean_interval(),
        lambda e: e.std_interval(),
        lambda e: e.variance_interval(),
        lambda e: e.moment_interval(3, central=True),
        lambda e: e.gini_interval(),
        lambda e: e.lorenz_interval([[0.2, 0.5]]),
    ):
        found, alone = ask(batch), ask(one)
        assert np.shape(found.low) == (3, *np.shape(alone.low))
        assert np.array_equal(found.low[1], alone.low)
    for name in ("median", "interquartile_range", "gini"):
        assert getattr(batch, name)()[1] == getattr(one, name)()
    assert batch.expectation(gap)[1] == one.expectation(gap)
    assert batch.lorenz([0.2, 0.5])[1].tolist() == one.lorenz([0.2, 0.5]).tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: release(sigma=10.0, decimals=-1, seed=6).expectation(np.log),
            "g must be finite wherever the estimated distribution has mass, beyond the data too, got -inf at "
            "0; floor= replaces all smaller values",
        ),
        (
            lambda: release(sigma=40.0).expectation(lambda x: np.exp(x / 20.0)),
            "g must grow more slowly beyond the data: it (for intervals its square) is too large where the "
            "estimated distribution has almost no mass, so its mean is not known; use moment for powers",
        ),
        (
            lambda: cm.ConditionalMasking(0.6, 1.0, decimals=0).estimate([-1.0, -5.0]).gini(),
            "the mean must be estimated positive for shares of the total, got -3",
        ),
        (lambda: release().lorenz(1.0), "q must lie strictly between 0 and 1, got 1.0"),
        (
            lambda: cm.AdditiveNoise(1.0).estimate([1.0, 2.0]).mean_interval(),
            "intervals are available only for conditionally masked values, got values with added noise, "
            "whose distribution can only be estimated smoothed",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(call, message):
    with pytest.raises(ValueError) as info:  # noqa: PT011 (the whole message is compared)
        call()
    assert str(info.value) == message


@pytest.mark.parametrize("call", ["expectation", "expectation_interval"])
def test_a_function_must_give_a_number_for_each_value(call):
    ask = getattr(release(n=20), call)

    with pytest.raises(TypeError, match=r"^g must be a function of an array of values, got float$"):
        ask(1.0)
    with pytest.raises(
        TypeError, match=r"^g must give numbers, one for each value, got float64 of shape \(\) for "
    ):
        ask(np.mean)


# --- within what can be -------------------------------------------------------------------------------------
