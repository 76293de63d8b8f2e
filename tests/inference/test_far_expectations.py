"""Sums of a function where K reaches over many points, against convolutions written out; and what they cost.

Oracle: the mass of a record by a Fourier transform of the noise's chances (their geometric series under
Laplace noise is not used), then sums over all points. Where closed forms are known, these.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import ndtr

import condmask as cm
from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import expectations, far_expectations

PER_SIGMA = 300
REACH = 24 * PER_SIGMA  # where the mass of a record is below 1e-13 at these p


def below(noise, u):
    if noise == "normal":
        return ndtr(u)
    return np.where(u < 0.0, 0.5 * np.exp(u * np.sqrt(2.0)), 1.0 - 0.5 * np.exp(-u * np.sqrt(2.0)))


def masses(noise, p):
    """mu_j, from -REACH to REACH, with p mu + (1-p) mu * noise = 1 at 0."""
    k = np.arange(-2 * REACH, 2 * REACH + 1)
    chance = below(noise, (k + 0.5) / PER_SIGMA) - below(noise, (k - 0.5) / PER_SIGMA)
    around = np.fft.fft(np.fft.ifftshift(chance))
    return np.fft.fftshift(np.fft.ifft(1.0 / (p + (1.0 - p) * around)).real)[REACH : 3 * REACH + 1]


FUNCTIONS = [
    lambda k: (k / PER_SIGMA) ** 2 - k / PER_SIGMA,
    lambda k: (k > 40.0) * 1.0,
    lambda k: np.sin(0.01 * k) + (np.mod(k, 7.0) == 0.0),  # what cells of eight steps do not show
]


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.4, 0.8])
def test_sums_are_those_of_convolutions(monkeypatch, noise, p):
    monkeypatch.setattr(expectations, "LONGEST", 1)
    monkeypatch.setattr(far_expectations, "BLOCK", 1000)
    z = np.rint(np.random.default_rng(1).normal(0.0, 3.0 * PER_SIGMA, 40))
    mu, counts = masses(noise, p), ValueCounts(*np.unique(z, return_counts=True))
    grid = np.arange(z.min() - REACH, z.max() + REACH + 1.0)
    wide = np.arange(grid[0] - REACH, grid[-1] + REACH + 1.0)
    held = np.bincount((z - grid[0]).astype(int), minlength=grid.size).astype(float)
    mass = fftconvolve(held, mu, mode="same")

    found = expectations.sums(counts, Masking(noise, p, 0.0, 1.0 / PER_SIGMA), FUNCTIONS)

    for k, g in enumerate(FUNCTIONS):
        psi, of_x = fftconvolve(g(wide), mu, mode="valid"), g(grid)
        rest = of_x - p * psi
        of_z = psi[held > 0.0] * held[held > 0.0]
        expected = [
            of_z.sum(), held @ psi**2, mass @ rest, mass @ rest**2, mass @ of_x**2,
        ]  # fmt: skip
        # 1e4 points of up to 700, each to 1e-15 of the largest, 1e3 after squares: relative to the sums 1e-9
        np.testing.assert_allclose([each[k] for each in found], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_windows_and_blocks_add_up(monkeypatch, noise):
    z = np.rint(np.random.default_rng(2).uniform(0.0, 200.0 * PER_SIGMA, 50))
    counts = ValueCounts(*np.unique(z, return_counts=True))
    masking = Masking(noise, 0.6, 0.0, 1.0 / PER_SIGMA)
    monkeypatch.setattr(expectations, "LONGEST", 1)
    whole = expectations.sums(counts, masking, FUNCTIONS)

    monkeypatch.setattr(far_expectations, "CELLS", 20)
    monkeypatch.setattr(far_expectations, "BLOCK", 500)

    np.testing.assert_allclose(expectations.sums(counts, masking, FUNCTIONS), whole, rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_a_value_that_is_not_finite_counts_where_there_is_mass(monkeypatch, noise):
    monkeypatch.setattr(expectations, "LONGEST", 1)
    monkeypatch.setattr(far_expectations, "BLOCK", 64)
    counts, masking = ValueCounts(np.array([0.0, 500.0]), np.array([3, 2])), Masking(noise, 0.5, 0.0, 0.002)

    with np.errstate(all="ignore"), pytest.raises(expectations.NotFiniteError) as info:
        expectations.sums(counts, masking, [lambda k: 1.0 / (k - 500.0)])
    assert info.value.args == (500.0, np.inf)
    with (
        np.errstate(all="ignore"),
        pytest.raises(expectations.NotFiniteError) as info,
    ):  # 2 sigma off a record
        expectations.sums(counts, masking, [lambda k: 1.0 / (k - 1500.0)])
    assert info.value.args == (1500.0, np.inf)
    far = expectations.sums(counts, masking, [lambda k: np.where(k > 9_000.0, np.inf, 1.0)])  # 17 sigma off
    assert abs(far.psi - 5.0) < 1e-8


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_what_grows_too_fast_is_not_known(monkeypatch, noise):
    monkeypatch.setattr(expectations, "LONGEST", 1)
    counts, masking = ValueCounts(np.array([0.0, 500.0]), np.array([3, 2])), Masking(noise, 0.5, 0.0, 0.002)

    found = expectations.sums(counts, masking, [lambda k: k, lambda k: np.exp(0.01 * k)])  # exp(5 x / sigma)

    assert np.isnan(found).tolist() == [[False, True]] * 5


def asked(scheme, x, g):
    """The mean of g under a scheme, the points that g was asked at once, and the peak of memory."""
    z, sizes = scheme.mask(x, rng=3, accept_visible_coins=True), []

    def counting(t):
        sizes.append(t.size)
        return g(t)

    estimate = scheme.estimate(z)
    tracemalloc.start()
    found = estimate.expectation(counting)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return z, found, sizes, peak


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_cents_under_wide_noise_take_bounded_memory_and_ask_for_each_point_once_or_twice(noise):
    x = np.random.default_rng(4).lognormal(4.0, 0.5, 100).round(2)
    scheme = cm.ConditionalMasking(0.6, 400.0, decimals=2, noise=noise)  # 40,000 steps a sigma

    z, mean, sizes, peak = asked(scheme, x, lambda t: t)

    times = 2 if noise == "laplace" else 1
    # K reaches 25 sigma at most at this p
    assert sum(sizes) <= times * ((z.max() - z.min()) * 100.0 + 2 * 25 * 40_000 + 2)
    assert max(sizes) <= far_expectations.BLOCK
    assert peak < 40 * 8 * far_expectations.BLOCK  # 84 MB: as many arrays of a block as there are in the code
    assert mean == pytest.approx(np.mean(z), rel=1e-10)  # the noise has mean 0


def test_the_mean_square_is_that_of_the_masked_values_less_the_noise():
    x = np.random.default_rng(5).lognormal(4.0, 0.5, 100).round(2)
    scheme = cm.ConditionalMasking(0.6, 400.0, decimals=2)

    z, found, _, _ = asked(scheme, x, np.square)

    assert found == pytest.approx(np.mean(z * z) - 0.4 * (400.0**2 + 0.01**2 / 12.0), rel=1e-9)
