"""Places in the order of (pool, row). Oracle: a list of all records, put in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from condmask.dask.places import in_file_order, places_of


@given(own=arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=st.integers(0, 3)))
def test_every_place_is_found(own):
    every = [(s, i) for s in range(own.shape[0]) for i in range(own.shape[1]) for _ in range(own[s, i])]
    within, seen = [], {}
    for s, i in every:
        within.append(own[:s, i].sum() + seen.get((s, i), 0))
        seen[s, i] = seen.get((s, i), 0) + 1

    to, at = places_of(list(own.T)).find(np.arange(len(every)))

    assert to.tolist() == [i for _, i in every]
    assert at.tolist() == within


def test_rows_by_pool_are_in_their_order():
    pool = np.array([1, 0, -1, 1, 0])
    assert in_file_order(pool, np.array([0, 1, 2, 4])).tolist() == [1, 4, 0]
    assert in_file_order(None, np.array([0, 3])).tolist() == [0, 3]
