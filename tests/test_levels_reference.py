"""The references of levels have, by enumeration of coin, donor and noise, the expectations that are claimed.

Nothing here runs the package: these are the formulas of docs/levels.rst.
"""

import re
from pathlib import Path

import levels_reference as reference
import numpy as np
import pytest
from levels_reference import NOISES, Heaps, Log, P, fifteen, made, values_at

STRATA = np.tile([0, 1, 1], 6)[:16]


def test_the_reference_imports_nothing_of_ours():
    assert not re.search(r"^\s*(import|from) condmask", Path(reference.__file__).read_text(), re.MULTILINE)


def each(*names):
    """Every p and noise with the cases of these names."""
    return [
        pytest.param(name, p, noise, id=f"{name}-{p}-{noise}")
        for name in names
        for p in P
        for noise in NOISES
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "p", "noise"), each("heaps", "dozens", "log", "log, coarse"))
def test_what_is_expected_of_the_reference_is_the_truth(name, p, noise):
    law, x = made(name, p, noise)
    units = law.units(x)
    at, exact = fifteen(law, units), values_at(law, units)
    # the noise's fourth moment on the log scale exists up to 4 sigma = sqrt 2
    orders = [k for k in range(1, 5) if isinstance(law, Heaps) or noise == "normal" or k * law.sigma < 1.0]

    total = reference.expected(law, units, lambda unit: law.weight(at, unit)).mean(axis=0)
    moments = [reference.expected(law, units, lambda unit, k=k: law.power(unit, k)).mean() for k in orders]

    # what is cut off of K and of the noise weighs 1e-15; sums of some thousand terms of size 1/p = 3
    assert np.abs(total - (units[:, None] <= at).mean(axis=0)).max() <= 1e-12
    assert np.allclose(moments, [np.mean(exact**k) for k in orders], rtol=1e-12, atol=0.0)


@pytest.mark.parametrize(("name", "p", "noise"), each("heaps", "log"))
@pytest.mark.parametrize("strata", [None, STRATA])
def test_what_is_expected_of_a_covariance_is_the_truth(name, p, noise, strata):
    law, x = made(name, p, noise)
    units, w = law.units(x), np.random.default_rng(1).normal(size=x.size) + STRATA
    exact = values_at(law, units)

    # linear in the release, so that it may be taken of the expected values
    z = reference.expected(law, units, law.values, strata)

    assert np.allclose(reference.pseudo_values(law, z, strata), exact, rtol=0, atol=1e-11 * exact.max())
    assert reference.covariance(law, z, w, strata) == pytest.approx(np.cov(exact, w)[0, 1], rel=1e-11)


@pytest.mark.parametrize(("name", "p", "noise"), each("heaps", "log"))
def test_the_bias_of_variances_and_of_joint_covariances_is_as_stated(name, p, noise):
    # docs/levels.rst: C (1 - (c_ab - f_a f_b) / (n c_a c_b)) - (c_ab / (c_a c_b) - 1) mean mean / (n - 1)
    a, x = made(name, p, noise)
    n, other = x.size, np.random.default_rng(2).lognormal(3.0, 1.0, x.size)
    for b in (Log(p, noise, 0.5, 0.125), Heaps(p, noise, 20.0, 1.0, 1)):
        units, others = a.units(x), b.units(other)
        x_a, x_b = values_at(a, units), values_at(b, others)
        m_a, m_b = reference.gain_of(a), reference.gain_of(b)
        f_a, f_b = (1 - p) * m_a - p / (n - 1), (1 - p) * m_b - p / (n - 1)
        c_a, c_b, c = p + (1 - p) * m_a, p + (1 - p) * m_b, p + (1 - p) * m_a * m_b
        share = 1 - (c - f_a * f_b) / (n * c_a * c_b)
        shift = (c / (c_a * c_b) - 1) * x_a.mean() * x_b.mean() / (n - 1)

        found = reference.expected_joint_covariance(a, b, units, others)

        assert found == pytest.approx(share * np.cov(x_a, x_b)[0, 1] - shift, rel=1e-11)
    if isinstance(a, Log):
        c, share = a.left(2), 1 - (a.left(2) - f_a**2) / (n * c_a**2)
        shift = (c / c_a**2 - 1) * x_a.mean() ** 2 / (n - 1)
    else:
        share, shift = 1 - p**2 * (n - 2) / (n - 1) ** 2 - 2 * p * (1 - p) / (n - 1), 0.0
    assert reference.expected_variance(a, units) == pytest.approx(share * x_a.var(ddof=1) - shift, rel=1e-11)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("delta", [0.1, 0.5, 1.0])
def test_the_gain_has_a_closed_form(noise, delta):
    # docs/levels.rst; at delta = 1/2 what is left out for normal noise is e^(-2 pi^2 / delta^2) = 5e-35
    sigma = 0.3
    for k in (1, 2, 3, 4):
        half, scale = 0.5 * k * delta * sigma, delta / np.sqrt(2.0)
        closed = np.exp(0.5 * (k * sigma) ** 2) * np.sinh(half) / half
        if noise == "laplace":
            left = np.sinh(scale) ** 2 - np.sinh(half) ** 2
            closed = 1.0 + np.cosh(scale) * np.sinh(half) ** 2 / left
        known = noise == "laplace" or delta <= 0.5

        found = reference.gain(noise, sigma, delta * sigma, k)

        assert known == (abs(found / closed - 1.0) <= 1e-13)


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_the_jumps_of_the_weight_undo_the_masking(p, noise, delta):
    found = reference.jumps(noise, p, delta)
    chance = reference.chances(noise, delta, len(found) // 2)

    undone = p * found + (1.0 - p) * np.convolve(found, chance, mode="same")

    assert np.abs(undone - (np.arange(len(found)) == len(found) // 2)).max() <= 1e-14 / p
