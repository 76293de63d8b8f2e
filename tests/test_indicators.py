"""Yes, no and categories as numbers. Oracle: the columns written down by hand, pandas' dummies."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from condmask.indicators import design, indicators, is_text, yes_no

GAPS = [1.0, 0.0, np.nan]


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None],
        np.array([True, False, None], dtype=object),
        np.array([np.True_, np.False_, None], dtype=object),
        pd.Series([True, False, None], dtype="boolean"),
        pl.Series([True, False, None]),
        np.array(["True", "False", None], dtype=object),
        np.array(["true", "FALSE", ""]),
        pd.Series([True, False, np.nan], dtype=object),
    ],
)
def test_yes_and_no_are_one_and_zero(column):
    np.testing.assert_array_equal(yes_no(column), GAPS)


@pytest.mark.parametrize(
    "column", [pd.Series([True, False]), np.array([True, False]), pl.Series([True, False])]
)
def test_without_gaps_too(column):
    assert yes_no(column).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.0, 0.0]),
        np.array([1, 0, None], dtype=object),
        np.array([True, 2, None], dtype=object),
        np.array(["true", "maybe"], dtype=object),
        pd.Series(["yes", "no"]),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series([["yes"], ["no"]]),
    ],
)
def test_other_columns_stay(column):
    assert yes_no(column) is column


def test_text_is_known():
    assert is_text(pd.Series([None, "a"]))
    assert is_text(np.array(["a"]))
    assert is_text(pd.Series(["a", "b"], dtype="category"))
    assert not is_text(pd.Series([1, 2]))
    assert not is_text(np.array([None, 1], dtype=object))
    assert not is_text(pd.Series(pd.to_datetime(["2020-01-01"])))


def test_labels_have_a_column_each_but_the_first():
    labels = pd.Series(["south", "north", None, "west", "north"])

    found = indicators(labels, "region", 5)

    assert list(found) == ["region=south", "region=west"]
    dummies = pd.get_dummies(labels, dtype=float).where(labels.notna())
    np.testing.assert_array_equal(found["region=south"], dummies["south"])
    np.testing.assert_array_equal(found["region=west"], dummies["west"])
    assert next(iter(indicators(labels, "region", 5, all_but_first=False))) == "region=north"


@pytest.mark.parametrize("labels", [["a"] * 60, [f"name {k % 51}" for k in range(60)]])
def test_one_label_and_many_are_no_categories(labels):
    with pytest.raises(ValueError, match=r"2 to 50 categories, got 'who' with (1|51) labels"):
        indicators(labels, "who", 60)
    for count in (2, 50):
        assert len(indicators([f"name {k % count}" for k in range(60)], "who", 60)) == count - 1


A, B = np.array([1.5, 2.5, 4.0]), np.array([3.0, np.nan, 7.0])
SERIES = pd.Series(A, name="a")
DESIGNS = [
    (A, {"w1": A}), (A.tolist(), {"w1": A}), (np.column_stack([A, B]), {"w1": A, "w2": B}),
    (SERIES, {"a": A}), (pl.Series(A), {"w1": A}), ({"b": B, 5: SERIES}, {"b": B, "5": A}),
    (pd.DataFrame({"b": B, 5: A}), {"b": B, "5": A}),
    (pl.DataFrame({"b": B, "yes": [True, None, False]}), {"b": B, "yes": [1.0, np.nan, 0.0]}),
]  # fmt: skip
REFUSED = {
    "one or two dimensions, got 3": np.zeros((2, 2, 2)),
    "at least one column, got none": {},
    "columns of one length, got {'a': 2, 'b': 3}": {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize(("values", "columns"), DESIGNS)
def test_columns_of_numbers_are_found_by_name(values, columns):
    found = design(values, "W")

    assert list(found) == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_table_of_numbers_is_refused(why):
    with pytest.raises(ValueError, match=f"^W must have {why}"):
        design(REFUSED[why], "W")
    with pytest.raises(
        TypeError, match=r"^W must be a data frame, a dict of columns or an array, got float64$"
    ):
        design(np.float64(3.0), "W")
    with pytest.raises(TypeError, match=r"^W must hold numbers, so give an indicator column"):
        design({"a": ["x", "y"]}, "W")
