"""Intervals of the distribution function and of quantiles, as analysts get them.

Coverage is counted over seeded files, masked once each; a share may be off by 4.5 standard errors
of the count, a false alarm in 7 of 10^6 looks, and by what the normal law is off at so few
records.
"""

from itertools import pairwise, product

import numpy as np
import pytest
from reference import rounded_noise
from releases import masked_rows
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.special import ndtr, ndtri
from worlds import rest_slow

import condmask as cm
from condmask.distribution.quantiles import crossing_of
from condmask.estimates.bands import covariance_of_t

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]


def normal(rng, n):
    """In steps, of which 50 are a standard deviation."""
    return np.rint(50.0 * rng.standard_normal(n))


def modes(rng, n):
    """30% within a mode a twelfth as wide as the noise; the others are wide. In steps of a
    16th."""
    narrow = rng.random(n) < 0.3
    return (
        np.rint(16.0 * np.where(narrow, rng.normal(0.0, 1.0, n), rng.normal(30.0, 10.0, n))) / 16.0
    )


def mode_share(t):
    return 0.3 * ndtr(t) + 0.7 * ndtr((t - 30.0) / 10.0)


def mode_quantile(q):
    return brentq(lambda t: mode_share(t) - q, -20.0, 120.0)


# law: files, step, sigma, shares of the population, quantiles looked at and where they are
LAWS = {
    "normal": (
        normal,
        1.0,
        35.0,
        lambda t: ndtr(t / 50.0),
        [0.05, 0.5, 0.9],
        50.0 * ndtri([0.05, 0.5, 0.9]),
    ),
    "modes": (
        modes,
        0.0625,
        12.0,
        mode_share,
        [0.05, 0.1],
        [mode_quantile(0.05), mode_quantile(0.1)],
    ),
}
CELLS = {  # law, target, options, n, level
    "narrow modes": ("modes", "population", {"p": 0.3}, 1000, 0.95),
    "permutation": ("normal", "population", {"p": 0.6, "donors": "permutation"}, 500, 0.95),
    "file, permutation": ("normal", "file", {"p": 0.6, "donors": "permutation"}, 500, 0.95),
    "small p": ("normal", "population", {"p": 0.3}, 500, 0.95),
    "Laplace noise, file": ("normal", "file", {"p": 0.3, "noise": "laplace"}, 500, 0.95),
    "few records": ("modes", "file", {"p": 0.3}, 150, 0.95),
    "tiny p": ("normal", "file", {"p": 0.15}, 1000, 0.95),
    "low level": ("normal", "population", {"p": 0.6}, 500, 0.8),
}


def quantiles(x, q):
    """The q-quantiles of rows: the first values up to which a share q lies."""
    return np.sort(x, axis=1)[:, np.ceil(np.array(q) * x.shape[1] - 1e-9).astype(int) - 1]


@pytest.mark.parametrize("cell", rest_slow(CELLS))
def test_intervals_cover_as_often_as_they_say(cell):
    # V/n alone covers .87 at p = .6 for the population, without D .96; V - Var h for sample donors
    # .90; a bandwidth from the spread of the masked values .40 of the modes. Within half a step of
    # rounding those of quantiles cover more often
    law, target, options, n, level = CELLS[cell]
    draw, step, sigma, share, q, places = LAWS[law]
    scheme = cm.ConditionalMasking(**{"donors": "sample"} | options, sigma=sigma, step=step)
    rng = np.random
    x = np.array([draw(rng.default_rng([8, k]), n) for k in range(200)])
    estimate = scheme.estimate(masked_rows(scheme, x, rng.default_rng(9)))
    points = np.rint(np.array(places) / step) * step + 4.0 * step

    t = (
        share(points + 0.5 * step)
        if target == "population"
        else (x[:, :, None] <= points).mean(axis=1)
    )
    of_cdf = estimate.cdf_interval(points, target=target, confidence_level=level)
    where = np.array(places) if target == "population" else quantiles(x, q)
    of_quantile = estimate.quantile_interval(q, target=target, confidence_level=level)

    slack = 0.02 + 4.5 * np.sqrt(level * (1.0 - level) / len(x))
    covered = ((of_cdf.low <= t) & (t <= of_cdf.high)).mean(axis=0)
    assert (np.abs(covered - level) <= slack).all(), covered
    below = of_quantile.low - 0.5 * step <= where
    above = where <= of_quantile.high + 0.5 * step
    assert ((below & above).mean(axis=0) >= level - slack).all()
    if law == "normal":
        assert ((below & above).mean(axis=0) <= level + 0.03 + slack).all()


def covariances(z, x, p, noise, delta):
    """n times the covariances of T at points about the file, by donors, and what a sample of the
    population adds, from sums over records and points.

    `z` and `x` are in steps of `delta` sigma; the mass of the originals is that of z without the
    masking.
    """
    m = int(40.0 / delta)
    circle = np.fft.ifftshift(rounded_noise(noise, delta, m)[:-1])
    mass = np.fft.fftshift(np.fft.ifft(1.0 / (p + (1.0 - p) * np.fft.fft(circle))).real)
    grid = np.arange(z.min() - m, z.max() + m + 1)
    held = np.bincount((z - grid[0]).astype(int), minlength=grid.size) / z.size
    originals = fftconvolve(held, mass)[m : m + grid.size]

    def between(mass, functions):
        return functions * mass @ functions.T - np.outer(functions @ mass, functions @ mass)

    psi = np.cumsum(mass)[np.clip((x[:, None] - grid).astype(int) + m, 0, 2 * m - 1)]
    h = (x[:, None] >= grid).astype(float)
    v = between(held, psi)
    d = between(originals, h - p * psi)
    of_h = between(originals, h)
    return {"sample": v - d, "permutation": v - of_h}, of_h


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize(
    ("p", "steps", "wide", "points", "tol"),
    [
        (0.6, 400.0, 600.0, 5, 4e-3),
        (0.3, 50.0, 75.0, 40, 1e-8),
        (0.9, 1.5, 20.0, 40, 1e-8),
    ],
)
def test_standard_errors_and_covariances_are_those_of_the_theorem(
    noise, p, steps, wide, points, tol
):
    # on steps of a 64th of sigma and more nothing is approximated, and nothing for bands on those
    # of a 32nd; without D, or Var h, it is off by a tenth
    z = np.rint(np.random.default_rng(5).laplace(0.0, wide, 400))
    z[0] = -4_080.0  # so that a stretch of cells ends among the others
    x = np.quantile(z, np.linspace(0.03, 0.95, points)).round()
    of_file, more = covariances(z, x, p, noise, 1.0 / steps)

    for donors, target in product(of_file, ("file", "population")):
        estimate = cm.ConditionalMasking(
            p, steps, noise=noise, donors=donors, decimals=0
        ).estimate(z)
        add = more * (target == "population")
        expected = np.maximum(np.diag(of_file[donors]), 0.0) + np.diag(add)
        found = z.size * estimate.cdf_interval(x, target=target).standard_error ** 2
        np.testing.assert_allclose(found, expected, rtol=tol, atol=1e-9)
        if steps < 32.0:
            together = covariance_of_t(estimate, x, target)
            np.testing.assert_allclose(together, of_file[donors] + add, rtol=tol, atol=1e-9)


def release(p=0.6, n=500, seed=1, **options):
    scheme = cm.ConditionalMasking(p, 0.7, **options)
    x = np.random.default_rng(seed).standard_normal(n)
    return scheme.estimate(scheme.mask(x.round(1) if "decimals" in options else x, rng=seed))


def test_the_population_interval_is_where_the_score_test_accepts():
    estimate = release()
    t = np.array([-1.5, 0.2, 2.0])
    found = estimate.cdf_interval(t)
    file = estimate.cdf_interval(t, target="file")
    c = ndtri(0.975) ** 2 / 500
    a = 500 * file.standard_error**2

    for g in (found.low, found.high):
        inside = (g > 0.0) & (g < 1.0)
        both = (found.estimate - g) ** 2 * (1.0 - c), c * (a + g * (1.0 - g))
        np.testing.assert_allclose(both[0][inside], both[1][inside], rtol=1e-9)
    np.testing.assert_allclose(file.high - file.low, 2.0 * np.sqrt(a * c / (1.0 - c)), rtol=1e-9)
    np.testing.assert_allclose(found.estimate, estimate.cdf(t), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize(
    "options", [{}, {"decimals": 1}, {"step": 0.0}, {"donors": "permutation"}]
)
@pytest.mark.parametrize("p", [0.3, 0.6])
@pytest.mark.parametrize("target", ["population", "file"])
def test_intervals_hold_the_estimate_and_those_of_lower_levels(options, p, target):
    # T leaves [0, 1] at the outer points in half of the files
    for seed in range(5):
        estimate = release(p, 300, seed, **options)
        q = np.array([0.02, 0.1, 0.5, 0.8])
        for method, at in (("quantile_interval", q), ("cdf_interval", [-3.0, -2.0, 0.3, 2.5])):
            found = [
                getattr(estimate, method)(at, target=target, confidence_level=level)
                for level in (0.5, 0.8, 0.95, 0.999)
            ]
            for narrow, wide in pairwise(found):
                assert (wide.low <= narrow.low + 1e-9).all()
                assert (narrow.high <= wide.high + 1e-9).all()
            for each in found:
                assert ((each.low <= each.estimate) & (each.estimate <= each.high)).all()
        median = estimate.median_interval(target=target, confidence_level=0.5)
        assert median == estimate.quantile_interval(0.5, target=target, confidence_level=0.5)
        quantile = estimate.quantile_interval(q, target=target)
        np.testing.assert_allclose(
            quantile.standard_error,
            (quantile.high - quantile.low) / (2.0 * ndtri(0.975)),
            rtol=1e-12,
        )


def test_an_end_is_infinite_exactly_where_so_few_records_need_not_reach():
    estimate = release(n=200)
    limit = ndtri(0.975) ** 2 / 200
    q = np.array([limit * 0.999, limit * 1.001, 1.0 - limit * 1.001, 1.0 - limit * 0.999])

    found = estimate.quantile_interval(q)
    file = estimate.quantile_interval(q, target="file")

    assert np.isinf(found.low).tolist() == [True, False, False, False]
    assert np.isinf(found.high).tolist() == [False, False, False, True]
    assert np.isfinite([file.low, file.high]).all()
    assert file.about == "the quantile in the original file"
    assert np.isinf(estimate.quantile_interval(0.5, confidence_level=1.0 - 1e-15).high) == (
        ndtri(1.0 - 5e-16) ** 2 / 200 >= 0.5
    )


def test_too_few_records_for_the_level_bound_nothing():
    estimate = release(n=3)

    assert estimate.cdf_interval(0.0)[:2] == (0.0, 1.0)
    assert estimate.cdf_interval(0.0, target="file")[:2] == (0.0, 1.0)
    assert estimate.quantile_interval(0.5)[:2] == (-np.inf, np.inf)


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize(
    ("p", "n", "rounded", "apart"),
    [
        (0.3, 200, 1.0, 0.0),
        (0.3, 300, 30.0, 0.0),
        (0.15, 150, 1.0, 0.0),
        (0.45, 150, 1.0, 0.0),
        (0.3, 600, 10.0, 12_000.0),
    ],
)
def test_ends_are_where_the_rearrangement_differs_by_its_own_standard_error(
    target, donors, p, n, rounded, apart
):
    # in 150 records at p = .15, n p^2 / 10 = .34 is less than tau; with sigma 60 steps variances
    # are exact
    scheme = cm.ConditionalMasking(p, 60.0, donors=donors, decimals=0)
    x = rounded * np.rint(90.0 / rounded * np.random.default_rng(2).standard_normal(n))
    x += apart * (np.arange(n) % 3)
    z = scheme.mask(x, rng=2)
    probabilities = np.array([0.04, 0.25, 0.4, 0.55, 0.7, 0.93])
    estimate = scheme.estimate(z)
    c = ndtri(0.975) ** 2 / n
    points = np.arange(z.min() - 1500.0, z.max() + 1500.0)
    rearranged = np.clip(np.sort(estimate.cdf(points)), 0.0, 1.0)
    given_file = n * estimate.cdf_interval(points, target="file").standard_error ** 2

    def ends(q, share):
        variance = given_file + (q * (1.0 - q) if target == "population" else 0.0)
        radius = np.sqrt(c / (1.0 - c) * share * variance)
        first = np.append(0, np.flatnonzero(rearranged < q - radius) + 1)[-1]
        last = np.flatnonzero(rearranged > q + radius)[0]
        return [(points[k], radius[k], variance[k]) for k in (first, last)]

    def share_of(q):
        middle = points[np.searchsorted(rearranged, q)]
        taus = []
        (low, *of_low), (high, *of_high) = ends(q, 1.0)
        below = [low <= each <= middle for each in z]
        above = [middle < each <= high for each in z]
        for held, rise, variance in ((below, *of_low), (above, *of_high)):
            rate = sum(held) / n / p**2 + rise * (
                (target == "population") - (donors == "permutation")
            )
            taus.append((max(rate, 0.0) / rise) ** 2 / (n * variance))
        return (1.0 + 2.0 / 3.0 * min(*taus, n * p**2 / 10.0)) ** -0.5

    shares = [share_of(q) for q in probabilities]
    expected = np.array(
        [
            [end for end, *_ in ends(q, share)]
            for q, share in zip(probabilities, shares, strict=True)
        ]
    )
    found = estimate.quantile_interval(probabilities, target=target)
    assert np.array([found.low, found.high]).T.tolist() == expected.tolist()
    assert min(shares) < 0.97


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("p", [0.1, 0.6])
def test_of_the_file_nothing_lies_beyond_the_data(donors, p):
    # in half of the files T is above 0 there while its error is estimated 0
    scheme = cm.ConditionalMasking(p, 1.0, donors=donors)
    rng = np.random.default_rng(3)
    x = np.clip(rng.normal(size=(100, 400)), -3.0, 3.0)

    found = scheme.estimate(masked_rows(scheme, x, rng)).cdf_interval([-5.0, 5.0], target="file")

    # a false alarm by chance below 1e-3, if each of 200 misses in 2%
    assert np.count_nonzero((found.low[:, 0] > 0.0) | (found.high[:, 1] < 1.0)) <= 12
    known = cm.ReverseMapping(p, 1.0).estimate(x[0])
    least = known.cdf_interval(x[0].min(), target="file")
    assert least.low == least.high == np.mean(x[0] == x[0].min())


@pytest.mark.parametrize("n", [100, 150, 300])
def test_a_gap_of_which_all_is_known_belongs_to_the_interval_of_its_quantile(n):
    # of a permutation about the file T varies by nothing there, and differs from q by rounding
    # alone
    scheme = cm.ConditionalMasking(0.3, 5.0, donors="permutation", decimals=0)
    x = np.rint(8.0 * np.random.default_rng(n).standard_normal(n))
    x[: n // 3] += 6000.0
    for z in masked_rows(scheme, np.repeat(x[None], 10, axis=0), np.random.default_rng(1)):
        below = np.mean(z < 3000.0)
        found = scheme.estimate(z).quantile_interval(below, target="file")
        assert found.low < 100.0
        assert found.high > 5900.0


def test_an_interval_asked_alone_is_the_one_asked_among_others():
    # 10,000 sigma: a line of many stretches
    z = np.random.default_rng(4).uniform(0.0, 2e5, 2_000).round()
    one = cm.ConditionalMasking(0.3, 20.0, decimals=0).estimate(z)
    q = np.arange(1, 20) / 20
    together = one.quantile_interval(q)
    alone = [one.quantile_interval(each) for each in q]

    for end in ("low", "high"):  # T* is known between nodes of a sixteenth of sigma
        assert getattr(together, end) == pytest.approx(
            [getattr(each, end) for each in alone], abs=1.25
        )


# 447: halfway by logarithms
NEAR = [(100, 0.77), (2_000, 0.5), (447, 0.635), (2, 0.77), (1_000_000, 0.5)]


@pytest.mark.parametrize(("n", "p"), NEAR)
def test_rearranging_ends_at_a_p_that_falls_with_the_number_of_records(n, p):
    assert crossing_of(p - 1e-3, n) == "rearranged"
    assert crossing_of(p + 1e-3, n) == "first"


@pytest.mark.parametrize(("n", "p"), [(300, 0.6), (300, 0.8), (3_000, 0.45), (3_000, 0.55)])
def test_an_estimate_goes_by_the_rule(n, p):
    scheme = cm.ConditionalMasking(p, 1.0, donors="sample")
    q = [0.03, 0.5]
    z = scheme.mask_rows(
        np.random.default_rng(1).laplace(size=(2, n)), np.random.default_rng(2), ()
    )
    estimate = scheme.estimate(z)
    own = crossing_of(p, n)
    both = {each: estimate.quantile(q, crossing=each) for each in ("first", "rearranged")}

    assert not np.array_equal(both["first"], both["rearranged"])
    assert np.array_equal(estimate.quantile(q), both[own])
    assert np.array_equal(estimate.median(), both[own][:, 1])
    assert np.array_equal(estimate.quantile_interval(q).estimate, both[own])
