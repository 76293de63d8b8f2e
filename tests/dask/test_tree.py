"""What is found in partitions, put together in their order."""

import dask.dataframe as dd
import pandas as pd
import pytest

from condmask.dask import tree
from condmask.dask.tree import reduced


@pytest.mark.parametrize("partitions", [1, 2, 8, 9, 17, 65])
def test_partitions_are_put_together_in_their_order(partitions, synchronous):
    series = dd.from_pandas(pd.Series(range(130)), npartitions=partitions)

    found = reduced(series.to_delayed(), lambda part, more: [*part, more], lambda one, other: one + other, -1)

    assert [value for value in found if value >= 0] == list(range(130))
    assert found.count(-1) == partitions


def test_what_a_task_is_given_stays_as_it_is():
    # a task that is tried again must find what it was given the first time
    found = [[1], [2], [3]]

    def extended(one, other):
        one.extend(other)
        return one

    assert tree._together(extended, found) == [1, 2, 3]
    assert found == [[1], [2], [3]]
