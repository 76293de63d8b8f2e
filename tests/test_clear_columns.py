"""Columns in clear, as an audit looks at them. Oracle: lists by hand, and panels made up with known units."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from condmask.clear_columns import (
    LARGEST_UNIT,
    ROWS,
    clear_of_frame,
    columns_in_clear,
    may_identify,
    numbers_and_labels,
    units_alike,
    whole_units,
)

RNG = np.random.default_rng(5)


def objects(*values):
    return np.array(values, dtype=object)


def test_all_columns_that_are_left_and_named_once_are_looked_at():
    names = ["wage", "twice", "twice", *(f"x{k}" for k in range(100))]

    assert columns_in_clear(names, {"wage", "x0"}) == [f"x{k}" for k in range(1, 100)]
    assert columns_in_clear(names, {"wage"}) == [f"x{k}" for k in range(100)]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (np.array([1, 2]), [1.0, 2.0]),
        (np.array([True, False]), [1.0, 0.0]),
        (np.array([1.5, np.nan], dtype=np.float32), [1.5, np.nan]),
        (np.array([1.5, np.inf, -np.inf]), [1.5, np.nan, np.nan]),
        (objects("1.5", "1e999"), [1.5, np.nan]),
        (np.array(["1970-01-03", "NaT"], dtype="M8[s]"), [2.0, np.nan]),
        (objects(True, None), [1.0, np.nan]),
        (objects(Decimal("1.5"), 2), [1.5, 2.0]),
        (objects(10**400, -(10**400), 2), [np.nan, np.nan, 2.0]),
        (objects("EUR 1234.50", "EUR 2.00", None), [1234.5, 2.0, np.nan]),
        (objects("1.234,50 EUR", "2,05 EUR"), [1234.5, 2.05]),
        (objects("1,234 kg", "-56 kg"), [1234.0, -56.0]),
        (objects("1'234'567.5", "\u22121 000".replace(" ", "\u202f")), [1234567.5, -1000.0]),
        (objects("1970-01-02", "1970-01-01T12:00"), [1.0, 0.5]),
        (objects(datetime.date(1970, 1, 2), pd.Timestamp("1970-01-03", tz="UTC")), [1.0, 2.0]),
    ],
)  # fmt: skip
def test_numbers_and_times_are_read_in_text_too(values, numbers):
    (clear, labels) = numbers_and_labels({"a": values})

    assert labels == {}
    np.testing.assert_array_equal(clear["a"], numbers)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (objects("b", "a", None, "b"), [1, 0, -1, 1]),
        (objects("Mr 1 of 2", "Mr 2 of 2"), [0, 1]),  # two numbers
        (np.array([2**60, 2**60 + 1]), [0, 1]),  # one and the same float
    ],
)
def test_everything_else_is_a_label(values, codes):
    (clear, labels) = numbers_and_labels({"a": values})

    assert clear == {}
    assert labels["a"].tolist() == codes


DISTINCT = np.random.default_rng(3).permutation(10_000)[:200]


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (DISTINCT, True),
        (np.where(DISTINCT < 500, np.nan, DISTINCT), True),  # whole numbers with gaps
        (objects(*(f"P-{k}" for k in DISTINCT)), True),
        (objects(*(f"{k:04d}" for k in DISTINCT[:-1]), pd.NA), True),
        (objects(*(f"Ms {chr(65 + k % 26)} {chr(65 + k // 26)}" for k in range(200))), True),
        (DISTINCT // 2 * 2, False),
        (DISTINCT[:100], False),
        (DISTINCT + 0.5, False),
        (DISTINCT.astype("M8[D]"), False),
        (objects(*DISTINCT.astype("M8[D]").astype(str)), False),
        (objects(*(f"{k}.5 kg" for k in DISTINCT)), False),
        (objects(*(f"P-{k // 2}" for k in DISTINCT)), False),
    ],
)
def test_a_column_of_distinct_texts_or_whole_numbers_may_identify(values, answer):
    assert may_identify(values, np.arange(values.size)) is answer


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_identify_nobody(first):
    rows = np.arange(500).reshape(50, 10)[::2].ravel()

    assert not may_identify(rows + first, rows)
    assert may_identify(rows + 2, rows)
    assert may_identify(rows[::-1] + first, rows)


def test_texts_of_which_a_part_are_numbers_are_both():
    (clear, labels) = numbers_and_labels({"a": objects("3500 $", "unknown", "refused", None, "unknown")})

    np.testing.assert_array_equal(clear["a"], [3500.0, *4 * [np.nan]])
    assert labels["a"].tolist() == [0, 2, 1, -1, 2]


def test_lists_are_left_out():
    values = np.empty(2, dtype=object)
    values[:] = [[1], [2, 3]]

    assert numbers_and_labels({"a": values}) == ({}, {})


def panel(firms, months, rng=RNG):
    firm = np.repeat(np.arange(firms), months)
    return firm, np.repeat(rng.normal(0.0, 5.0, firms), months) + rng.normal(0.0, 1.0, firm.size)


def test_records_of_a_firm_are_alike_and_those_with_one_age_are_not():
    firm, profit = panel(200, 12)
    age = RNG.integers(20, 60, firm.size)

    assert units_alike(firm, [profit], firm.size)
    assert units_alike(firm, [RNG.normal(size=firm.size), profit], firm.size)
    assert not units_alike(age, [profit], firm.size)
    assert not units_alike(np.arange(firm.size), [profit], firm.size)  # each its own
    assert not units_alike(np.zeros(firm.size, dtype=np.int64), [profit], firm.size)


def test_large_groups_are_no_units():
    group, value = panel(4, LARGEST_UNIT + 100)

    assert not units_alike(group, [value], group.size)


def test_units_that_mean_nothing_are_seldom_taken_for_some():
    # each has a chance of 7% to lie 1.5 standard errors above 0, where that exceeds the threshold of .1
    alarms = sum(units_alike(RNG.integers(0, 60, 200), [RNG.standard_cauchy(200)], 200) for _ in range(200))

    assert alarms <= 28


@pytest.mark.parametrize("order", ["by firm", "by month"])
def test_a_panel_that_is_sampled_shows_its_units_and_all_their_rows(order):
    firm, profit = panel(20_000, 12)
    if order == "by month":
        rows = np.argsort(np.tile(np.arange(12), 20_000), kind="stable")
        firm, profit = firm[rows], profit[rows]
    frame = pd.DataFrame({"firm": [f"f{k}" for k in firm], "profit": profit, "number": np.arange(firm.size)})

    clear = clear_of_frame(frame, ["firm", "number"], [profit])

    assert list(clear.units) == ["firm"]
    rows, codes = clear.units["firm"]
    assert 0.5 * ROWS < rows.size <= ROWS
    assert (np.bincount(codes) == 12).all()
    assert (np.diff(rows) > 0).all()
    assert all(np.unique(firm[rows[codes == k]]).size == 1 for k in range(0, codes.max(), 97))


def test_units_are_all_their_rows_numbered_as_they_appear():
    code = np.array([2, -1, 0, 1, 2, -1, 0])

    rows, codes = whole_units(code, np.array([0, 1, 2]))

    assert rows.tolist() == [0, 2, 4, 6]
    assert codes.tolist() == [0, 1, 0, 1]


def test_all_frames_are_looked_at_alike():
    firm, profit = panel(4_000, 12)
    frame = pd.DataFrame({
        "profit": profit,
        "firm": firm,
        "name": [f"{'ab'[k % 2]}-{k}" for k in firm],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(firm.size) % 366, unit="D"),
        "open": np.arange(firm.size) % 3 == 0,
        "kind": np.where(np.arange(firm.size) % 5 == 0, None, np.where(firm % 2, "x", "y")),
        "fee": np.where(np.arange(firm.size) % 7 == 0, np.nan, np.round(profit, 1)),
    })  # fmt: skip
    names = [*frame.columns[1:]]
    for other in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = clear_of_frame(other, names, [profit])
        whole = frame.iloc[found.rows]
        assert set(found.units) == {"firm", "name"}
        np.testing.assert_array_equal(found.clear["fee"], whole["fee"])
        days = (whole["day"] - pd.Timestamp("1970-01-01")).dt.days
        np.testing.assert_array_equal(found.clear["day"], days)
        np.testing.assert_array_equal(found.labels["kind"] < 0, whole["kind"].isna())
        np.testing.assert_array_equal(found.clear["open"], whole["open"])


def test_of_many_units_some_are_taken_whole():
    firm = RNG.integers(0, 400, 30_000)

    rows, codes = whole_units(firm, np.arange(0, 30_000, 50), most=2_000)

    assert 1_000 < rows.size < 2_500
    np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(firm, firm[rows])))
    assert np.unique(codes).size == np.unique(firm[rows]).size
