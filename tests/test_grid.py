"""Grids: whole steps and back against exact fractions, and the grids that data show of themselves."""

import math
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st

from condmask.grid import Grid, decimal_grid, decimals_of, default_step, grid_of, within
from condmask.visible_grid import visible_grid

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


@pytest.mark.parametrize("size", [1e2, 1e6])
@pytest.mark.parametrize("unit", [1.0, 0.01, 0.05, 100.0, 12.0, 0.125, 2.54])
def test_a_grid_is_seen_whatever_it_is(unit, size):
    k = np.rint(np.random.default_rng(1).normal(0, size, 5_000))
    k[::7], exact = 0.0, Fraction(str(unit))
    x = grid_of(unit).values(k)
    x[3::7] = np.nan

    # numbers have no common factor but by chance, of 5,000 never
    assert visible_grid(x, "float64", unit / 10) == grid_of(float(exact))
    assert visible_grid(x, "float64", unit * 2_000) is None  # much finer than the step
    assert visible_grid(np.append(x, 0.123456789), "float64", unit / 10) is None
    finer = visible_grid(np.append(x, 0.5 * unit), "float64", unit / 100)
    assert finer.step == pytest.approx(0.5 * unit, rel=1e-12)


def test_single_precision_shows_its_grid():
    x = np.round(np.random.default_rng(1).normal(0.0, 100.0, 500), 1).astype(np.float32).astype(float)

    assert visible_grid(x, "float32", 0.01) == grid_of(0.1)
    assert visible_grid(x, "float64", 0.01) is None


@given(st.integers(0, 2**32), st.integers(-20, 30), st.sampled_from([1.0, 0.7, 2.0**-30, 1e9]))
def test_continuous_data_have_no_grid(seed, size, step):
    x = np.random.default_rng(seed).normal(0, step * 2.0**size, 40)

    assert visible_grid(x, "float64", step) is None


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
