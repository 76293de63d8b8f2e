"""Rows by stratum, against a plain search."""

import numpy as np

from condmask.strata import by_stratum, rows_of


def test_rows_stand_by_stratum_in_their_order_and_those_in_none_are_left_out():
    code = np.array([3, -1, 0, 3, 5, 0, -1, 3], dtype=np.int32)

    order, size = by_stratum(code)

    assert order.tolist() == [2, 5, 0, 3, 7, 4]
    assert size.tolist() == [2, 0, 0, 3, 0, 1]
    assert {k: rows.tolist() for k, rows in rows_of(code).items()} == {0: [2, 5], 3: [0, 3, 7], 5: [4]}


def test_no_rows_have_no_strata():
    assert rows_of(np.full(3, -1)) == {}
