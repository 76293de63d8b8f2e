"""Who asks whom for a donor's value. Oracle: all rows, put in order."""

import numpy as np

from condmask.dask.narrow import Narrow
from condmask.dask.places import places_of
from condmask.dask.sample_donors import _places, rows_at


def test_places_of_rows_and_rows_at_places_are_each_others_inverse():
    pool = np.array([1, -1, 0, 1, 0, -1, 1, 2, 0, 0])
    parts = [Narrow([], part) for part in np.split(pool, [4, 4, 9])]
    counts = [np.bincount(part.pool[part.pool >= 0], minlength=3) for part in parts]
    places = places_of(counts)

    order = np.lexsort((np.arange(10), pool))[2:]  # of all rows, by pool, without those in none
    expected = np.full(10, -1)
    expected[order] = np.arange(8)

    assert (
        np.concatenate([_places(part, i, places) for i, part in enumerate(parts)]).tolist()
        == expected.tolist()
    )
    to, within = places.find(np.arange(8))
    first = np.array([0, 4, 4, 9])
    rows = [first[i] + rows_at(parts[i], within[[k]])[0] for k, i in enumerate(to)]
    assert rows == order.tolist()
