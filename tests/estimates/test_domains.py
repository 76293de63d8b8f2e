"""Distributions of groups and with weights: routes, notes, warnings and refusals.

Oracles: the original file, within its interval at a stated rate; `part` for whole strata; plain
NumPy on the values that reverse mapping releases.
"""

import numpy as np
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

RNG = np.random.default_rng(1)
N = 6_000
GROUP = RNG.choice(["a", "b"], N)
X = RNG.lognormal(0.0, 0.5, N) * np.where(GROUP == "a", 1.0, 1.3)
WEIGHTS = 1.0 + RNG.random(N) + (X > 1.0)
SCHEMES = {"noise": cm.ConditionalMasking(0.5, 0.2), "reverse": cm.ReverseMapping(0.5, 0.2)}


def estimated(scheme, x=X, rng=4, **strata):
    if scheme.grid is not None:
        x = scheme.grid.values(scheme.grid.units(x))
    z = scheme.mask(x, rng=rng, accept="all", **strata)
    return scheme.estimate(z, **strata)


@pytest.fixture(scope="module", params=SCHEMES)
def estimate(request):
    return estimated(SCHEMES[request.param])


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_intervals_cover_as_they_say(name):
    """200 files of 800 records: of intervals that cover 95%, fewer than 91% do in 1 of 80 series,
    a series for each scheme, statistic and target."""
    scheme = SCHEMES[name]
    rng = np.random.default_rng(11)
    many = rng.lognormal(0.0, 0.5, 400_000)
    chosen = rng.random(many.size) < 0.6 / (1.0 + np.exp(2.0 * (many - 1.0)))
    population = np.median(many[chosen]), np.mean(many[chosen] <= 0.8)
    covered = []
    for rng in map(np.random.default_rng, range(200)):
        x = rng.lognormal(0.0, 0.5, 800)
        member = rng.random(x.size) < 0.6 / (1.0 + np.exp(2.0 * (x - 1.0)))
        estimate = estimated(scheme, x, int(rng.integers(1 << 30)))
        file = np.median(x[member]), np.mean(x[member] <= 0.8)
        for target, true in (("population", population), ("file", file)):
            found = (
                estimate.group_quantiles(member, target=target)[True],
                estimate.group_cdf(member, 0.8, target=target)[True],
            )
            covered.append(
                [one.low <= value <= one.high for one, value in zip(found, true, strict=True)]
            )
    rates = np.reshape(covered, (200, 4)).mean(axis=0)

    assert np.all(rates >= 0.91)


def test_whole_strata_take_the_exact_route():
    scheme = cm.ConditionalMasking(0.5, 0.2, strata="g")
    estimate = estimated(scheme, strata=GROUP)
    part = estimate.part(GROUP == "a")

    quantiles = estimate.group_quantiles(GROUP, [0.2, 0.5])
    shares = estimate.group_cdf(GROUP, 1.0, target="file")

    assert quantiles.route.tolist() == ["part"] * 4
    expected = part.quantile_interval([0.2, 0.5])
    assert quantiles["a", 0.2].low == expected.low[0]
    assert quantiles["a", 0.5].estimate == expected.estimate[1]
    assert shares["a"][:4] == part.cdf_interval(1.0, target="file")[:4]
    both = np.where(np.arange(N) % 2, "odd", "even")
    assert set(estimate.group_cdf(both, 1.0).route) == {"basis"}


def test_groups_across_strata_are_sums_of_their_parts():
    scheme = cm.ReverseMapping(0.5, 0.2, strata="g")
    estimate = estimated(scheme, strata=GROUP)
    odd = np.arange(N) % 2 == 1
    parts = [estimate.group_cdf({"g": GROUP, "odd": odd}, 1.0)[label, True] for label in "ab"]
    shares = [np.mean(GROUP[odd] == label) for label in "ab"]

    found = estimate.group_cdf(odd, 1.0)[True]

    assert found.estimate == pytest.approx(
        sum(share * part.estimate for share, part in zip(shares, parts, strict=True))
    )
    assert abs(found.estimate - np.mean(X[odd] <= 1.0)) < 4.0 * found.standard_error


def test_weights_alike_change_nothing(estimate):
    equal = np.full(N, 2.5)

    assert estimate.weighted_cdf(equal, [0.7, 1.5]).estimate == pytest.approx(
        estimate.cdf([0.7, 1.5]), abs=1e-9
    )
    one, two = (estimate.group_quantiles(GROUP, weights=w) for w in (None, equal))
    assert np.allclose(one.estimate, two.estimate)
    assert np.allclose(one.standard_error, two.standard_error, rtol=1e-6)


def test_weights_that_depend_on_the_original_count(estimate):
    """Each interval misses in 1 of 1,000 files."""
    order = np.argsort(X)
    running = np.cumsum(WEIGHTS[order]) / WEIGHTS.sum()
    true = X[order][running.searchsorted([0.25, 0.5])]

    found = estimate.weighted_quantile(WEIGHTS, [0.25, 0.5], confidence_level=0.999)

    assert found.low.shape == (2,)
    assert np.all((found.low <= true) & (true <= found.high))
    share = float(WEIGHTS[X <= 1.0].sum() / WEIGHTS.sum())
    one = estimate.weighted_cdf(WEIGHTS, 1.0, confidence_level=0.999)
    assert one.low <= share <= one.high
    assert abs(np.mean(X <= 1.0) - share) > 3.0 * one.standard_error


def test_functions_of_the_original(estimate):
    """An interval misses in 1 of 1,000 files."""
    found = estimate.group_expectation(
        GROUP, lambda x: np.log(np.maximum(x, 0.05)), confidence_level=0.999
    )

    for label in "ab":
        true = np.log(X[label == GROUP]).mean()
        assert found[label].low <= true <= found[label].high
    below = estimate.group_expectation(GROUP, lambda x: x <= 1.0)
    shares = estimate.group_cdf(GROUP, 1.0)
    assert np.allclose(below.estimate, shares.estimate, atol=0.003)
    assert np.allclose(below.standard_error, shares.standard_error, rtol=0.02)


def test_the_whole_population_leaves_only_the_masking(estimate):
    file = estimate.group_cdf(GROUP, 1.0, target="file").standard_error
    found = estimate.group_cdf(GROUP, 1.0, population_size=N).standard_error
    half = estimate.group_cdf(GROUP, 1.0, population_size=2 * N).standard_error
    all_of_it = estimate.group_cdf(GROUP, 1.0).standard_error

    assert np.allclose(found, file)
    assert np.allclose(half**2, 0.5 * (file**2 + all_of_it**2))


def test_clusters_of_one_change_little_and_alike_ones_much(estimate):
    plain = estimate.group_cdf(GROUP, 1.0).standard_error
    single = estimate.group_cdf(GROUP, 1.0, clusters=np.arange(N)).standard_error
    rank = np.argsort(np.argsort(X)) // 60  # clusters of records that are alike

    alike = estimate.group_cdf(GROUP, 1.0, clusters=rank).standard_error

    assert np.allclose(single, plain, rtol=0.05)
    assert np.all(alike > 1.2 * plain)


def test_small_groups_have_a_note_in_place_of_an_estimate(estimate):
    labels = np.where(np.arange(N) < 8, "few", GROUP).astype(object)
    labels[8] = "alone"
    weights = np.where(labels == "few", 0.0, 1.0)

    with pytest.warns(cm.EstimateWarning, match="1 of 4 groups are worth fewer than 5 unmasked"):
        found = estimate.group_quantiles(labels)

    assert np.isnan([found["few"].estimate, found["alone"].low]).all()
    assert found["alone"].note == "one record"
    assert found["few"].note == "worth fewer than 5 unmasked records"
    assert (
        estimate.group_cdf(labels, 1.0, weights=weights)["few"].note == "no weight that is not 0"
    )


def test_a_group_that_ends_at_a_value_is_warned_of(estimate):
    with pytest.warns(cm.EstimateWarning, match="nearly end at some value"):
        found = estimate.group_quantiles(X > 1.0)

    assert found.explained.min() > 0.5


def test_missing_values_labels_weights_and_clusters_are_left_out():
    scheme = cm.ReverseMapping(0.5, 0.2)
    gaps = np.arange(N) % 10 == 0
    x = np.where(gaps, np.nan, X)
    estimate = scheme.estimate(scheme.mask(x, rng=3, nan_policy="omit"))
    labels = np.where(np.arange(N) % 7 == 0, None, GROUP)
    weights = np.where(np.arange(N) % 11 == 0, np.nan, 1.0)

    found = estimate.group_cdf(labels, 1.0, weights=weights)

    used = ~gaps & (np.arange(N) % 7 != 0) & (np.arange(N) % 11 != 0)
    assert found.records.sum() == used.sum()
    assert f"{N - used.sum()} of {N} records left out" in found.about


def taylor(values, weights, clusters):
    """The standard error of a weighted mean by linearisation, with clusters drawn anew."""
    mean = weights @ values / weights.sum()
    parts = np.bincount(clusters, weights * (values - mean) / weights.sum())
    return np.sqrt(parts.size / (parts.size - 1.0) * np.sum((parts - parts.mean()) ** 2))


def test_little_masking_leaves_linearisation_with_clusters_and_weights():
    """The Taylor linearisation is that of samplics 0.6.0, to its last digit."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(400), 10)
    x = rng.lognormal(0.0, 0.5, 4_000) * np.repeat(rng.lognormal(0.0, 0.3, 400), 10)
    weights = 1.0 + 2.0 * rng.random(4_000)
    group = rng.integers(0, 2, 4_000)
    estimate = estimated(cm.ReverseMapping(0.006, 0.005), x, 3)
    below = (x <= 1.0).astype(float)

    everyone = estimate.weighted_cdf(weights, 1.0, clusters=clusters)
    groups = estimate.group_cdf(group, 1.0, weights=weights, clusters=clusters)
    apart = estimate.group_means(group, weights=weights, clusters=clusters).difference(1, 0)

    assert everyone.standard_error == pytest.approx(taylor(below, weights, clusters), rel=0.02)
    for label in (0, 1):
        expected = taylor(below, weights * (group == label), clusters)
        assert groups[label].standard_error == pytest.approx(expected, rel=0.02)
    shares = [weights * (group == k) / weights[group == k].sum() for k in (0, 1)]
    parts = [np.bincount(clusters, share * (x - share @ x)) for share in shares]
    difference = parts[1] - parts[0]
    expected = np.sqrt(400.0 / 399.0 * np.sum((difference - difference.mean()) ** 2))
    assert apart.standard_error == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.group_quantiles(GROUP, 1.5), "q must lie strictly between 0 and 1"),
        (lambda e: e.group_quantiles(GROUP[1:]), "labels must be as long as z"),
        (lambda e: e.weighted_cdf(-WEIGHTS, 1.0), "weights must not be negative"),
        (lambda e: e.weighted_cdf(0.0 * WEIGHTS, 1.0), "weights must not all be 0"),
        (lambda e: e.group_cdf(np.full(N, None), 1.0), "labels must give at least one record"),
        (lambda e: e.group_cdf(GROUP, np.nan), "t must not be NaN"),
        (lambda e: e.group_expectation(GROUP, 3), "g must be a function"),
        (
            lambda e: e.group_cdf(GROUP, 1.0, population_size=10),
            "population_size must be at least",
        ),
        (lambda e: e.group_poverty(GROUP, 60), "share must lie strictly between 0 and 1"),
        (lambda e: e.income_statistics("gini"), "statistics must be"),
        (lambda e: e.group_quantiles(np.arange(N) < 3, target="here"), "target must be"),
        (lambda e: e.group_cdf("region", 1.0), "labels must be a column"),
    ],
)
def test_what_cannot_be_asked(ask, message, estimate):
    with pytest.raises(cm.CondmaskError, match=message):
        ask(estimate)


def test_too_much_masking_is_refused():
    scheme = cm.ConditionalMasking(0.97, 1.0)
    estimate = estimated(scheme, X[:400])

    with pytest.raises(ValueError, match="masking leaves too little to tell it"):
        estimate.group_quantiles(GROUP[:400])


def test_counts_and_added_noise_have_no_groups():
    added = cm.ConditionalMasking(0.5, 0.25, decimals=2)
    counts = cm.Counts(added)
    counts.update(added.mask(np.round(X, 2), rng=1, accept="all"))

    with pytest.raises(ValueError, match="Counts, which keep no records"):
        added.estimate(counts).group_quantiles(GROUP)


def test_a_batch_has_a_leading_axis():
    scheme = cm.ReverseMapping(0.5, 0.2)
    rows = np.array([scheme.mask(X, rng=k) for k in (1, 2)])

    found = scheme.estimate(rows).group_quantiles(GROUP)

    assert found.estimate.shape == (2, 2)
    with pytest.raises(ValueError, match="covariances are known"):
        found.difference("a", "b")
