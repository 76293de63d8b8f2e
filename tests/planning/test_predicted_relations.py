"""Errors of statistics with a column in clear, against releases drawn by plain NumPy."""

import numpy as np
import pytest

import condmask as cm
from condmask.planning import predicted_relations

N = 1_000
STREAM = np.random.default_rng(5)
W = STREAM.normal(size=N)
X = np.exp(6.0 + 0.5 * (0.6 * W + 0.8 * STREAM.normal(size=N)))


def statistics(values, x, w):
    """Correlation with the s.d. of x known, slope on w, difference of halves of pseudo-values."""
    u, above = w - w.mean(), w > np.median(w)
    covariance = np.mean(values * u)
    halves = values[above].mean() - values[~above].mean()
    return covariance / (x.std() * w.std()), covariance / w.var(), halves


def released(x, p, sigma, stream):
    """Reverse mapping in plain NumPy."""
    swapped = stream.random(x.size) < p
    kept = np.flatnonzero(~swapped)
    z = x.copy()
    z[kept[np.argsort(x[kept] + stream.normal(0.0, sigma, kept.size))]] = np.sort(x[kept])
    z[swapped] = stream.permutation(x[swapped])
    return z


@pytest.mark.parametrize(("p", "sigma"), [(0.6, 100.0), (0.2, 250.0)])
def test_by_reverse_mapping_errors_are_those_of_releases(p, sigma):
    scheme = cm.ConditionalMasking(p, sigma, reverse_mapping=True)
    order = np.argsort(X)
    v = predicted_relations.rearranged(X[order], scheme)
    found = predicted_relations.errors(predicted_relations.pair(X[order], W[order]), v)

    # the values are the same in each release, so that what undoes them is
    z = released(X, p, sigma, STREAM)
    undone = dict(zip(z.tolist(), scheme.estimate(z).pseudo_values().tolist(), strict=True))
    drawn = [
        statistics(np.array([undone[value] for value in released(X, p, sigma, STREAM).tolist()]), X, W)
        for _ in range(1_000)
    ]
    predicted = [np.sqrt(found[name].file / N) for name in predicted_relations.NAMES]
    ratio = np.array(predicted) / np.std(drawn, axis=0)
    # 1,000 releases know the s.d. to 2.2%; draws that depend on each other make them smaller by up to a tenth
    assert (ratio > 0.94).all()
    assert (ratio < 1.17).all()


@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_of_added_noise_errors_are_those_of_releases(donors):
    scheme = cm.ConditionalMasking(0.6, 200.0, donors=donors)
    found = predicted_relations.errors(
        predicted_relations.pair(X, W), predicted_relations.added(X, scheme.law)
    )

    stream = np.random.default_rng(7)
    z = scheme.mask_rows(np.tile(X, (1_500, 1)), stream, ())
    f = 0.4 - 0.6 / (N - 1)
    drawn = np.array([statistics(row / f, X, W) for row in z])
    predicted = [np.sqrt(found[name].file / N) for name in predicted_relations.NAMES]
    assert predicted == pytest.approx(drawn.std(axis=0), rel=0.06)  # known to 1.8%


def test_weights_are_those_of_the_statistics():
    own = predicted_relations.pair(X, W)

    assert own.weights @ X / N == pytest.approx(statistics(X, X, W), rel=1e-12)
    assert own.weights.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-7)


def test_errors_without_masking_are_those_of_samples():
    own = predicted_relations.pair(X, W)
    rows = np.random.default_rng(8).integers(0, N, (4_000, N))
    # of samples drawn from the file, each with its own standard deviations and halves
    x, w = X[rows], W[rows]
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(x[:1_000], w[:1_000], strict=True)]
    about = w - w.mean(axis=1, keepdims=True)
    slope = (about * x).sum(axis=1) / (about**2).sum(axis=1)
    above = w > np.median(W)
    halves = (x * above).sum(1) / above.sum(1) - (x * ~above).sum(1) / (~above).sum(1)
    found = [np.std(each) * np.sqrt(N) for each in (correlation, slope, halves)]
    assert np.sqrt(own.unmasked) == pytest.approx(found, rel=0.07)


def test_what_the_estimators_refuse_has_no_error_that_is_finite():
    far = np.sort(np.random.default_rng(9).normal(size=60))
    scheme = cm.ConditionalMasking(0.5, 30.0, reverse_mapping=True)
    assert np.isinf(predicted_relations.rearranged(far, scheme)).all()
    wide = cm.ConditionalMasking(0.5, 1e8, reverse_mapping=True)
    assert np.isfinite(predicted_relations.rearranged(1e9 * far, wide)).all()


@pytest.mark.parametrize("shares", [0.3, 0.5, 0.7])
def test_halves_of_two_groups_are_the_groups(shares):
    w = (np.arange(10) < 10 * shares).astype(float)
    assert (w > predicted_relations.split(w)).tolist() == w.astype(bool).tolist()


def test_a_half_without_records_has_no_difference():
    x, w = np.array([[1.0, 2.0, 6.0], [1.0, 2.0, 6.0]]), np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])

    found = predicted_relations.differences(x, w, 0.5)

    assert found[0] == 3.0
    assert np.isnan(found[1])


def test_a_pseudo_value_of_the_mean_varies_by_its_donors_and_by_noise():
    x, law = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]), cm.ConditionalMasking(0.4, 2.0, step=0.0).law

    found = predicted_relations.added(x, law)[2]

    # four others, of which each is the donor as often; what they leave of a covariance divides
    donors = np.mean(x[[0, 1, 3, 4]] ** 2)
    assert found == pytest.approx((0.4 * donors + 0.6 * 4.0) / (0.6 - 0.4 / 4) ** 2)
