"""Partitions masked on a cluster whose workers die: the same bits, and no key where it could be seen.

Oracle: the same table masked on one machine under the same key.
"""

import os
import pickle
import signal
from contextlib import suppress

import cloudpickle
import dask
import numpy as np
import pytest
from marks import rest_slow
from partitioned import SECRET, assert_same, masked_in_parts, on_one_machine

import condmask as cm
from condmask._randomness import Key
from condmask.dask.keys import HeldKey

N = 100_000
CUTS = [0, 20_000, 20_001, 60_000, 80_000]
SCHEMES = {
    "permutation": cm.ConditionalMasking(0.6, 50.0, decimals=0),
    "sample": cm.ConditionalMasking(0.6, 50.0, decimals=0, donors="sample"),
    "reverse mapping": cm.ConditionalMasking(0.6, 50.0, reverse_mapping=True, aggregate_ends=10),
}


def table():
    rng = np.random.default_rng(3)
    x, pool = np.round(rng.lognormal(5.0, 1.0, N)), rng.integers(-1, 5, N)
    x[pool < 0] = np.nan
    return x, pool


@pytest.mark.parametrize("method", rest_slow(["p2p", "tasks"]))
@pytest.mark.parametrize("name", rest_slow(SCHEMES))
def test_a_cluster_masks_as_one_machine_does(client, name, method):
    x, pool = table()
    held = HeldKey(Key(SECRET), client)
    with dask.config.set({"dataframe.shuffle.method": method}):
        made = client.gather(client.compute(masked_in_parts([x], pool, CUTS, [SCHEMES[name]], held.name)))
    assert_same(made, on_one_machine([x], pool, [SCHEMES[name]]))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, name):
    x, pool = table()
    held = HeldKey(Key(SECRET), client)
    victim = next(iter(client.run(os.getpid).values()))
    parts = masked_in_parts([x], pool, CUTS, [SCHEMES[name]], held.name)
    first = [
        dask.delayed(_killing)(part, victim if number == 0 else None) for number, part in enumerate(parts)
    ]

    made = client.gather(client.compute(first))

    assert_same(made, on_one_machine([x], pool, [SCHEMES[name]]))
    client.wait_for_workers(2, timeout=60)


def _killing(part, victim):
    """The same; the process of that number is gone then, and with it half of what was done."""
    if victim is not None:
        with suppress(ProcessLookupError):  # the task was tried again
            os.kill(victim, signal.SIGKILL)
    return part


@pytest.mark.parametrize("name", SCHEMES)
def test_a_graph_has_no_key(name):
    x = np.arange(100.0)
    held = HeldKey(Key(SECRET), None)
    parts = masked_in_parts([x], None, [50], [SCHEMES[name]], held.name)
    graph = dict(dask.base.collections_to_expr(parts).__dask_graph__())
    shown = cloudpickle.dumps(graph) + pickle.dumps(repr(graph))
    assert held.name.encode() in shown
    for form in (SECRET, SECRET.hex().encode(), repr(SECRET).encode()[2:-1], repr(list(SECRET)).encode()):
        assert form not in shown
