"""What an audit looks at, by rows and by columns."""

import numpy as np

from condmask.disclosure.audit_input import AuditInput

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
