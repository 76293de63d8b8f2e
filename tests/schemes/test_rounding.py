"""Data rounded before they are masked, ``round=True``.

Oracle: decimal.Decimal and fractions.Fraction, which round what is written exactly; data rounded by these and
masked without the option.
"""

from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask.grid import grid_of, nearest
from condmask.schemes.prepare import decimals_in_text
from condmask.schemes.rounding import Moved

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
    return np.array([
        float((Decimal(text) / step + Decimal("0.5")).to_integral_value(ROUND_FLOOR) * step) for text in texts
    ])  # fmt: skip


# --- the rule ---


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("step", ["0.1", "0.01", "0.05", "0.5", "2", "10", "12"])
def test_ties_go_up_as_they_are_written(step, kind):
    # halves of a step are at every second: 1.005 and -1.115, whose bits lie below them, among them
    ties = [str(Decimal(step) * k / 2) for k in range(-401, 402)]
    x = np.array(ties, dtype=kind).astype(float)

    assert np.array_equal(nearest(x, grid_of(float(step)), kind), by_hand(ties, step))


@given(st.integers(-(10**14), 10**14), st.integers(0, 8), st.sampled_from(["0.01", "0.05", "1", "5", "100"]))
def test_decimals_of_fifteen_digits_are_rounded_exactly(digits, places, step):
    text = str(Decimal(digits).scaleb(-places))
    if abs(Decimal(text) / Decimal(step)) < 2**44:
        assert nearest(np.array([float(text)]), grid_of(float(step)), "float64") == by_hand([text], step)


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
    x, y = np.append(X, [-8.25] * 20), np.append(rounded, [-8.25] * 20)
    x[:40], y[:40] = np.nan, np.nan
    coded = cm.ConditionalMasking(0.6, 400.0, step=0.5, missing=-8.25)  # off the grid, so never reached

    with pytest.warns(cm.ReleaseWarning, match="was rounded") as caught:
        z = coded.mask(x, rng=3, nan_policy="omit", round=True)

    assert np.array_equal(z, coded.mask(y, rng=3, nan_policy="omit"), equal_nan=True)
    assert (z[-20:] == -8.25).all()
    assert f"mean by {np.mean(rounded[40:] - X[40:]):+.2g} and" in str(caught[0].message)


FRAME = pd.DataFrame({
    "x": X, "y": (X[::-1] * 3).round(2), "sex": np.arange(N) % 2, "w": np.arange(N) * 0.1,
    "gaps": np.where(np.arange(N) % 7 == 0, np.nan, X),
})  # fmt: skip
SCHEMES = {"x": SCHEME, "y": cm.ConditionalMasking(0.6, 900.0, decimals=0)}


def test_a_file_is_rounded_as_its_columns_are_in_memory(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)

    written = cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", SCHEMES, strata="sex", rng=4, round=True)

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
        tmp_path / "a.parquet", tmp_path / "b.parquet", {"x": cm.ConditionalMasking(0.6, 400.0, decimals=1)},
        rng=6, round=True,
    )  # fmt: skip

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
        (cm.ConditionalMasking(0.6, 400.0, reverse_mapping=True), "where reverse_mapping=True, got True: "),
        (cm.ConditionalMasking(0.6, 400.0, step=0), "for a scheme without a grid, got True and Cond"),
        (cm.AdditiveNoise(3.0), "for a scheme without a grid, got True and Add"),
    ],
)
def test_there_has_to_be_a_step_to_round_to(scheme, why):
    with pytest.raises(ValueError, match=f"^round must be left out {why}"):
        cm.mask_table(FRAME, {"x": scheme}, round=True)


def test_what_moves_in_parts_of_a_file_moves_in_the_whole():
    x, rounded = np.append(X, np.nan), np.append(by_hand(map(repr, X.tolist()), "0.5"), np.nan)
    cuts = [0, 0, 700, 1_500, x.size - 1, x.size]  # one part is empty, one has no value

    whole, total = Moved.of(x, rounded), Moved.of(x[:0], x[:0])
    for first, last in pairwise(cuts):
        total = total.plus(Moved.of(x[first:last], rounded[first:last]))

    assert total.total == pytest.approx(np.nansum(rounded - x), abs=1e-9)
    assert total[1:] == whole[1:] == (X.size, (X.max(), np.nanmax(rounded)))
    assert Moved.of(x[-1:], x[-1:]).shift("x", 0.5) == Moved.of(x[:0], x[:0]).shift("x", 0.5) == ()


def test_decimals_of_a_text_are_those_of_the_grid_or_of_the_data():
    mapped, values = cm.ConditionalMasking(0.6, 400.0, reverse_mapping=True), np.array([1.25, 2.0])
    grids = [
        ({"decimals": 2}, 2),
        ({"decimals": 0}, 0),
        ({"decimals": -1}, 0),
        ({"step": 5}, 0),
        ({"step": 0.5}, None),
    ]

    assert decimals_in_text(mapped, values) == 2
    for grid, places in grids:
        assert decimals_in_text(cm.ConditionalMasking(0.6, 400.0, **grid), values) == places
