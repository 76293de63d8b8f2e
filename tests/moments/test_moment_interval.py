"""Influence functions and intervals of moments. Oracles: closed forms, laws of released records in full."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from scipy.special import ndtri

import condmask as cm
from condmask.moments.influence import of_moment


def moment(values, weights, order, *, about):
    middle = values @ weights if about is None else -about
    return (values - middle) ** order @ weights


@pytest.mark.parametrize("about", [None, 0.0, 0.8])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_influence_of_a_record_is_how_much_a_moment_rises_with_its_weight(order, about):
    x, even = np.array([-1.0, 0.2, 0.5, 1.7]), np.full(4, 0.25)
    means = np.array([np.mean(x**k) for k in range(order + 1)])
    step, slopes = 1e-6, []
    for own in np.eye(4):
        high, low = (moment(x, even + side * step * (own - even), order, about=about) for side in (1.0, -1.0))
        slopes.append((high - low) / (2.0 * step))

    found = of_moment(means, order, about, np.eye(1, order + 1)[0], 0.5).h[0, :, 0]

    # central differences: step^2 times third derivatives below 10^3
    assert polyval(x, found) == pytest.approx(np.array(slopes), abs=1e-8)


@pytest.mark.parametrize("target", ["population", "file"])
def test_the_mean_has_the_variance_of_its_formula(target):
    z = np.random.default_rng(6).normal(0.0, 3.0, 400).round(2)
    for donors in ("sample", "permutation"):
        estimate = cm.ConditionalMasking(0.4, 1.0, donors=donors, decimals=2).estimate(z)
        scatter, spread = z.var(), estimate.moment(2, central=True)
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
    p, z = 0.4, np.random.default_rng(7).normal(0.0, 3.0, 400).round(2)
    estimate = cm.ConditionalMasking(p, 1.0, donors=donors, decimals=2).estimate(z)
    m2, m4 = estimate.moment(2, central=True), estimate.moment(4, central=True)
    h = m4 - m2**2
    file = ((z - z.mean()) ** 2).var() - ((1 - p) ** 2 if donors == "sample" else 1.0) * h
    expected = np.sqrt((file + (h if target == "population" else 0.0)) / 400)

    found, root = estimate.variance_interval(target=target), estimate.std_interval(target=target)

    np.testing.assert_allclose(found.standard_error, expected, rtol=1e-9)
    np.testing.assert_allclose(
        estimate.moment_interval(2, central=True, target=target).standard_error, expected, rtol=1e-9
    )
    factor = np.exp(ndtri(0.975) * expected / estimate.variance())
    np.testing.assert_allclose([found.low * factor, found.high / factor], estimate.variance(), rtol=1e-9)
    np.testing.assert_allclose(root[:2], np.sqrt(found[:2]), rtol=1e-12)
    np.testing.assert_allclose(root.standard_error, expected / (2.0 * estimate.std()), rtol=1e-9)


def test_a_variance_estimated_negative_has_an_interval_from_zero():
    estimate = cm.ConditionalMasking(0.5, 10.0, decimals=0).estimate([1.0, 2.0, 3.0, 2.0])

    found, root = estimate.variance_interval(), estimate.std_interval()

    assert estimate.variance() < 0.0
    assert found.low == 0.0
    assert found.high == max(0.0, estimate.variance() + ndtri(0.975) * found.standard_error)
    assert (root.low, root.high) == (0.0, np.sqrt(found.high))
    assert np.isnan([root.estimate, root.standard_error]).all()


def test_moments_too_large_for_a_number_are_infinite_and_so_are_their_intervals():
    z = np.random.default_rng(6).normal(0.0, 1e200, 400)
    estimate = cm.ConditionalMasking(0.4, 1e200, step=0.0).estimate(z)

    found = estimate.moment_interval(2)

    assert estimate.variance() == estimate.moment(2) == np.inf
    assert found.standard_error == np.inf
    assert estimate.std() == pytest.approx(np.sqrt((z / 1e200).var(ddof=1) - 0.6) * 1e200, rel=1e-12)
    assert estimate.std_interval().low < estimate.std() < estimate.std_interval().high < np.inf


def test_released_values_of_reverse_mapping_are_those_of_the_file():
    z = np.random.default_rng(6).gamma(1.0, size=400)
    estimate = cm.ConditionalMasking(0.4, 1.0, reverse_mapping=True).estimate(z)

    assert estimate.mean() == pytest.approx(z.mean(), rel=1e-14)
    assert estimate.std() == pytest.approx(z.std(ddof=1), rel=1e-13)
    for ask in (estimate.mean_interval, estimate.std_interval):
        found = ask(target="file")
        assert (found.low, found.high, found.standard_error) == (found.estimate, found.estimate, 0.0)
    assert estimate.mean_interval().standard_error == pytest.approx(z.std() / 20.0, rel=1e-12)
