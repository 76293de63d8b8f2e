"""What an audit looks at, by rows and by columns. Oracle: lists by hand."""

import numpy as np
import pytest

from condmask.audit_input import AuditInput, Unit

TABLE = AuditInput(
    {"a": np.arange(4.0), "b": np.arange(4.0) + 10}, {"a": "float64", "b": "int64"},
    {"c": np.arange(4.0) + 20}, np.array([0, 1, -1, 1], dtype=np.int32),
    labels={"d": np.array([0, -1, 1, 0])},
)  # fmt: skip


def test_rows_are_taken_of_every_column_and_of_the_strata():
    some = TABLE.take(np.array([3, 1]))

    assert some.n == 2
    assert [some.values["a"].tolist(), some.values["b"].tolist()] == [[3.0, 1.0], [13.0, 11.0]]
    assert some.clear["c"].tolist() == [23.0, 21.0]
    assert some.labels["d"].tolist() == [0, -1]
    assert some.strata.tolist() == [1, 1]
    assert some.strata.dtype == np.int64


def test_columns_are_aligned_in_the_rows_of_those_in_clear():
    sampled = TABLE._replace(
        rows=np.array([0, 3]), clear={"c": np.array([20.0, 23.0])}, labels={"d": np.array([0, 0])}
    )

    aligned = sampled.aligned()

    assert aligned.rows is None
    assert aligned.values["b"].tolist() == [10.0, 13.0]
    assert aligned.clear["c"].tolist() == [20.0, 23.0]
    assert aligned.labels["d"].tolist() == [0, 0]
    assert aligned.strata.tolist() == [0, 1]
    assert TABLE.aligned() is TABLE
    with pytest.raises(ValueError, match="aligned"):
        sampled.take(np.arange(2))


def test_one_column_stands_without_those_in_clear():
    unit = Unit(np.arange(2), np.zeros(2, dtype=np.int64))
    alone = TABLE._replace(units={"d": unit}).only("b")

    assert list(alone.values) == ["b"]
    assert (alone.clear, alone.labels, alone.units, alone.rows) == ({}, {}, {}, None)
    assert alone.strata is TABLE.strata
