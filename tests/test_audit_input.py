"""What an audit looks at, by rows and by columns. Oracle: lists by hand."""

import numpy as np

from condmask.audit_input import CLEAR_ROWS, AuditInput, columns_in_clear, rows_in_clear

TABLE = AuditInput(
    {"a": np.arange(4.0), "b": np.arange(4.0) + 10}, {"a": "float64", "b": "int64"},
    {"c": np.arange(4.0) + 20}, np.array([0, 1, -1, 1], dtype=np.int32),
)  # fmt: skip


def test_rows_are_taken_of_every_column_and_of_the_strata():
    some = TABLE.take(np.array([3, 1]))

    assert some.n == 2
    assert [some.values["a"].tolist(), some.values["b"].tolist()] == [[3.0, 1.0], [13.0, 11.0]]
    assert some.clear["c"].tolist() == [23.0, 21.0]
    assert some.strata.tolist() == [1, 1]
    assert some.strata.dtype == np.int64


def test_one_column_stands_without_those_in_clear():
    alone = TABLE.only("b")

    assert list(alone.values) == ["b"]
    assert alone.clear == {}
    assert alone.strata is TABLE.strata


def test_all_columns_that_are_left_and_named_once_are_looked_at():
    names = ["wage", "twice", "twice", *(f"x{k}" for k in range(100))]

    assert columns_in_clear(names, {"wage", "x0"}) == [f"x{k}" for k in range(1, 100)]
    assert columns_in_clear(names, {"wage"}) == [f"x{k}" for k in range(100)]


def test_rows_are_all_of_few_and_evenly_spaced_ones_of_many():
    assert rows_in_clear(7).tolist() == list(range(7))
    assert rows_in_clear(3 * CLEAR_ROWS).tolist() == list(range(0, 3 * CLEAR_ROWS, 3))
