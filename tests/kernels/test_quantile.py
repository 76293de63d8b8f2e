"""Quantiles against a scan of every gap between masked values, by tests/reference.py."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.engines import crossings
from condmask.engines import lattice as curves

NOISES = ("normal", "laplace")
TOL = 1e-12


def quantiles(z, q, noise, p, sigma, beta=0.0, crossing="first"):
    masking = Masking(noise, p, beta)
    curve = curves.curve(np.sort(np.asarray(z, dtype=float)), sigma, masking, TOL)
    reach = (weight.reach(masking, TOL) + 1.0) * sigma
    return crossings.quantiles(curve, np.asarray(q, dtype=float), reach, 1e-13 * sigma, TOL, crossing)


def measured(z, q, noise, p, sigma, step):
    """The rearranged quantile from the length of {T < q}, on a grid of points."""
    x = np.arange(np.min(z) - 30 * sigma, np.max(z) + 30 * sigma, step)
    total = curves.values(curves.curve(np.sort(z), sigma, Masking(noise, p), TOL), x)
    return x[0] + step * np.count_nonzero(total < q)


def is_a_crossing(x, intervals):
    """x is a masked value where T jumps through the level, or in a piece of a gap where it rises."""
    return any(x == right if left == right else left - 1e-9 <= x <= right + 1e-9 for left, right in intervals)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7])
@pytest.mark.parametrize(
    "z",
    [
        [0.3, 1.9],
        [3.7041, -1.25013, 12.50021, 0.62517, 8.10019, -4.33321, 2.71828, 5.00013, 7.77771, 1.41421],
        [1.5, 1.5, 1.5, -2.0, -2.0, 4.0],
        [2.5] * 7,
        [-1000.0, 0.1, 1000.0],
    ],
    ids=["two", "generic", "ties", "all equal", "wide gaps"],
)
def test_quantiles_are_first_crossings(noise, p, z):
    q = [0.04, 0.21, 0.51, 0.77, 0.96]  # not .5, which T of three far records reaches exactly at p = .5

    found = quantiles(z, q, noise, p, 1.3)

    for x, intervals in zip(found, reference.crossings(z, q, noise, p, 1.3), strict=True):
        assert is_a_crossing(x, [min(intervals)])


@settings(max_examples=15)
@given(
    z=st.lists(st.floats(-8, 8).map(lambda v: v + 0.1234567), min_size=2, max_size=6),
    q=st.floats(0.02, 0.98),
    p=st.floats(0.2, 0.9),
    noise=st.sampled_from(NOISES),
)
def test_quantiles_of_any_small_sample_are_crossings(z, q, p, noise):
    (x,) = quantiles(z, [q], noise, p, 0.9)

    assert_weakly_crosses(x, z, q, noise, p, 0.9)


def assert_weakly_crosses(x, z, q, noise, p, sigma):
    """T reaches q at x and is below it, or at it within the tolerance, just before."""
    before = x - 1e-9 * sigma
    at, just_before = reference.cdf(z, [x, before], noise, p, sigma)
    # T moves by less than 2e-9 / p in this distance where it does not jump
    assert at >= q - 1e-8
    assert just_before <= q + 1e-8


def test_the_first_of_several_crossings_is_found():
    # at p = .3 the smooth part of T rises above .04 at -2.06, where no masked value lies, falls, and T
    # jumps through .04 again at 0
    z = [0.0] * 5
    (intervals,) = reference.crossings(z, [0.04], "normal", 0.3, 1.0, steps=400)

    (x,) = quantiles(z, [0.04], "normal", 0.3, 1.0)

    assert [np.mean(interval) for interval in intervals] == pytest.approx([-2.06, 0.0], abs=0.1)
    assert is_a_crossing(x, intervals[:1])


@pytest.mark.parametrize("p", [0.2, 0.3, 0.4])
@pytest.mark.parametrize("far", [0, 2, 20])
@pytest.mark.parametrize("excess", [5e-12, 1e-10, 1e-8])
def test_a_crossing_is_found_however_little_is_above_the_probability(p, far, excess):
    # left of all records T rises to a top and falls again; between points below a probability that are
    # close to each other, it may be above
    top = minimize_scalar(
        lambda u: -reference.normal_weight(u, p), bounds=(-4, -0.5), method="bounded", options={"xatol": 1e-8}
    )
    z = np.append(np.zeros(5), 1_000.0 + np.arange(far))  # who are far lower T in proportion
    height, h = -top.fun * 5 / z.size, 1e-3
    bend = (reference.cdf(z, [top.x - h, top.x + h], "normal", p, 1.0).mean() - height) / (0.5 * h * h)

    def found(q, crossing="first"):
        return quantiles(z, [q], "normal", p, 1.0, crossing=crossing)[0]

    # half the width of what lies above. T is known to 1e-12, by which q is lowered: 5e-12 are 5e-12 to 7e-12,
    # the root of which is larger by 18%; a parabola is T up to some 1e-4, this width in units of the noise
    half = np.sqrt(2 * excess / -bend)
    assert found(height - excess) == pytest.approx(top.x - half, abs=0.25 * half)
    assert found(height - excess, "rearranged") == pytest.approx(-2 * half, abs=0.5 * half)
    assert found(height + excess) == 0.0 == found(height + excess, "rearranged")


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_rearranged_quantiles_measure_what_lies_below(noise, p, seed):
    z = np.random.default_rng(seed).normal(0, 1.5, 12)
    q = [0.05, 0.3, 0.5, 0.9]

    found = quantiles(z, q, noise, p, 1.0, crossing="rearranged")

    # one step of the grid at each of at most 2 * 12 crossings
    expected = [measured(z, level, noise, p, 1.0, 1e-4) for level in q]
    assert found == pytest.approx(expected, abs=24e-4)
    assert (found >= quantiles(z, q, noise, p, 1.0)).all()
    assert (np.diff(found) >= 0.0).all()


@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("p", [0.2, 0.7])
def test_the_monotone_curve_inverts_the_rearranged_quantiles(p, beta):
    z = np.sort(np.random.default_rng(8).normal(0, 2, 60))
    masking = Masking("normal", p, beta)
    curve = curves.curve(z, 1.0, masking, 1e-10)
    reach = weight.reach(masking, 1e-10) + 1.0
    x = np.linspace(-60.0, 60.0, 41)

    found = crossings.monotone_values(curve, x, reach, 1e-13, 1e-10)

    assert found[0] == 0.0
    assert found[-1] == 1.0
    assert (np.diff(found) >= -1e-8).all()
    inside = (found > 1e-6) & (found < 1.0 - 1e-6)
    assert inside.sum() > 3
    for at, value in zip(x[inside], found[inside], strict=True):
        low, high = quantiles(z, [value - 2e-8, value + 2e-8], "normal", p, 1.0, beta, "rearranged")
        assert low - 1e-9 <= at <= high + 1e-9


@settings(max_examples=20)
@given(
    z=st.lists(st.integers(-9, 9), min_size=1, max_size=9),
    q=st.floats(0.03, 0.97),
    p=st.floats(0.2, 0.9),
    delta=st.sampled_from([0.1, 0.5, 2.0]),
    noise=st.sampled_from(NOISES),
)
def test_quantiles_on_a_grid_are_found_by_walking_it(z, q, p, delta, noise):
    masking = Masking(noise, p, 0.0, delta)
    curve = curves.curve(np.sort(np.array(z, dtype=float)), 1.0 / delta, masking, 1e-11)
    reach = (weight.reach(masking, 1e-11) + 1.0) / delta
    k = np.arange(np.floor(min(z) - reach), max(z) + reach + 2)
    total = curves.values(curve, k + 0.5)
    if np.abs(total - q).min() < 1e-9:
        return  # on an edge rounding decides

    (first,) = crossings.quantiles(curve, np.array([q]), reach, 0.0, 1e-11, "first")
    (rearranged,) = crossings.quantiles(curve, np.array([q]), reach, 0.0, 1e-11, "rearranged")

    assert first == k[np.argmax(total >= q)]
    assert rearranged == k[0] + np.count_nonzero(total < q)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("beta", [0.05, 0.7])
@pytest.mark.parametrize("p", [0.3, 0.7])
def test_smoothed_quantiles_meet_their_probability(noise, beta, p):
    z = np.random.default_rng(5).normal(0, 3, 40)
    q = np.array([0.03, 0.3, 0.5, 0.9])

    x = quantiles(z, q, noise, p, 1.4, beta)

    # T_b has slope at most 1/(p beta sigma) and x is good to 1e-13 sigma
    assert reference.cdf(z, x, noise, p, 1.4, beta * 1.4) == pytest.approx(q, abs=1e-11)


@pytest.mark.parametrize("p", [0.55, 0.95])
def test_a_large_sample_crosses_at_a_masked_value_or_in_a_gap(p):
    z = np.random.default_rng(6).normal(0, 2, 300)
    q = np.array([0.1, 0.25, 0.5, 0.9])

    for level, x in zip(q, quantiles(z, q, "normal", p, 1.0), strict=True):
        assert_weakly_crosses(x, z, level, "normal", p, 1.0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("sigma", [1e9, 1e13, 1e100])
@pytest.mark.parametrize("crossing", ["first", "rearranged"])
def test_noise_far_wider_than_the_data_leaves_only_the_jumps(noise, sigma, crossing):
    z, q, p = np.random.default_rng(7).normal(0, 2, 300), np.array([0.11, 0.503, 0.801]), 0.6
    # all records are at the middle of the smooth part: T = H / p + (1 - 1/p) / 2
    share = p * (q - 0.5 * (1 - 1 / p))

    found = quantiles(z, q, noise, p, sigma, crossing=crossing)

    # as far as the smooth part, of slope 1/sigma, is level; a share is nowhere a multiple of 1/300
    assert found == pytest.approx(np.sort(z)[np.ceil(share * 300).astype(int) - 1], abs=1e-6)


def counted_data(noise, p, beta, delta, seed):
    """A curve of counts, that of the records they stand for, and reach and resolution of a search."""
    rng = np.random.default_rng(seed)
    z = np.unique(np.append(rng.integers(-60, 60, 50), rng.integers(-4000, 4000, 9))).astype(float)
    counts = np.where(rng.random(z.size) < 0.2, rng.integers(50, 300, z.size), rng.integers(1, 4, z.size))
    masking, sigma = Masking(noise, p, beta, delta), 1.0 / delta if delta > 0.0 else 7.0
    whole = curves.curve(np.repeat(z, counts), sigma, masking, TOL)
    found = curves.curve(z, sigma, masking, TOL, below=np.append(0, np.cumsum(counts)))
    return found, whole, (weight.reach(masking, TOL) + 1.0) * sigma, 1e-13 * sigma


@pytest.mark.parametrize("crossing", ["first", "rearranged"])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize(("beta", "delta"), [(0.0, 0.0), (0.0, 0.1), (0.0, 0.5), (0.3, 0.0)])
def test_counts_cross_where_their_records_do(noise, p, beta, delta, crossing):
    # in no simple ratio to the counts, so that T is not level at a probability
    q = np.array([0.0312, 0.1873, 0.4991, 0.7717, 0.9631])
    curve, whole, reach, resolution = counted_data(noise, p, beta, delta, 21)

    found = crossings.quantiles(curve, q, reach, resolution, TOL, crossing)

    expected = crossings.quantiles(whole, q, reach, resolution, TOL, crossing)
    # both T are within 1e-12 of the same; its least slope at these crossings is above 1e-5
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize("crossing", ["first", "rearranged"])
@pytest.mark.parametrize(("beta", "delta"), [(0.0, 0.0), (0.0, 0.5), (0.3, 0.0)])
def test_crossings_do_not_depend_on_workers_nor_on_what_else_is_asked(beta, delta, crossing, workers):
    curve, _, reach, resolution = counted_data("normal", 0.3, beta, delta, 22)
    q = np.random.default_rng(23).uniform(0.01, 0.99, 200)  # four blocks

    found = crossings.quantiles(curve, q, reach, resolution, TOL, crossing, workers)
    alone = [crossings.quantiles(curve, q[[k]], reach, resolution, TOL, crossing)[0] for k in range(200)]

    assert np.array_equal(found, crossings.quantiles(curve, q, reach, resolution, TOL, crossing))
    assert np.array_equal(found, alone)


@pytest.mark.parametrize("delta", [0.1, 0.5])
def test_the_first_of_several_crossings_of_a_count_on_a_grid_is_found(delta):
    # as above without a grid: at p = .3 T rises above .04 left of all records
    masking = Masking("normal", 0.3, 0.0, delta)
    curve = curves.curve(np.zeros(1), 1.0 / delta, masking, TOL, below=np.array([0, 5]))
    reach = (weight.reach(masking, TOL) + 1.0) / delta
    k = np.arange(-np.floor(reach), 1.0)
    expected = k[np.argmax(curves.values(curve, k + 0.5) >= 0.04)]

    (found,) = crossings.quantiles(curve, np.array([0.04]), reach, 0.0, TOL, "first")

    assert found == expected < 0.0
