"""Grids: whole steps and back against exact fractions, and the grids that data show of themselves."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st

from condmask.grid import Grid, decimal_grid, decimals_of, default_step, grid_of, within
from condmask.visible_grid import suits, visible_grid

STEPS = [0.05, 12.0, 1 / 3, 0.1, 0.25, 1e-3, 1000.0, 2.0**-40, 2.0**-900, 2.0**900, 7.5, 1 / 7]


@given(st.integers(-(2**52), 2**52), st.sampled_from(STEPS))
def test_a_step_and_back_is_the_nearest_float_and_the_same_step(k, step):
    grid, exact = grid_of(step), reference.exact_step(step)

    value = grid.values(np.array([float(k)]))

    assert Fraction(grid.numerator) / Fraction(grid.denominator) == exact
    if abs(k) * exact.numerator <= 2**53 or grid.denominator == 1.0:
        assert value[0] == float(k * exact)  # Fraction to float rounds correctly
    assert grid.units(value)[0] == k


@given(st.integers(-(2**52), 2**52), st.integers(-15, 15))
def test_decimals_are_the_floats_nearest_to_them(k, places):
    grid = decimal_grid(places)

    value = grid.values(np.array([float(k)]))

    assert value[0] == float(k * Fraction(10) ** -places)
    assert grid.units(value)[0] == k


@given(st.floats(1e-290, 1e300))
@example(1000.0)
@example(1e-290)
@example(1e300)
@example(np.nextafter(1024.0, 0.0))
def test_the_default_step_is_the_power_of_two_at_or_below_a_thousandth_of_sigma(sigma):
    step = default_step(sigma)

    assert math.frexp(step)[0] == 0.5
    # sigma / 1000 is rounded once, by less than 2^-53 of it
    assert Fraction(step) <= Fraction(sigma) / 1000 * (1 + Fraction(1, 2**52))
    assert 2 * Fraction(step) > Fraction(sigma) / 1000
    assert Fraction(grid_of(step).numerator) / Fraction(grid_of(step).denominator) == Fraction(step)


@pytest.mark.parametrize("step", [1.0, 12.0, 0.25])
def test_ties_go_up(step):
    k = np.arange(-9.0, 9.0)

    # never half to even, which leaves whole numbers at step 2 on multiples of 4
    assert grid_of(2 * step).units(k * step).tolist() == np.floor(k / 2 + 0.5).tolist()


def test_zero_has_no_sign_and_large_values_no_half():
    x = np.array([-0.0, -0.2, 2.0**52 + 1, 2.0**53 - 1, -(2.0**52) - 1, 2.0**51 + 0.5, np.nan])

    units = Grid(1.0, 1.0).units(x)

    assert not np.signbit(units[:2]).any()
    # x + 1/2 is rounded to even from 2^52 on
    assert units[2:6].tolist() == [2.0**52 + 1, 2.0**53 - 1, -(2.0**52) - 1, 2.0**51 + 1]
    assert np.isnan(units[6])


def test_a_grid_point_of_many_digits_is_at_itself():
    grid, units = grid_of(717212 / 841), np.array([-6229194256399735.0, 6229194256399735.0, 41.0, 0.0])

    points = grid.values(units)
    assert np.array_equal(grid.below(points), units)
    assert np.array_equal(grid.above(points), units)


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from([Fraction(1, 20), Fraction(12), Fraction(1, 10), Fraction(1, 8)]),
)
def test_below_and_above_a_point_are_those_of_exact_fractions(twice, step):
    grid, x = grid_of(float(step)), Fraction(twice, 2) * step  # on the grid or half way

    assert grid.below(np.array([float(x)]))[0] == math.floor(x / step)
    assert grid.above(np.array([float(x)]))[0] == math.ceil(x / step)


OWN = {
    "whole": lambda k: k,
    "cents": lambda k: k / 100,
    "twentieths": lambda k: k / 20,
    "thirds": lambda k: k / 3,
    "hundreds": lambda k: k * 100.0,
    "dozens": lambda k: k * 12.0,
    "eighths": lambda k: k / 8,
    "inches in cm": lambda k: k * 2.54,
    "pounds in kg": lambda k: k * 0.45359237,
}
UNIT = {
    "whole": 1.0, "cents": 0.01, "twentieths": 0.05, "thirds": 1 / 3, "hundreds": 100.0, "dozens": 12.0,
    "eighths": 0.125, "inches in cm": 2.54, "pounds in kg": 0.45359237,
}  # fmt: skip


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("n", [40, 20_000])
@pytest.mark.parametrize("name", OWN)
def test_a_grid_is_seen_whatever_it_is(name, n, size):
    k = np.rint(np.random.default_rng(n).normal(0, size, n))
    k[::7] = 0.0
    x = OWN[name](k)
    x[3::7] = np.nan

    seen = visible_grid(x, "float64", UNIT[name] / 10)

    # 30 numbers have a common factor in one set of 2^30
    assert seen is not None
    assert seen.step == pytest.approx(UNIT[name], rel=1e-12)
    assert visible_grid(x, "float64", UNIT[name] * 200) is None  # much finer than the step


def test_one_value_off_the_grid_late_in_the_data_makes_it_finer_or_none():
    x = np.rint(np.random.default_rng(1).normal(0, 1e4, 50_000))
    finer, off = x.copy(), x.copy()
    finer[-1] += 0.5
    off[-1] += 0.123456789

    assert visible_grid(x, "float64", 0.1) == Grid(1.0, 1.0) == grid_of(1.0)
    assert visible_grid(finer, "float64", 0.1).step == 0.5
    assert visible_grid(off, "float64", 0.1) is None
    assert visible_grid(x.astype(np.float32).astype(float) / 100, "float64", 1e-3).step == 0.01


@given(
    st.integers(0, 2**32),
    st.integers(2, 40),
    st.integers(-20, 38),
    st.sampled_from([1.0, 0.7, 2.0**-30, 1e9]),
)
def test_continuous_data_have_no_grid(seed, n, size, step):
    # from step / 10^6 to 2^38 steps. A pair is mistaken in less than 1e-9 of all cases, by BY_CHANCE
    x = np.random.default_rng(seed).normal(0, step * 2.0**size, n)

    assert visible_grid(x, "float64", step) is None


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_whole_numbers_are_a_grid_as_long_as_that_is_no_chance(n, kind):
    # n continuous values of size 2^size, known to 4 ulp either way, are all whole by chance in one of
    # (8 ulp)^-n cases, which must be 10^9
    bits = 53 if kind == "float64" else 24
    size = math.floor(bits - 4 - 9 * math.log2(10) / n)

    def whole(size):
        more = np.random.default_rng(3).integers(2 ** (size - 1), size=n)
        more[:2] = 0, 1  # neighbours among odd numbers have no common factor
        k = 2**size + 1 + 2 * more
        assert k.max() < 2 ** (size + 1)
        return k.astype(float)

    assert visible_grid(whole(size), kind, 1.0) == Grid(1.0, 1.0)
    assert visible_grid(whole(size + 1), kind, 1.0) is None


@pytest.mark.parametrize("h", [math.pi, 1e-5 * math.pi, math.sqrt(0.7)])
def test_two_values_have_a_common_divisor_as_long_as_that_is_no_chance(h):
    # k h and (k + 1) h are known to 4 ulp, so k + 1 times the one and k times the other, which agree, to
    # 8 k^2 ulp of h: that is to be less than 10^-9 of h
    for times, seen in [(0.5, True), (2.5, False)]:
        k = math.floor(math.sqrt(times * 1e-9 / (8 * np.spacing(1.0))))
        x = h * np.array([k, k + 1.0])
        found = visible_grid(x, "float64", h)

        assert (found is not None) == seen
        assert found is None or found.step == pytest.approx(h, rel=1e-12)


MOST = {"float64": 2**53, "float32": 2**24}


@pytest.mark.parametrize("kind", MOST)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("margin", [0.0, 1.0, 1_000.0])
def test_values_and_their_noise_lie_within_what_a_type_tells_apart(kind, sign, margin):
    units = np.array([3.0, np.nan, sign * (MOST[kind] - margin), 0.0])

    within(units, Grid(1.0, 1.0), margin, "x", kind)
    within(np.array([]), Grid(1.0, 1.0), margin, "x", kind)
    # of 2^53 and 1 the sum is rounded to 2^53
    with pytest.raises(
        ValueError, match=rf"^x must stay within 2\^{int(math.log2(MOST[kind]))} steps of 1, noise"
    ):
        within(units, Grid(1.0, 1.0), margin + 2.0, "x", kind)
    with pytest.raises(ValueError, match=r"got a value beyond at position 2"):
        within(units + 4.0 * sign, Grid(1.0, 1.0), margin, "x", kind)


@pytest.mark.parametrize("kind", MOST)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_and_their_noise_are_numbers_of_their_type(kind, sign):
    largest = float(np.finfo(kind).max)  # 2^1024 - 2^971, or 2^128 - 2^104
    grid = Grid(2.0 ** (math.frexp(largest)[1] - 10), 1.0)  # of which 2^10 are just too large
    units = np.array([1.0, sign * 1_000.0])

    within(units, grid, 23.0, "x", kind)
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"^x must stay finite, noise included, got .* 1$"),
    ):
        within(units, grid, 24.0, "x", kind)


@given(st.lists(st.floats(-(2.0**1022), 2.0**1022), min_size=1, max_size=80), st.floats(1e-293, 1e297))
def test_any_data_are_looked_through_and_what_is_seen_is_there(values, step):
    x = np.array(values)

    seen = visible_grid(x, "float64", step)

    if seen is not None:
        assert seen.step >= step / 64
        assert (np.abs(seen.values(seen.units(x)) - x) <= 4 * np.spacing(np.abs(x))).all()


@pytest.mark.parametrize(
    ("step", "own", "fits"), [(0.5, 1.0, False), (2.0, 1.0, True), (0.3, 0.1, True), (0.25, 0.1, False)]
)
def test_a_step_suits_a_grid_of_which_it_is_a_whole_multiple(step, own, fits):
    assert suits(step, grid_of(own)) == fits


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([12.0, np.nan, 0.0], 0),
        ([0.1, 0.25, 3.0], 2),
        ([-1.005, 2.0], 3),
        ([1.0 / 3.0], None),
        ([1e15 + 0.5, 1.25], None),  # beyond 2^53 tenths
        ([np.nan], 0),
    ],
)
def test_the_decimals_of_values_are_the_fewest_that_hold_them(values, places):
    assert decimals_of(np.array(values)) == places


def test_decimals_are_looked_for_in_all_values():
    values = np.ones(20_000)
    values[-1] = 0.5

    assert decimals_of(values) == 1
