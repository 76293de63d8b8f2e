"""Added noise: the distribution by its deconvolution, and what is said where there is none."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference
from scipy.special import ndtr

import condmask as cm

Z = np.random.default_rng(31).laplace(4.0, 2.0, 300)
W = 0.3 * Z + np.random.default_rng(32).normal(0.0, 1.0, 300)
NOISE = cm.AdditiveNoise(1.2)


def plain(x, sigma, width):
    """mean of Phi(v) + (a/b)^2 v phi(v), v = (x - z) / b, a the scale of the noise."""
    v = (np.atleast_1d(x)[:, None] - Z) / width
    share = 0.5 * (sigma / width) ** 2
    return (ndtr(v) + share * v * np.exp(-0.5 * v * v) / math.sqrt(2 * math.pi)).mean(axis=1)


@pytest.mark.parametrize("width", [0.05, 0.4, 3.0])
def test_the_distribution_is_its_deconvolution(width):
    x = np.linspace(-10, 20, 61)

    found = NOISE.estimate(Z).cdf(x, bandwidth=width)

    assert found == pytest.approx(plain(x, 1.2, width), abs=1e-10)


def test_without_a_bandwidth_the_rule_is_taken_everywhere():
    one = NOISE.estimate(Z)
    width = one.bandwidth("scott")

    assert (
        one.cdf(3.0) == one.cdf(3.0, bandwidth=width) == pytest.approx(plain(3.0, 1.2, width)[0], abs=1e-10)
    )
    assert one.quantile(0.3) == one.quantile(0.3, bandwidth=width)
    assert one.cdf(one.quantile(0.3)) == pytest.approx(0.3, abs=1e-9)
    assert one.cdf(3.0, monotone=True) == pytest.approx(one.cdf(3.0), abs=1e-3)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_moments_are_those_of_theorem_2_1_at_p_0(noise):
    one = cm.AdditiveNoise(1.2, noise=noise).estimate(Z)
    exact = reference.original_moments(Z, 4, noise, 0.0, 1.2)

    assert [one.moment(k) for k in range(1, 5)] == pytest.approx([float(m) for m in exact[1:]], rel=1e-11)
    assert one.variance() == pytest.approx(
        float(reference.original_variance(Z, 0, Fraction(1.2) ** 2)), rel=1e-12
    )


def test_covariance_stays_and_correlation_is_over_the_deviation_of_the_original():
    one = NOISE.estimate(Z)
    plain = np.cov(Z, W)[0, 1]

    assert one.covariance(W) == pytest.approx(plain, rel=1e-12)
    # doubled, or over the deviation of Z (2.6 instead of 2.3), this is off by 10% and more
    expected = plain / math.sqrt((Z.var(ddof=1) - 1.2**2) * W.var(ddof=1))
    assert one.correlation(W) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1e200, 1e299])
def test_estimates_scale_with_the_data(unit):
    one, scaled = NOISE.estimate(Z), cm.AdditiveNoise(1.2 * unit).estimate(Z * unit)

    assert scaled.cdf(3.0 * unit) == pytest.approx(one.cdf(3.0), abs=1e-10)
    assert scaled.quantile([0.1, 0.5]) / unit == pytest.approx(one.quantile([0.1, 0.5]), rel=1e-8)
    assert scaled.mean() / unit == pytest.approx(one.mean(), rel=1e-13)
    assert scaled.std() / unit == pytest.approx(one.std(), rel=1e-12)
    assert scaled.bandwidth() / unit == pytest.approx(one.bandwidth(), rel=1e-12)
    assert scaled.correlation(W * unit) == pytest.approx(one.correlation(W), rel=1e-11)


def test_data_far_wider_than_the_noise_are_searched_in_bounded_memory():
    wide = NOISE.estimate(Z * 1e200)

    # a bandwidth of the noise's size is that of the sample's own distribution function
    assert wide.cdf(0.0, bandwidth=1.0) == pytest.approx(np.mean(Z < 0), abs=1e-10)
    assert wide.quantile(0.5, bandwidth=1.0) == pytest.approx(np.sort(Z)[149] * 1e200, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: NOISE.estimate(Z).cdf(0.0, bandwidth=1e-30),
            r"bandwidth must be between 1e-20 and 1e\+20 sigma, got 1e-30 with sigma=1\.2",
        ),
        (
            lambda: NOISE.estimate(Z).quantile(0.5, bandwidth=1e-30),
            r"bandwidth must be between 1e-20 and 1e\+20 sigma, got 1e-30 with sigma=1\.2",
        ),
        (
            lambda: NOISE.estimate(Z).cdf(0.0, bandwidth=1e-15),
            r"tol must be at least .* at bandwidth=1e-15 and sigma=1\.2 \(rounding\), got 1e-10",
        ),
        (lambda: NOISE.estimate(Z).cdf(0.0, tol=1e-300), r"tol must be at least .* got 1e-300"),
        (lambda: NOISE.estimate(Z).quantile(0.5, tol=1e-300), r"tol must be at least .* got 1e-300"),
        (
            lambda: NOISE.estimate(Z).cdf(0.0, tol=1e-300, monotone=True),
            r"tol must be at least .* got 1e-300",
        ),
        (lambda: NOISE.estimate(Z * 1e200).cdf(0.0), r"bandwidth must be between .* with sigma=1\.2"),
        (lambda: NOISE.estimate(Z).pdf(0.0), r"the density of the original is not estimated .*"),
        (
            lambda: NOISE.estimate(Z).cdf(0.0, method="series"),
            r"method must be 'auto' or 'lattice' for additive noise, got 'series'",
        ),
        (
            lambda: cm.AdditiveNoise(1.0, noise="normal").estimate(Z).cdf(0.0),
            r"noise must be 'laplace' for a distribution function, got 'normal': .*",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()
