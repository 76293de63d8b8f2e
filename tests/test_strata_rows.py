"""Rows by stratum, against a plain search."""

import numpy as np
import pytest

from condmask.strata import by_stratum, rows_of, values_by_pool


def test_rows_stand_by_stratum_in_their_order_and_those_in_none_are_left_out():
    code = np.array([3, -1, 0, 3, 5, 0, -1, 3], dtype=np.int32)

    order, size = by_stratum(code)

    assert order.tolist() == [2, 5, 0, 3, 7, 4]
    assert size.tolist() == [2, 0, 0, 3, 0, 1]
    assert {k: rows.tolist() for k, rows in rows_of(code).items()} == {0: [2, 5], 3: [0, 3, 7], 5: [4]}


def test_no_rows_have_no_strata():
    assert rows_of(np.full(3, -1)) == {}


@pytest.mark.parametrize(
    "pool", [None, np.array([1, 0, 1, 1, 0]), np.array([2, -1, 2, 0, 0], dtype=np.int32)]
)
@pytest.mark.parametrize("gap", [False, True])
def test_values_by_pool_are_those_that_are_there(pool, gap):
    x = np.array([5.0, np.nan if gap else 1.0, 3.0, 2.0, 4.0])
    code = np.zeros(x.size) if pool is None else pool
    found = [(np.arange(x.size)[rows].tolist(), values.tolist()) for rows, values in values_by_pool(x, pool)]
    expected = [np.flatnonzero((code == k) & ~np.isnan(x)) for k in range(3)]
    assert found == [(rows.tolist(), x[rows].tolist()) for rows in expected if rows.size]
