"""Differences, ratios, contrasts and tests of estimates, and regressions.

Oracles: the regression on a dummy, which is the difference of two means; simulation of maskings
and of files; the rule of Zou and Donner written out.
"""

import pickle

import numpy as np
import pytest

import condmask as cm
from condmask.inference.interval import TARGETS

pytestmark = pytest.mark.usefixtures("unaudited")

N = 1_200
RNG = np.random.default_rng(1)
MEMBER = RNG.random(N) < 0.4
X = np.round(RNG.normal(10.0 + MEMBER, 2.0), 3)
AGE = RNG.uniform(20.0, 60.0, N)
CLUSTERS = np.arange(N) // 5
SCHEMES = {
    "permutation": cm.ConditionalMasking(0.5, 1.0, decimals=3),
    "sample": cm.ConditionalMasking(0.5, 1.0, decimals=3, donors="sample"),
    "reverse": cm.ReverseMapping(0.5, 1.0),
}


def estimated(scheme, x=X, rng=3):
    return scheme.estimate(scheme.mask(x, rng=rng, accept="all"))


@pytest.fixture(scope="module", params=SCHEMES)
def estimate(request):
    return estimated(SCHEMES[request.param])


def test_a_difference_of_means_is_the_coefficient_of_a_dummy(estimate):
    means = estimate.group_means(MEMBER)
    coefficient = estimate.regress({"member": MEMBER})["member"]

    found = means.difference(True, False)

    assert found.estimate == pytest.approx(coefficient.estimate)
    assert found.standard_error == pytest.approx(coefficient.standard_error, rel=0.01)
    tested = means.test(True, False)
    assert tested.statistic == pytest.approx(found.estimate / found.standard_error)
    assert MEMBER.sum() - 1 < tested.degrees < N
    assert (tested.pvalue < 0.05) == (not found.low < 0.0 < found.high)


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("options", [{}, {"weights": 1.0 + AGE}, {"clusters": CLUSTERS}])
def test_covariances_have_the_squared_errors_on_their_diagonal(options, target, estimate):
    if target == "file" and "clusters" in options:
        return
    labels = {"member": MEMBER, "old": AGE > 40.0}

    found = estimate.group_means(labels, target=target, **options)

    matrix = found.covariance.to_numpy()
    assert np.allclose(np.sqrt(np.diag(matrix)), found.standard_error)
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9
    assert list(found.covariance.columns) == list(found)
    direct = np.sqrt(np.diag(found.joint(range(4))))
    assert np.allclose(direct, found.standard_error, rtol=0.15 if "clusters" in options else 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_means_of_groups_vary_together_as_over_maskings(name):
    """1,000 maskings of one file: a covariance is known to .05 of the product of errors."""
    found = [
        estimated(SCHEMES[name], rng=rng).group_means(MEMBER, target="file")
        for rng in range(1, 1_001)
    ]
    estimates = np.array([each.estimate for each in found])
    error = estimates.std(axis=0)
    correlation = np.corrcoef(estimates.T)[0, 1]

    stated = np.mean([each.joint([0, 1]) for each in found[:50]], axis=0)

    assert stated[0, 1] / error.prod() == pytest.approx(correlation, abs=0.1)
    assert correlation < -0.1
    difference = np.diff(estimates, axis=1).std()
    errors = [each.difference(True, False).standard_error for each in found[:50]]
    assert np.mean(errors) == pytest.approx(difference, rel=0.09)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_differences_cover_as_they_say(name):
    """400 files: fewer than 91.5% of intervals that cover 95% do in 1 of 500 series, and more than
    98% in 1 of 1,000; two combined errors are too short or too long here."""
    covered = []
    for seed in range(400):
        rng = np.random.default_rng([7, seed])
        member = rng.random(400) < 0.5
        x = np.round(rng.normal(10.0 + member, 2.0), 3)
        means = estimated(SCHEMES[name], x, seed + 1).group_means(member)
        apart = means.difference(True, False)
        covered.append(apart.low < 1.0 < apart.high)

    assert 0.915 <= np.mean(covered) <= 0.98


def test_contrasts_and_ratios(estimate):
    found = estimate.group_means(AGE // 10)
    a, b, c = list(found)[:3]
    matrix = found.joint([0, 1, 2])
    factors = np.array([0.5, 0.5, -1.0])

    contrast = found.contrast({a: 0.5, b: 0.5, c: -1.0})

    assert contrast.estimate == pytest.approx(factors @ found.estimate[:3])
    assert contrast.standard_error == pytest.approx(np.sqrt(factors @ matrix @ factors), rel=0.01)
    ratio = found.ratio(a, b)
    assert ratio.estimate == pytest.approx(found[a].estimate / found[b].estimate)
    assert ratio.low * ratio.high == pytest.approx(ratio.estimate**2)
    step = 1e-6
    gradient = np.array([1.0, -ratio.estimate]) / found[b].estimate
    assert step < ratio.standard_error
    assert ratio.standard_error == pytest.approx(
        np.sqrt(gradient @ matrix[:2, :2] @ gradient), rel=0.01
    )


@pytest.mark.parametrize("target", ["population", "file"])
def test_a_comparison_names_its_target_once(target, estimate):
    found = estimate.group_means(AGE < 40.0, target=target)
    text = str(found.difference(True, False))

    assert text.count(TARGETS[target]) == 1
    assert "True less False" in text


def test_quantiles_are_compared_by_the_ends_of_their_intervals():
    found = estimated(SCHEMES["reverse"]).group_quantiles(MEMBER, 0.25)
    one, two = found[True], found[False]
    r = found.covariance.to_numpy()[0, 1] / found.standard_error.prod()
    assert -1.0 < r < 0.0
    down, up = one.estimate - one.low, two.high - two.estimate

    apart = found.difference(True, False)

    assert apart.estimate == one.estimate - two.estimate
    low = apart.estimate - np.sqrt(down**2 + up**2 - 2.0 * r * down * up)
    assert apart.low == pytest.approx(low)


def test_results_that_travel_keep_their_covariances(estimate):
    found = estimate.group_means(MEMBER)

    copied = pickle.loads(pickle.dumps(found))

    assert copied.difference(True, False) == found.difference(True, False)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.group_means(MEMBER).difference(True, "x"), "a name must be one of"),
        (lambda e: e.group_means(MEMBER).contrast({}), "factors must be a dict"),
        (lambda e: e.summary([0.5]).test("mean", "s.d."), "covariances are known for group_means"),
        (lambda e: e.group_means(MEMBER).ratio(True, None), "a name must be one of"),
        (
            lambda e: e.regress({"age": AGE - 40.0}).ratio("intercept", "age"),
            "must be estimated above 0",
        ),
        (lambda e: e.regress({"age": AGE}).predict({"size": AGE}), "W must have the columns"),
    ],
)
def test_what_cannot_be_compared(ask, message, estimate):
    with pytest.raises(ValueError, match=message):
        ask(estimate)


def test_a_regression_has_what_follows_from_its_covariances(estimate):
    found = estimate.regress({"member": MEMBER, "age": AGE})
    at = np.array([[1.0, 0.0, 30.0], [1.0, 1.0, 50.0]])

    predicted = found.predict({"age": [30.0, 50.0], "member": [0, 1]})

    assert np.allclose(predicted.estimate, at @ found.estimate)
    matrix = found.covariance.to_numpy()
    assert np.allclose(predicted.standard_error**2, np.einsum("ij,jk,ik->i", at, matrix, at))
    assert found.coefficients["age"] == found["age"].estimate
    for name, value in found.pvalues.items():
        assert (value < 0.05) == (not found[name].low < 0.0 < found[name].high)
    lines = found.summary().splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["intercept", "member", "age"]
    assert lines[-1] == f"{N} records, {N - 3} degrees of freedom"
    shifted = estimate.regress({"member": MEMBER, "age": AGE - 30.0})
    assert predicted.standard_error[0] == pytest.approx(shifted["intercept"].standard_error)
