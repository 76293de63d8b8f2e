"""Intervals of the variance and the standard deviation, from next to no noise to ten times the
data.

Oracles: the standard errors of the closed formulas, integrated by SciPy; the order of Feldman and
Cousins by sums over a fine grid of estimates; and coverage over many files, with the chance of a
false alarm."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

import condmask as cm
from condmask.inference import bounded
from condmask.law import Law
from condmask.moments.moment_interval import Sampled
from condmask.moments.theorem_2_1 import Powers
from condmask.moments.variance_interval import variance_interval

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings(
        "ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"
    ),
]


def covered(interval, aim):
    return (interval.low <= aim) & (aim <= interval.high)


def fewest(files, level=0.95):
    """The fewest intervals that cover, but for one seed in 10^5."""
    return files * level - 4.3 * np.sqrt(files * level * (1.0 - level))


def accepts(estimate, mean, level):
    """Whether a mean from 0 on explains an estimate with error 1, summed over a grid of
    estimates."""
    grid = np.arange(mean - 12.0, mean + 12.0, 1e-3)

    def ratio(x):
        return -0.5 * (x - mean) ** 2 + 0.5 * (x - np.maximum(x, 0.0)) ** 2

    better = ratio(grid) > ratio(np.array([estimate]))
    return norm.pdf(grid[better] - mean).sum() * 1e-3 <= level


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("estimate", [-3.0, -0.5, 0.0, 0.7, 1.9, 2.5, 6.0])
def test_ends_are_those_of_the_order_of_feldman_and_cousins(estimate, level):
    low, high = (float(end[0]) for end in bounded.not_negative(np.array([estimate]), level))

    assert accepts(estimate, high - 0.004, level)
    assert not accepts(estimate, high + 0.004, level)
    assert low == 0.0 or accepts(estimate, low + 0.004, level)
    assert low == 0.0 or not accepts(estimate, low - 0.004, level)
    assert (low == 0.0) == accepts(estimate, 0.0, level)


def moved(variance, errors, constant, slope, square, n):
    """The variance that lies so many standard errors above another: their integral, and where it
    ends."""

    def distance(other):
        steps = quad(lambda v: (constant + slope * v + square * v * v) ** -0.5, variance, other)[0]
        return np.sqrt(n) * steps - errors

    return brentq(distance, 0.0, 100.0 * variance, xtol=1e-14)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_about_the_file_ends_are_those_of_known_standard_errors(noise, sigma):
    # given the file, only sums of noise vary: n s^2 = 4 (1-p) sigma^2 v + (1-p) E Y^4 - (1-p)^2
    # sigma^4
    p = 0.4
    n = 4_000
    x = np.random.default_rng(2).normal(0.0, 1.0, n)
    scheme = cm.ConditionalMasking(p, sigma, noise=noise, step=0.0)
    estimate = scheme.estimate(scheme.mask(x, rng=3))
    fourth = {"normal": 3.0, "laplace": 6.0}[noise] * sigma**4
    known = (1 - p) * fourth - (1 - p) ** 2 * sigma**4, 4 * (1 - p) * sigma**2, 0.0

    found = estimate.variance_interval(target="file")

    reach = norm.ppf(0.975)
    ends = [moved(estimate.variance(), errors, *known, n) for errors in (-reach, reach)]
    np.testing.assert_allclose([found.low, found.high], ends, rtol=1e-9)


@pytest.mark.parametrize("target", ["population", "file"])
def test_next_to_no_noise_gives_the_interval_of_the_logarithm(target):
    z = np.random.default_rng(6).gamma(1.0, size=400)
    schemes = {
        "population": cm.ConditionalMasking(0.4, 1e-9, step=0.0),
        "file": cm.ConditionalMasking(0.4, 1e-9, step=0.0, donors="sample"),
    }
    estimate = schemes[target].estimate(z)

    found = estimate.variance_interval(target=target)
    root = estimate.std_interval(target=target)

    factor = np.exp(norm.ppf(0.975) * found.standard_error / estimate.variance())
    np.testing.assert_allclose(
        [found.low * factor, found.high / factor], estimate.variance(), rtol=1e-6
    )
    np.testing.assert_allclose(root[:2], np.sqrt(found[:2]), rtol=1e-12)


def test_a_variance_estimated_negative_has_an_interval_from_zero_with_a_length():
    estimate = cm.ConditionalMasking(0.5, 10.0, decimals=0).estimate([1.0, 2.0, 3.0, 2.0])

    found = estimate.variance_interval()
    root = estimate.std_interval()

    assert estimate.variance() < 0.0
    assert found.low == 0.0 < found.high
    assert (root.low, root.high) == (0.0, np.sqrt(found.high))
    assert np.isnan([root.estimate, root.standard_error]).all()


@pytest.mark.parametrize("donors", ["permutation", "sample"])
@pytest.mark.parametrize("target", ["population", "file"])
def test_ends_move_with_the_estimate_without_a_jump(donors, target):
    # originals of kurtosis 3 and any variance, 0 and far from it, under noise of variance 1
    p = 0.6
    law = Law(0.6, "normal", 1.0)
    variance = np.linspace(-0.3, 12.0, 5_001)
    fourth = 3.0 * np.maximum(variance, 0.0) ** 2
    noisy = fourth + (1 - p) * (6.0 * np.maximum(variance, 0.0) + 3.0)
    one = np.ones(variance.size)
    none = np.zeros(variance.size)
    means = np.array([one, none, variance + (1 - p), none, noisy])
    sampled = Sampled(200, law, donors == "sample", Powers(0.0, 1.0, means))

    found = variance_interval(sampled, 0.95, target, root=False)

    step = variance[1] - variance[0]
    for end in (found.low, found.high):
        rise = np.diff(end) / step
        assert rise.min() > -1e-6
        assert rise.max() < 2.2
    assert (found.high > found.low).all()
    assert found.low[0] == 0.0 < found.low[-1]


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_noise_of_ten_standard_deviations_leaves_the_level(p, target):
    files = 300
    n = 200
    x = np.random.default_rng(11).normal(size=(files, n))
    scheme = cm.ConditionalMasking(p, 10.0)
    z = np.array([scheme.mask(row, rng=k) for k, row in enumerate(x)])

    found = scheme.estimate(z).std_interval(target=target)

    aim = 1.0 if target == "population" else x.std(axis=1, ddof=1)
    assert np.count_nonzero(covered(found, aim)) >= fewest(files)
    assert (found.high > 0.0).all()


def test_strata_that_are_read_alone_have_the_level_where_their_noise_is_wide():
    files = 200
    n = 400
    rng = np.random.default_rng(12)
    near = np.arange(n) < n // 2
    scheme = cm.ConditionalMasking(0.6, 10.0, strata="group")
    count = 0
    for k in range(files):
        x = np.where(near, rng.normal(size=n), rng.normal(0.0, 40.0, n))
        estimate = scheme.estimate(scheme.mask(x, strata=near, rng=k), strata=near)
        count += covered(estimate.part(near).std_interval(target="file"), x[near].std(ddof=1))

    assert count >= fewest(files)


def test_a_constant_without_noise_has_no_length_and_nothing_overflows():
    scheme = cm.ReverseMapping(0.5, 1.0)
    with np.errstate(all="raise"):
        found = scheme.estimate(np.full(50, 3.0)).variance_interval()

    assert (found.low, found.high, found.estimate) == (0.0, 0.0, 0.0)
