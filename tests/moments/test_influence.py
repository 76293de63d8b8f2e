"""Influence functions. Oracles: laws of released records in full, and derivatives by small steps of a law."""

from itertools import product

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval, polyval2d

from condmask.moments.influence import Weights, of_moment, of_pair
from condmask.moments.theorem_2_1 import noise_matrix
from condmask.moments.theorem_2_5 import DEGREE, original_moments, pair_moments

P = 0.5  # so that outcomes are equally likely when they are repeated
PAIRS = [(0.5, 1.0), (-1.0, 0.3), (2.0, 2.0), (0.7, -1.5)]
ADDED = ([-2.0, -1.0, 1.0, 2.0], [-1.0, 0.0, 0.0, 1.0])  # equally likely noise of either column
NOISE = [np.array([np.mean(np.power(own, k)) for k in range(DEGREE + 1)]) for own in ADDED]


def released(together):
    """All outcomes, equally likely, as (z, w); pairs are drawn with replacement."""
    rows = []
    for (x, w), (other, its) in product(PAIRS, PAIRS):
        rows += [(other, its if together else w)] * 16
        rows += product([x + y for y in ADDED[0]], [w + y for y in ADDED[1]] if together else [w] * 4)
    return np.array(rows).T


@pytest.mark.parametrize("together", [False, True])
def test_moments_of_the_originals_come_back_exactly(together):
    z, w = released(together)
    shown = pair_moments(z, w).about(np.zeros(2), np.ones(2)).means

    found = original_moments(shown, P, NOISE[0], NOISE[1] if together else None)

    for i, j in product(range(DEGREE + 1), repeat=2):
        if i + j <= DEGREE:
            true = np.mean([x**i * w**j for x, w in PAIRS])
            assert found[i, j] == pytest.approx(true, abs=1e-12 * 4**5)


@pytest.mark.parametrize("together", [False, True])
def test_phi_has_the_mean_of_h_less_what_donors_add(together):
    # E[phi | X, W] = h - p at, up to a constant: what makes the theorem's D right; the pool is a stratum,
    # whose means are not those of the file
    z, w = released(together)
    x, y = np.transpose(PAIRS)
    means = x.mean() + 0.3, y.mean() - 0.2
    plain = None if together else (np.array([z.mean()]), np.array([w.mean()]))
    functions = of_pair([Weights(1.3, -0.4, 0.7)], means, P, plain=plain, factor=1 - P)
    phi, h, given_file, at, margin = (each[0, 0] if each.ndim == 4 else each[0] for each in functions)
    shown = polyval2d(z, w, phi).reshape(4, 4, 2, 16)
    assert np.array_equal(given_file, h - P * at)

    away = shown.mean(axis=(1, 2, 3)) - polyval2d(x, y, given_file)

    assert np.ptp(away) < 1e-11
    if not together:  # a swapped record has the x of another one
        others_w = shown[:, :, 0].mean(axis=(0, 2)) - polyval2d(x, 0.0 * x, at)
        others_x = shown[:, :, 0].mean(axis=(1, 2)) - polyval2d(0.0 * y, y, margin)
        assert np.ptp([others_w, others_x], axis=1).max() < 1e-11


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


def test_on_masked_values_the_influence_of_a_moment_has_the_mean_of_that_on_the_originals():
    noise, p, x = NOISE[0], 0.3, 0.7
    functions = of_moment(np.array([1.0, 0.2, 1.1, 0.4, 3.0]), 4, None, noise, p)
    phi, h, given_file = (each[0, :, 0] for each in functions[:3])
    powers = x ** np.arange(5)

    kept = phi @ noise_matrix(noise) @ powers  # the mean of phi(x + Y)

    assert p * phi @ powers + (1 - p) * kept == pytest.approx(h @ powers, abs=1e-13)
    assert given_file @ powers == pytest.approx((1 - p) * kept, abs=1e-13)
