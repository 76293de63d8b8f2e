"""Predicted errors of moments against exact laws and against releases drawn in plain NumPy."""

import itertools

import numpy as np
import pytest

import condmask as cm
from condmask.planning import predicted_moments

LAW = cm.ConditionalMasking(0.6, 1.0).law  # on steps of a thousandth: 1e-7 of the noise's variance


def predicted(x, w, p=0.6, sigma=1.0, n=None, *, shared_donors=True):
    law = LAW._replace(p=p, sigma=sigma)
    found = predicted_moments.moments(x, w)
    return predicted_moments.errors(found, law, x.size if n is None else n, shared_donors=shared_donors)


def covariance_kept(n, p):
    """By what masking multiplies a covariance in expectation: every record, swapped or kept, every donor."""
    stream = np.random.default_rng(1)
    x, w = stream.normal(size=(2, n))
    total = 0.0
    for i, j in itertools.product(range(n), range(n)):
        chance = 1.0 - p if i == j else p / (n - 1)
        total += chance * x[j] * (w[i] - w.mean())
    return total / np.sum(x * (w - w.mean()))


@pytest.mark.parametrize("n", [4, 12, 100])
@pytest.mark.parametrize("p", [0.2, 0.6, 0.9])
def test_the_error_of_a_correlation_allows_for_donors_being_other_records(n, p):
    """A swapped record never takes its own value, so small files keep less than 1 - p of a covariance."""
    x, w = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 1.0, -1.0, 1.0])  # uncorrelated
    left = covariance_kept(n, p)
    assert left == pytest.approx((1.0 - p) - p / (n - 1), rel=1e-9)

    found = predicted(x, w, p, n=n)["correlation"]

    # the estimate is the mean of Z W over what is left: Var = E Z^2 - ((1 - p) x)^2 = 1 + (1 - p) - (1 - p)^2
    exact = (1.0 + (1.0 - p) - (1.0 - p) ** 2) / left**2
    assert found.file == pytest.approx(exact, rel=1e-6)
    assert found.population == pytest.approx(exact + 1.0, rel=1e-6)
    assert found.unmasked == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("p", [0.3, 0.6])
def test_the_error_of_a_mean_has_a_closed_form_with_either_donors(p):
    x = np.random.default_rng(2).gamma(2.0, size=500)
    sigma, variance = 0.7, x.var()

    shared = predicted(x, None, p, sigma)["mean"]
    cycle = predicted(x, None, p, sigma, shared_donors=False)["mean"]

    # donors drawn anew: variance of Z less that of E[Z | file]
    assert shared.file == pytest.approx(variance + (1 - p) * sigma**2 - (1 - p) ** 2 * variance, rel=1e-6)
    # along a cycle all values are in the release once, or with noise, which is all that varies
    assert cycle.file == pytest.approx((1 - p) * sigma**2, rel=1e-6)
    for found in (shared, cycle):
        assert found.population == pytest.approx(found.file + variance, rel=1e-9)


def drawn_along_a_cycle(x, w, p, sigma, releases, seed):
    """Estimates of mean, s.d. and correlation from releases with permuted donors, by their definitions."""
    stream, n, found = np.random.default_rng(seed), x.size, []
    for _ in range(releases):
        swapped = np.flatnonzero(stream.random(n) < p)
        around = stream.permutation(swapped)
        z = x + sigma * stream.normal(size=n)
        z[around] = x[np.roll(around, 1)]
        mean, square = z.mean(), np.mean(z * z) - (1.0 - p) * sigma**2
        size = np.sqrt(square - mean**2)
        covariance = np.mean((z - mean) * (w - w.mean())) / ((1.0 - p) - p / (n - 1))
        found.append([mean, size, covariance / (size * w.std())])
    return np.array(found)


def test_along_a_cycle_errors_are_those_of_releases_where_few_records_are_large_in_both_columns():
    """There the correlation's two margins, squares of x and of w, vary together: a fifth of its error."""
    stream, n, p, sigma = np.random.default_rng(3), 3_000, 0.2, 0.1
    x = stream.choice([-1.0, 0.0, 1.0], n, p=[0.03, 0.94, 0.03])
    w = x + 0.02 * stream.normal(size=n)
    found = predicted(x, w, p, sigma, shared_donors=False)
    simulated = drawn_along_a_cycle(x, w, p, sigma, 2_000, 4).std(axis=0)

    errors = np.sqrt([found[name].file / n for name in ("mean", "std", "correlation")])

    # 2,000 releases know a s.d. to 1.6%: four of these, an alarm in 6e-5 a figure
    assert errors == pytest.approx(simulated, rel=0.065)
