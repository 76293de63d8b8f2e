"""K against 25 digits from two independent methods, and against the equation that defines it."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from condmask.deconvolution import series as host
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.kernels import series
from condmask.law import rounded_noise_moments

with (Path(__file__).parents[1] / "data" / "weight.csv").open() as file:
    ROWS = [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]
CASES = sorted({row[:2] for row in ROWS})
P = [0.05, 0.3, 0.5, 0.6, 0.99]  # below, at and above 1/2, where the paper's series stops converging


def tabulated(p, beta):
    u, k = np.array([row[2:] for row in ROWS if row[:2] == (p, beta)]).T
    return u, k


def full(masking, u):
    half = weight.half_weight(masking, np.abs(u))
    return np.where(u >= 0.0, 0.5 + half, 0.5 - half)


def test_the_table_is_whole():
    assert len(ROWS) == 11 * 6 * 33


@pytest.mark.parametrize(("p", "beta"), CASES)
def test_the_integral_matches_25_digits(p, beta):
    u, k = tabulated(p, beta)

    # K is of size 1/p and is summed from about 150 terms, some ulp of 1/p each
    assert np.abs(full(Masking("normal", p, beta), u) - k).max() < 4e-15 / p


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("p", "beta"), [case for case in CASES if case[0] > 0.5])
def test_the_series_keeps_its_tolerance(p, beta, tol):
    u, k = tabulated(p, beta)
    c = host.coefficients(p, tol)
    found = np.array([series.weight(x, c, host.rates(beta, c.size)) for x in u])

    assert np.abs(found - k).max() <= tol


@pytest.mark.parametrize("p", [0.3, 0.45, 0.5])
def test_the_series_serves_p_below_one_half_where_rounding_allows(p):
    u, k = (tabulated(0.5, 0.0)) if p == 0.5 else (np.linspace(-6, 6, 49), None)
    k = full(Masking("normal", p), u) if k is None else k
    c = host.coefficients(p, 1e-8)

    assert np.abs([series.weight(x, c, host.rates(0.0, c.size)) for x in u] - k).max() <= 1e-8


def test_the_series_says_where_rounding_forbids_it():
    assert host.coefficients(0.05, 1e-8) is None


def test_near_one_half_the_series_needs_few_terms():
    assert host.coefficients(0.501, 1e-10).size <= 16
    assert host.coefficients(0.6, 1e-10).size <= 14


@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("p", [0.55, 0.6, 0.9])
def test_the_series_sums_the_papers_series(p, beta):
    lam = -(1 - p) / p
    t = np.arange(400)  # |lam|^400 / (2p - 1) is 1e-33 at p = .55
    for u in (-3.0, -0.2, 0.0, 0.4, 5.0):
        with np.errstate(divide="ignore", invalid="ignore"):
            phi = ndtr(np.where(t + beta > 0, u / np.sqrt(t + beta**2), np.inf if u >= 0 else -np.inf))
        c = host.coefficients(p, 1e-12)

        assert abs(series.weight(u, c, host.rates(beta, c.size)) - np.sum(lam**t * phi) / p) < 2e-12


@pytest.mark.parametrize("beta", [0.0, 0.01, 0.4, 3.0])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", P)
def test_the_weight_undoes_the_masking(p, noise, beta):
    masking = Masking(noise, p, beta)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for u in (-6.0, -0.5, 1e-9, 0.7, 4.0):
        # pieces end where the integrand has kinks, and are fine where the bandwidth makes it steep
        ends = {*np.linspace(-40.0, 40.0, 81), 0.0, u, *(u + beta * np.arange(-9.0, 10.0))}
        edges = np.array(sorted(ends))
        half = 0.5 * np.diff(edges)[:, None]
        y = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
        density = (
            np.exp(-0.5 * y * y) / np.sqrt(2 * np.pi)
            if noise == "normal"
            else np.exp(-np.abs(y) * 2**0.5) / 2**0.5
        )
        smeared = np.sum(full(masking, u - y) * density * (half * weights).ravel())
        step = float(u >= 0) if beta == 0.0 else ndtr(u / beta)

        # 40 nodes integrate each piece to rounding, on values up to 1/p = 20; beyond 40 lies e^-56
        assert abs(p * full(masking, np.array([u]))[0] + (1 - p) * smeared - step) < 1e-12


@pytest.mark.parametrize("delta", [2.0, 0.5, 1 / 3, 0.1])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", P)
def test_on_a_grid_the_weight_undoes_rounded_noise(p, noise, delta):
    k = np.arange(-int(60 / delta), int(60 / delta) + 1)
    if noise == "normal":
        chance = ndtr((k + 0.5) * delta) - ndtr((k - 0.5) * delta)
        chance = np.where(k > 0, ndtr((0.5 - k) * delta) - ndtr((-0.5 - k) * delta), chance)
    else:
        h = delta * 2**0.5
        chance = np.where(k == 0, -np.expm1(-h / 2), np.exp(-np.abs(k) * h) * np.sinh(h / 2))
    masking = Masking(noise, p, 0.0, delta)
    for j in (-9, -1, 0, 1, 7):
        smeared = np.sum(chance * full(masking, (j - k + 0.5) * delta))
        found = p * full(masking, np.array([(j + 0.5) * delta]))[0] + (1 - p) * smeared

        # a thousand terms of size up to 1/p, rounded to 1e-16 each; aliasing is below 1e-19
        assert abs(found - (j >= 0)) < 2e-13


@pytest.mark.parametrize("delta", [0.001, 0.01, 0.02, 0.0199])
def test_the_tail_of_rounded_laplace_noise_does_not_cancel_where_it_nearly_vanishes(delta):
    # at p = 1e-4 the ratio of the tail passes 0 near delta = .02, where K jumps to 1251 within one step
    k = np.arange(-int(40 / delta), int(40 / delta) + 1)
    h = delta * 2**0.5
    chance = np.where(k == 0, -np.expm1(-h / 2), np.exp(-np.abs(k) * h) * np.sinh(h / 2))
    masking = Masking("laplace", 1e-4, 0.0, delta)
    for j in (-2, -1, 0, 1, 2):
        smeared = np.sum(chance * full(masking, (j - k + 0.5) * delta))
        found = 1e-4 * full(masking, np.array([(j + 0.5) * delta]))[0] + (1 - 1e-4) * smeared

        # weights below 5,000 times chances below .015, rounded to 1e-16 each, few of them of any size
        assert abs(found - (j >= 0)) < 2e-13


@pytest.mark.parametrize("delta", [1e-3, 0.3, 0.34, 0.4, 0.7, 1.0, 1.0001, 1.5])
def test_the_transform_of_rounded_normal_noise_is_its_sum(delta):
    k = np.arange(1, int(9 / delta) + 2)
    chance = ndtr((0.5 - k) * delta) - ndtr((-0.5 - k) * delta)
    theta = np.linspace(-7.0, 7.0, 57)
    direct = ndtr(delta / 2) - ndtr(-delta / 2) + 2.0 * np.cos(np.multiply.outer(theta, k)) @ chance

    found = weight.symbol(Masking("normal", 0.5, 0.0, delta), theta / delta)

    # k theta, at most 63 / delta, is rounded to 1e-16 of itself, and so is the sum
    assert np.abs(found - direct).max() < (1e-11 if delta < 0.01 else 4e-15)


@pytest.mark.parametrize("delta", [0.2, 0.34, 0.4])
def test_the_transform_of_rounded_normal_noise_vanishes_without_rounding(delta):
    # at pi the two nearest repetitions of exp(-w^2/2) sinc meet; 1e-16 there would be 1e-8 of K at p = 1e-4
    at_pi = weight.symbol(Masking("normal", 1e-4, 0.0, delta), np.array([np.pi / delta]))

    assert at_pi == pytest.approx(
        np.exp(-0.5 * (np.pi / delta) ** 2) * 4 / np.pi, rel=1e-9 if delta > 1 / 3 else 0.6
    )


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("beta", [0.05, 1.0])
def test_the_density_weight_is_the_derivative(noise, beta):
    masking = Masking(noise, 0.6, beta)
    v = np.linspace(0.01, 6.0, 40)
    h = 1e-3 * beta
    rise = (
        8 * (weight.half_weight(masking, v + h) - weight.half_weight(masking, v - h))
        - weight.half_weight(masking, v + 2 * h)
        + weight.half_weight(masking, v - 2 * h)
    ) / (12 * h)

    # five-point rule: h^4 K^(5)/30 = 1e-12 / beta, and rounding 1e-15 / h
    assert np.abs(rise - weight.density_weight(masking, v)).max() < 1e-10 / beta


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_beyond_the_reach_the_weight_is_settled(noise, p, tol):
    masking = Masking(noise, p)
    far = weight.reach(masking, tol) + np.linspace(0.0, 20.0, 500)

    assert np.abs(weight.half_weight(masking, far) - 0.5).max() <= tol


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("delta", [0.0, 0.02, 0.3, 0.5, 2.0])
def test_noise_moments_are_those_of_a_direct_sum(noise, delta):
    found = rounded_noise_moments(noise, delta, 6)
    step = delta or 1e-4
    k = np.arange(1, int(60 / step))
    if noise == "normal":
        chance = ndtr((0.5 - k) * step) - ndtr((-0.5 - k) * step)
    else:
        chance = np.exp(-k * step * 2**0.5) * np.sinh(step * 2**-0.5)
    for order in (2, 4, 6):
        direct = 2 * np.sum(chance * (k * step) ** order)

        # delta = 0 is compared with a grid of 1e-4, whose rounding adds order^2 1e-8 / 24 at most
        assert found[order] == pytest.approx(direct, rel=1e-11 if delta else 1e-7)
    assert list(found[1::2]) == [0.0, 0.0, 0.0]
