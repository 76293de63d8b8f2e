"""Every law of noise is the same in all places that know it by name.

Oracle: the inversion formula P(|Y| < d) = (2 / pi) times the integral of sin(w d) phi(w) / w over
w > 0, moments as integrals of tails, and draws.
"""

from typing import get_args, get_type_hints

import numpy as np
import pytest
from scipy.integrate import trapezoid

from condmask.cli.options import PlanOptions
from condmask.distribution.symbol import Masking, symbol
from condmask.grid import Grid
from condmask.law import NOISES, Law
from condmask.reverse_mapping.mapping import Mapping, sums

D = np.array([0.1, 0.5, 1.0, 2.0, 3.5])
W = np.linspace(1e-6, 400.0, 400_001)  # beyond, Laplace noise adds at most 2 / 400^2


def within(noise):
    return Law(0.5, noise, 1.0).noise_within(D)


@pytest.mark.parametrize("noise", NOISES)
def test_the_characteristic_function_is_that_of_the_distribution(noise):
    phi = symbol(Masking(noise, 0.5), W)
    inverted = [2.0 / np.pi * trapezoid(np.sin(W * d) / W * phi, W) for d in D]
    np.testing.assert_allclose(within(noise), inverted, atol=2e-5)


@pytest.mark.parametrize("noise", NOISES)
def test_moments_are_those_of_the_distribution(noise):
    law = Law(0.5, noise, 1.0)
    d = np.linspace(0.0, 60.0, 60_001)
    tail = 1.0 - law.noise_within(d)
    moments = [trapezoid(k * d ** (k - 1) * tail, d) for k in (2, 4, 6)]
    np.testing.assert_allclose(law.noise_moments(6, 1.0)[[2, 4, 6]], moments, rtol=1e-5)
    assert law.variance == pytest.approx(1.0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("grid", [None, Grid(1.0, 4.0), Grid(2.0, 1.0)])
def test_draws_have_the_distribution(noise, grid):
    law = Law(0.5, noise, 1.0, grid)
    drawn = law.draw(np.random.default_rng(1), 20_000)
    values = drawn if grid is None else drawn * grid.step
    share = (np.abs(values) < D[:, None]).mean(axis=1)
    expected = law.noise_within(D)
    # five standard errors: 30 comparisons of one fixed seed, false alarm below 2e-5
    assert np.all(np.abs(share - expected) <= 5.0 * np.sqrt(expected * (1 - expected) / 20_000))
    rest = drawn**4 * law.step**4 if law.step else drawn**4
    error = rest.std() / np.sqrt(rest.size)
    assert abs(rest.mean() - law.noise_moments(4, 1.0)[4]) <= 6.0 * error


@pytest.mark.parametrize("noise", NOISES)
def test_reverse_mapping_has_the_distribution(noise):
    below = sums(noise, np.zeros(1), np.ones(1))(D) - sums(noise, np.zeros(1), np.ones(1))(-D)
    np.testing.assert_allclose(below, within(noise), atol=1e-10)
    # two values in equal shares, one apart: the threshold lies half-way between them
    chances = Mapping(np.array([0.0, 1.0]), np.array([0.5, 0.5]), noise).chances
    own = 0.5 + 0.5 * within(noise)[1]
    np.testing.assert_allclose(chances, [[own, 1.0 - own], [1.0 - own, own]], atol=1e-10)


def test_the_command_line_has_the_same_laws():
    annotation = get_type_hints(PlanOptions, include_extras=True)["noise"]
    (literal,) = [each for each in get_args(annotation) if get_args(each)]
    assert get_args(literal) == NOISES
