"""A release on a cluster of processes: the bits of one machine, also where a worker dies; no key to be found.

Oracle: `condmask.mask_table` on one machine.
"""

import gzip
import os
import signal
import threading
import time
import warnings

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from marks import rest_slow
from partitioned import UNEQUAL, cut

import condmask as cm
import condmask.dask
from condmask.dask import keys

N = 200_000
KINDS = {
    "noise": cm.ConditionalMasking(0.6, 1500.0),
    "reverse mapping": cm.ConditionalMasking(0.6, 1500.0, reverse_mapping=True, aggregate_ends=5),
}
ENDS = (*UNEQUAL, 70_000, 70_001, 150_000)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return pd.DataFrame({"income": rng.lognormal(8, 0.5, N).round(2), "region": rng.choice(list("abc"), N)})


@pytest.mark.parametrize("kind", rest_slow(["reverse mapping", "noise"]))
def test_a_cluster_gives_the_bits_of_one_machine(table, client, kind):
    schemes = {"income": KINDS[kind]}
    options = {"strata": "region", "rng": 5, "accept_visible_coins": True}
    one = cm.mask_table(table, schemes, **options)
    many = condmask.dask.mask_table(cut(table, ENDS), schemes, client=client, **options)
    pd.testing.assert_frame_equal(one.data, many.data.compute(), check_exact=True)


def slow(part):
    time.sleep(0.1)  # so that there is something to interrupt
    return part


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reverse mapping", "noise"])
def test_a_worker_that_dies_meanwhile_changes_nothing(table, client, kind):
    schemes = {"income": KINDS[kind]}
    one = cm.mask_table(table, schemes, rng=5, accept_visible_coins=True)
    frame = cut(table, ENDS).map_partitions(slow, meta=table.iloc[:0])
    pids = list(client.run(os.getpid).values())
    killed = threading.Event()

    def kill():
        while not any(name.startswith("condmask-") for name in keys._held):
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(pids[0], signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = condmask.dask.mask_table(frame, schemes, rng=5, client=client, accept_visible_coins=True)
    killer.join()
    assert killed.is_set()
    pd.testing.assert_frame_equal(one.data, many.data.compute(), check_exact=True)


@pytest.mark.slow
def test_a_worker_that_dies_afterwards_changes_nothing(table, client):
    release = condmask.dask.mask_table(cut(table, ENDS), {"income": KINDS["noise"]}, client=client)
    before = release.data.compute()
    for pid in list(client.run(os.getpid).values())[:1]:
        os.kill(pid, signal.SIGKILL)
    pd.testing.assert_frame_equal(before, release.data.compute(), check_exact=True)


@pytest.mark.parametrize("kind", rest_slow(["noise", "reverse mapping"]))
def test_neither_graph_nor_cluster_nor_logs_tell_the_key(table, client, kind, tmp_path):
    release = condmask.dask.mask_table(cut(table, ENDS), {"income": KINDS[kind]}, client=client)
    (held,) = (keys._held[name] for name in keys._held if name == release._held.name)
    secret = bytes(held.key._secret)
    client.dump_cluster_state(str(tmp_path / "state"), format="msgpack")  # which is packed by gzip
    logs = f"{client.get_scheduler_logs()}{client.get_worker_logs()}{client.get_events()}{release!r}"
    graph = cloudpickle.dumps(dict(release.data.__dask_graph__()))
    told = gzip.decompress((tmp_path / "state.msgpack.gz").read_bytes()) + logs.encode() + graph
    number = str(int.from_bytes(secret, "little")).encode()
    for form in (secret, secret.hex().encode(), repr(secret).encode()[2:-1], number):
        assert form not in told
