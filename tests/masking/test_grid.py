"""Grids: whole steps and back, those that data show of themselves, rounded data, the law of
rounded noise."""

import math
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import laplace, norm

import condmask as cm
from condmask.grid import (
    Grid,
    decimal_grid,
    decimals_of,
    default_step,
    grid_of,
    nearest,
    require_representable,
)
from condmask.law import Law
from condmask.publish.rounding import RoundingShift, shift_of
from condmask.visible_grid import visible_grid

STEPS = [0.05, 12.0, 1 / 3, 0.1, 0.25, 1e-3, 1000.0, 2.0**-40, 2.0**-900, 2.0**900, 7.5, 1 / 7]


@given(st.integers(-(2**52), 2**52), st.sampled_from(STEPS))
def test_a_step_and_back_is_the_nearest_float_and_the_same_step(k, step):
    grid = grid_of(step)
    exact = reference.exact_step(step)

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
    assert Fraction(grid_of(step).numerator) / Fraction(grid_of(step).denominator) == Fraction(
        step
    )


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
    grid = grid_of(717212 / 841)
    units = np.array([-6229194256399735.0, 6229194256399735.0, 41.0, 0.0])

    points = grid.values(units)
    assert np.array_equal(grid.below(points), units)
    assert np.array_equal(grid.above(points), units)


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from([Fraction(1, 20), Fraction(12), Fraction(1, 10), Fraction(1, 8)]),
)
def test_below_and_above_a_point_are_those_of_exact_fractions(twice, step):
    grid = grid_of(float(step))
    x = Fraction(twice, 2) * step  # on the grid or half way

    assert grid.below(np.array([float(x)]))[0] == math.floor(x / step)
    assert grid.above(np.array([float(x)]))[0] == math.ceil(x / step)


@pytest.mark.parametrize("size", [1e2, 1e6])
@pytest.mark.parametrize("unit", [1.0, 0.01, 0.05, 100.0, 12.0, 0.125, 2.54])
def test_a_grid_is_seen_whatever_it_is(unit, size):
    k = np.rint(np.random.default_rng(1).normal(0, size, 5_000))
    k[::7] = 0.0
    exact = Fraction(str(unit))
    x = grid_of(unit).values(k)
    x[3::7] = np.nan

    # numbers have no common factor but by chance, of 5,000 never
    assert visible_grid(x, "float64", unit / 10) == grid_of(float(exact))
    assert visible_grid(x, "float64", unit * 2_000) is None  # much finer than the step
    assert visible_grid(np.append(x, 0.123456789), "float64", unit / 10) is None
    finer = visible_grid(np.append(x, 0.5 * unit), "float64", unit / 100)
    assert finer.step == pytest.approx(0.5 * unit, rel=1e-12)


def test_single_precision_shows_its_grid():
    x = (
        np.round(np.random.default_rng(1).normal(0.0, 100.0, 500), 1)
        .astype(np.float32)
        .astype(float)
    )

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

    require_representable(units, Grid(1.0, 1.0), margin, "x", kind)
    require_representable(np.array([]), Grid(1.0, 1.0), margin, "x", kind)
    # of 2^53 and 1 the sum is rounded to 2^53
    with pytest.raises(
        ValueError, match=rf"^x must stay within 2\^{int(math.log2(MOST[kind]))} steps of 1, noise"
    ):
        require_representable(units, Grid(1.0, 1.0), margin + 2.0, "x", kind)
    with pytest.raises(ValueError, match=r"got a value beyond at position 2"):
        require_representable(units + 4.0 * sign, Grid(1.0, 1.0), margin, "x", kind)


@pytest.mark.parametrize("kind", MOST)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_and_their_noise_are_numbers_of_their_type(kind, sign):
    largest = float(np.finfo(kind).max)  # 2^1024 - 2^971, or 2^128 - 2^104
    grid = Grid(2.0 ** (math.frexp(largest)[1] - 10), 1.0)  # of which 2^10 are just too large
    units = np.array([1.0, sign * 1_000.0])

    require_representable(units, grid, 23.0, "x", kind)
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"^x must stay finite, noise included, got .* 1$"),
    ):
        require_representable(units, grid, 24.0, "x", kind)


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


RNG = np.random.default_rng(5)
N = 2_500
X = RNG.lognormal(7.0, 0.5, N).round(3)
SCHEME = cm.ConditionalMasking(0.6, 400.0, step=0.5)
MOVED = r"^x was rounded to multiples of 0.5, which moves its mean by \S+ and its largest value by \S+$"
pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore:.* was rounded to multiples:condmask.ReleaseWarning"),
]


def by_hand(texts, step):
    """floor(x / step + 1/2) steps of decimals as they are written."""
    step = Decimal(step)
    return np.array(
        [
            float((Decimal(text) / step + Decimal("0.5")).to_integral_value(ROUND_FLOOR) * step)
            for text in texts
        ]
    )


# --- the rule ---


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("step", ["0.1", "0.01", "0.05", "0.5", "2", "10", "12"])
def test_ties_go_up_as_they_are_written(step, kind):
    # halves of a step are at every second: 1.005 and -1.115, whose bits lie below them, among them
    ties = [str(Decimal(step) * k / 2) for k in range(-401, 402)]
    x = np.array(ties, dtype=kind).astype(float)

    assert np.array_equal(nearest(x, grid_of(float(step)), kind), by_hand(ties, step))


@given(
    st.integers(-(10**14), 10**14),
    st.integers(0, 8),
    st.sampled_from(["0.01", "0.05", "1", "5", "100"]),
)
def test_decimals_of_fifteen_digits_are_rounded_exactly(digits, places, step):
    text = str(Decimal(digits).scaleb(-places))
    if abs(Decimal(text) / Decimal(step)) < 2**44:
        assert nearest(np.array([float(text)]), grid_of(float(step)), "float64") == by_hand(
            [text], step
        )


# --- releases ---


def test_a_column_is_masked_as_the_rounded_one_is_and_what_moved_is_said():
    with pytest.warns(cm.ReleaseWarning, match=MOVED) as caught:
        z = SCHEME.mask(X, rng=1, round=True)

    rounded = by_hand(map(repr, X.tolist()), "0.5")
    assert np.array_equal(z, SCHEME.mask(rounded, rng=1))
    (said,) = [str(each.message) for each in caught]
    assert f"its mean by {np.mean(rounded - X):+.2g} and" in said
    assert said.endswith(f"value by {rounded.max() - X.max():+.2g}")


@pytest.mark.filterwarnings("error")
def test_data_on_the_grid_stay_as_they_are_without_a_word():
    x = np.rint(X)

    assert np.array_equal(SCHEME.mask(x, rng=1, round=True), SCHEME.mask(x, rng=1))


@pytest.mark.parametrize(
    ("column", "step", "dtype"),
    [
        (np.rint(X).astype(np.int16), 10.0, np.int64),
        (X.astype(np.float32), 0.5, np.float32),
        (pl.Series("x", X), 0.5, pl.Float64),
    ],
    ids=["int16", "float32", "polars"],
)
def test_columns_keep_their_kinds_and_lie_on_the_grid(column, step, dtype):
    z = cm.ConditionalMasking(0.6, 400.0, step=step).mask(column, rng=2, round=True)

    assert z.dtype == dtype
    assert (np.asarray(z) % step == 0.0).all()


def test_gaps_and_codes_stay_and_move_nothing():
    rounded = by_hand(map(repr, X.tolist()), "0.5")
    x = np.append(X, [-8.25] * 20)
    y = np.append(rounded, [-8.25] * 20)
    x[:40] = np.nan
    y[:40] = np.nan
    # off the grid, so never reached
    coded = cm.ConditionalMasking(0.6, 400.0, step=0.5, missing=-8.25)

    with pytest.warns(cm.ReleaseWarning, match="was rounded") as caught:
        z = coded.mask(x, rng=3, nan_policy="omit", round=True)

    assert np.array_equal(z, coded.mask(y, rng=3, nan_policy="omit"), equal_nan=True)
    assert (z[-20:] == -8.25).all()
    assert f"mean by {np.mean(rounded[40:] - X[40:]):+.2g} and" in str(caught[0].message)


FRAME = pd.DataFrame(
    {
        "x": X,
        "y": (X[::-1] * 3).round(2),
        "sex": np.arange(N) % 2,
        "w": np.arange(N) * 0.1,
        "gaps": np.where(np.arange(N) % 7 == 0, np.nan, X),
    }
)
SCHEMES = {"x": SCHEME, "y": cm.ConditionalMasking(0.6, 900.0, decimals=0)}


def test_a_file_is_rounded_as_its_columns_are_in_memory(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)

    written = cm.mask_file(
        tmp_path / "a.csv", tmp_path / "b.csv", SCHEMES, strata="sex", rng=4, round=True
    )

    release = cm.mask_table(FRAME, SCHEMES, strata="sex", rng=4, round=True)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "b.csv"), release.data, check_dtype=False)
    assert [o[1:] for o in written.origins.values()] == [o[1:] for o in release.origins.values()]
    # every value with the digits that it has as a number, and no more
    texts = pd.read_csv(tmp_path / "b.csv", dtype=str)["x"]
    assert texts.tolist() == [f"{value:.15g}" for value in release.data["x"]]


def test_decimals_of_a_file_stay_decimals(tmp_path):
    cents = pa.array([Decimal(f"{x:.2f}") for x in X], pa.decimal128(12, 2))
    pq.write_table(pa.table({"x": cents}), tmp_path / "a.parquet")

    cm.mask_file(
        tmp_path / "a.parquet",
        tmp_path / "b.parquet",
        {"x": cm.ConditionalMasking(0.6, 400.0, decimals=1)},
        rng=6,
        round=True,
    )

    found = pq.read_table(tmp_path / "b.parquet")["x"]
    assert pa.types.is_decimal(found.type)
    assert all(value * 10 == int(value * 10) for value in found.to_pylist())


def test_what_moved_is_published(tmp_path):
    release = cm.mask_table(FRAME, SCHEMES, rng=7, round=True)
    release.write(tmp_path / "b.parquet")

    rounded = by_hand(map(repr, X.tolist()), "0.5")
    mean, largest = (float(f"{v:.2g}") for v in (np.mean(rounded - X), rounded.max() - X.max()))
    assert release.origins["x"].shift == (mean, largest)
    assert cm.read_release(tmp_path / "b.parquet", "x").origin == release.origins["x"]


@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        (cm.ReverseMapping(0.6, 400.0), "Rev.*: released values are those of"),
        (cm.ConditionalMasking(0.6, 400.0, step=0), "Cond.*: there is no step"),
        (cm.AdditiveNoise(3.0), "Add.*: there is no step"),
    ],
)
def test_there_has_to_be_a_step_to_round_to(scheme, why):
    with pytest.raises(
        ValueError, match=f"^round must be left out for a .* grid, got True and {why}"
    ):
        cm.mask_table(FRAME, {"x": scheme}, round=True)


def test_what_moves_in_parts_of_a_file_moves_in_the_whole():
    x = np.append(X, np.nan)
    rounded = np.append(by_hand(map(repr, X.tolist()), "0.5"), np.nan)
    cuts = [0, 0, 700, 1_500, x.size - 1, x.size]  # one part is empty, one has no value
    parts = [
        RoundingShift.between(x[first:last], rounded[first:last]) for first, last in pairwise(cuts)
    ]

    with pytest.warns(
        cm.ReleaseWarning, match="x was rounded to multiples of 0.5, which moves its mean"
    ):
        moved = shift_of(parts, "x", 0.5)
    # of each two digits are told
    assert moved == pytest.approx(
        (np.nanmean(rounded - x), np.nanmax(rounded) - X.max()), rel=0.05
    )
    assert shift_of(parts[-1:], "x", 0.5) == shift_of(parts[:1], "x", 0.5) == ()


def test_decimals_of_a_text_are_those_of_the_grid_or_of_the_data():
    mapped = cm.ReverseMapping(0.6, 400.0)
    values = np.array([1.25, 2.0])
    grids = [
        ({"decimals": 2}, 2),
        ({"decimals": 0}, 0),
        ({"decimals": -1}, 0),
        ({"step": 5}, 0),
        ({"step": 0.5}, None),
    ]

    assert mapped.decimals_in_text(values) == 2
    for grid, places in grids:
        assert cm.ConditionalMasking(0.6, 400.0, **grid).decimals_in_text(values) == places


def of(noise, sigma):
    return norm(0, sigma) if noise == "normal" else laplace(0, sigma / np.sqrt(2))


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("step", [0.01, 0.3, 0.6, 1.0, 3.0, 9.0])
def test_moments_and_chances_of_rounded_noise_are_sums_over_its_steps(noise, step):
    law = Law(0.6, noise, 1.0, grid_of(step))
    plain = of(noise, 1.0)
    k = np.arange(0, int(60 / step) + 3)
    # of the tail: no digits are lost
    chance = plain.sf((k - 0.5) * step) - plain.sf((k + 0.5) * step)

    even = [2 * np.sum(chance[1:] * (k[1:] * step) ** order) for order in (2, 4, 6)]
    exact = [1.0, 0.0, even[0], 0.0, even[1], 0.0, even[2]]
    for order in (5, 6):
        # 10^4 terms of one sign, each to 1e-13: a sum to 1e-12 at worst
        assert law.noise_moments(order, 1.0) == pytest.approx(
            np.array(exact[: order + 1]), rel=1e-10
        )
    assert law.variance == pytest.approx(even[0], rel=1e-10)
    for d in (0.0, 0.5 * step, step, 1.5 * step, 4 * step):
        nearer = k * step < d * (1 - 1e-12)
        exact = 2 * np.sum(chance[nearer]) - (chance[0] if nearer.any() else 0.0)
        assert law.noise_within(np.array([d]))[0] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_a_distance_of_more_standard_deviations_than_there_are_numbers_is_certain(noise):
    assert Law(0.5, noise, 1e-290, None).noise_within(np.array([1e51, 0.0])).tolist() == [1.0, 0.0]


def test_moments_scale_with_sigma_and_unit():
    law = Law(0.6, "laplace", 8.0, grid_of(0.5))
    unit = Law(0.6, "laplace", 1.0, grid_of(1 / 16))

    assert law.noise_moments(4, 2.0) == pytest.approx(
        unit.noise_moments(4, 1.0) * 4.0 ** np.arange(5)
    )


@pytest.mark.parametrize("step", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize("order", [22, 100, 170])
def test_high_moments_of_rounded_laplace_noise_are_those_of_a_geometric_law(order, step):
    h = mp.mpf(step) * mp.sqrt(2)

    found = Law(0.6, "laplace", 1.0, grid_of(step)).noise_moments(order, 1.0)[order]

    # 2 sinh(h/2) sum_j (j step)^k e^(-jh), the sum as a polylogarithm: - by Hurwitz zeta where h
    # is small
    series = mp.gamma(order + 1) * (
        h ** -(order + 1)
        + mp.nsum(
            lambda m: (
                ((h - 2j * mp.pi * m) ** -(order + 1) + (h + 2j * mp.pi * m) ** -(order + 1)).real
            ),
            [1, 3],
        )
    )
    exact = 2 * mp.sinh(h / 2) * series * mp.mpf(step) ** order
    # q^170 costs 170 ulps, differences a few more
    assert found == pytest.approx(float(exact), rel=1e-9)
