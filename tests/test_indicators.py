"""Yes, no and categories as numbers. Oracle: the columns written down by hand, pandas' dummies."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from condmask.indicators import indicators, is_text, yes_no

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


@pytest.mark.parametrize("labels", [["a"] * 60, [f"name {k}" for k in range(60)]])
def test_one_label_and_many_are_no_categories(labels):
    with pytest.raises(ValueError, match=r"2 to 50 categories, got 'who' with (1|60) labels"):
        indicators(labels, "who", 60)
