"""T at many points together, as a Gaussian process.

Oracles: covariances of T over many releases made by eq. (1) and its weights from their defining equation
(tests/reference.py); the Brownian bridge and Kolmogorov's law where masking changes nothing; and the normal
law in two dimensions. Every test has a fixed seed; false alarms are stated where a test is statistical.
"""

import numpy as np
import pytest
import reference
from scipy.special import ndtri
from scipy.stats import kstest, kstwobign, multivariate_normal

import condmask as cm
from condmask.inference import process

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]

SD, SIGMA, N, R = 8.0, 5.6, 300, 4000  # in steps; records, and releases
POINTS = np.array([-9.0, -3.0, 0.0, 1.0, 7.0])


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize(("p", "donors"), [(0.6, "sample"), (0.3, "sample"), (0.5, "permutation")])
def test_the_covariance_is_that_of_many_releases(p, donors, noise):
    # without what donors have in common it would be larger by 6 to 17%, where it is known to 2%
    rng = np.random.default_rng(1)
    x = np.rint(SD * rng.standard_normal((R, N)))
    z = reference.releases(rng, x, p, SIGMA, donors, noise)
    t = reference.cdfs(z, POINTS, noise, p, 1.0 / SIGMA)
    of_file = (x[:, None, :] <= POINTS[:, None]).mean(axis=2)
    scheme = cm.ConditionalMasking(p, SIGMA, donors=donors, noise=noise, decimals=0)
    estimates = [scheme.estimate(row) for row in z[:60]]

    for target, apart in (("population", t), ("file", t - of_file)):
        seen = N * np.cov(apart.T)
        found = [each._covariance(POINTS, target) for each in estimates]
        error, size = np.std(found, axis=0) / np.sqrt(len(found)), np.sqrt(np.outer(*[np.diag(seen)] * 2))
        slack = 4.5 * np.sqrt(error**2 + 2.0 * size**2 / R) + 3.0 / N * size
        assert (np.abs(np.mean(found, axis=0) - seen) <= slack).all()


def test_without_masking_the_covariance_is_that_of_the_bridge():
    # values that a permutation leaves as they are, together; min(s, t) - s t of the shares up to two points
    x = np.round(np.random.default_rng(3).gamma(2.0, 10.0, 500), 2)
    estimate = cm.ConditionalMasking(1.0 - 1e-9, 1e-3 * 60, donors="permutation", decimals=2).estimate(x)
    points = np.quantile(x, [0.1, 0.5, 0.5, 0.8])
    shares = [(x <= t).mean() for t in points]

    found = estimate._covariance(points, "population")

    bridge = [[min(s, t) - s * t for t in shares] for s in shares]
    np.testing.assert_allclose(found, bridge, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(estimate._covariance(points, "file"), 0.0, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("shape", [(4, 100_000), (3, 133_333)])
def test_deviates_are_normal_and_independent(shape):
    # a false alarm in 1 of 1000 of the law, and in 7 of 10^6 of a correlation
    drawn = process._normal(np.random.default_rng(9), *shape)

    assert drawn.shape == shape
    flat = drawn.ravel().astype(float)
    assert kstest(flat, "norm").pvalue > 1e-3
    half = (flat.size + 1) // 2
    for apart in (1, half):  # neighbours, and those that share a radius
        for power in (1, 2):
            r = np.corrcoef(flat[:-apart] ** power, flat[apart:] ** power)[0, 1]
            assert abs(r) < 4.5 / np.sqrt(flat.size - apart)


def test_deviates_are_finite_whatever_the_words():
    class Ends:
        def integers(self, low, high, size, **_):
            return np.resize(np.array([low, high], dtype=np.uint64), size)

    drawn = process._normal(Ends(), 2, 4)

    assert np.isfinite(drawn).all()
    assert np.abs(drawn).max() == pytest.approx(np.sqrt(66.0 * np.log(2.0)))


@pytest.mark.parametrize("at_once", [1, 700, 1 << 15])
def test_draws_are_as_many_as_asked_for_and_none_twice(at_once, monkeypatch):
    monkeypatch.setattr(process, "AT_ONCE", at_once)

    draws = process.largest(np.diag([4.0, 1.0, 1.0]), 1001, np.random.default_rng(10))

    assert draws.shape == np.unique(draws).shape == (1001,)


def test_the_largest_size_of_a_bridge_has_the_law_of_kolmogorov():
    # at 200 even steps the largest is smaller by .5826 / sqrt(200) than on the line (Siegmund); what that
    # leaves is some 1/200. Shares of 20,000 draws, to 4.5 standard errors.
    t = np.arange(1, 200) / 200.0
    draws = process.largest(np.minimum.outer(t, t) - np.outer(t, t), 20_000, np.random.default_rng(4))

    for level in (0.2, 0.5, 0.8, 0.95, 0.99):
        within = np.mean(draws + 0.5826 / np.sqrt(200.0) <= kstwobign.ppf(level))
        assert abs(within - level) <= 4.5 * np.sqrt(level * (1.0 - level) / 20_000) + 0.005


@pytest.mark.parametrize("r", [-0.9, 0.0, 0.6])
def test_the_largest_of_two_has_their_joint_law(r):
    # the chance of a rectangle; shares of 20,000 draws, to 4.5 standard errors
    both = np.array([[4.0, 2.0 * r], [2.0 * r, 1.0]])
    draws = process.largest(both, 20_000, np.random.default_rng(5))

    for edge in (0.7, 1.5, 3.0):
        corners = [(edge, edge), (-edge, edge), (edge, -edge), (-edge, -edge)]
        upper = [multivariate_normal(cov=both).cdf(corner) for corner in corners]
        chance = upper[0] - upper[1] - upper[2] + upper[3]
        # the rectangle's chances are known to 1e-5
        assert abs(np.mean(draws <= edge) - chance) <= 4.5 * np.sqrt(chance * (1.0 - chance) / 20_000) + 1e-4


@pytest.mark.parametrize(
    "covariance",
    [
        [[4.0, 0.0], [0.0, -25.0]],
        [[4.0, -4.0], [-4.0, 4.0]],
        [[4.0, 2.0, -2.0], [2.0, 1.0 - 1e-3, -1.0], [-2.0, -1.0, 1.0 - 1e-3]],
    ],
)
def test_a_covariance_that_is_not_definite_is_taken_for_the_nearest_that_is(covariance):
    # in all of these the first alone counts, of standard deviation 2; the .95 quantile of 20,000 draws is
    # known to sqrt(.0475 / 20,000) / .058, 4.5 times which is .12
    draws = process.largest(np.array(covariance), 20_000, np.random.default_rng(6))

    assert np.quantile(draws, 0.95) == pytest.approx(2.0 * ndtri(0.975), abs=0.12)
