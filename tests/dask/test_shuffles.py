"""Rows arrive where they are sent, bit for bit. Oracle: the rows themselves."""

import dask
import numpy as np
import pytest
from dask import delayed

from condmask.dask.shuffles import column, frame, shuffled

EXTREME = {
    "word": np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**53 + 1], dtype=np.uint64),
    "row": np.array([-1, 0, 2**31, 2**62 + 1, 2**53 + 1, 7]),
    "small": np.array([-(2**31), 2**31 - 1, 0, 1, 2, 3], dtype=np.int32),
    "value": np.array([-0.0, 5e-324, np.inf, -np.inf, np.nan, 0.1]),
}
TYPES = {name: values.dtype for name, values in EXTREME.items()}


def sent_and_received(partitions):
    frames = [
        delayed(frame)(np.array(to, dtype=np.int32), {name: x[at] for name, x in EXTREME.items()})
        for to, at in [([2, 0, 2], [0, 1, 2]), ([], []), ([0, 2, 3], [3, 4, 5])]
        for at in [np.array(at, dtype=np.int64)]
    ]
    return shuffled(frames, TYPES, partitions)


def assert_arrived(received):
    for part, expected in zip(received, ([1, 3], [], [0, 2, 4], [5], []), strict=True):
        order = np.argsort([EXTREME["row"].tolist().index(row) for row in column(part, "row")])
        for name, values in EXTREME.items():
            arrived = column(part, name)
            assert arrived.dtype == values.dtype
            assert arrived[order].tobytes() == values[np.array(expected, dtype=np.int64)].tobytes()


@pytest.mark.parametrize("method", ["tasks", "disk"])
def test_rows_arrive_bit_for_bit(method):
    with dask.config.set({"scheduler": "synchronous", "dataframe.shuffle.method": method}):
        assert_arrived(dask.compute(*sent_and_received(5)))


@pytest.mark.parametrize("method", ["tasks", "p2p"])
def test_so_they_do_on_a_cluster(client, method):
    with dask.config.set({"dataframe.shuffle.method": method}):
        assert_arrived(client.gather(client.compute(sent_and_received(5))))
