"""Which rows of a frame in partitions are looked at: some of every pool, evenly spaced, neighbours together.

Oracle: the rule, applied to the row numbers of the whole table.
"""

import dask
import numpy as np
import pandas as pd
import pytest
from partitioned import UNEQUAL, cut

import condmask as cm
from condmask.dask import gate, partitions
from condmask.dask.originals import Task

N = 20_000


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def looked_at(frame, strata=(), rows=gate.ROWS):
    scheme = cm.ConditionalMasking(0.6, 500.0, strata=strata or None)
    task = Task({"x": scheme}, strata, False)
    parts = cut(frame, UNEQUAL).to_delayed()
    whole = partitions.looked_at(parts, task, "omit")
    apart = gate.spacing(whole, rows)
    before = gate.ranks_before(whole)
    some = [
        gate.some_rows(part, task, whole.pools, apart, own)
        for part, own in zip(dask.compute(*parts), before, strict=True)
    ]
    return whole, gate.joined(some)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    size = np.r_[np.full(50, 20), N - 1_000]
    pool = rng.permutation(np.repeat(np.arange(51), size))
    return pd.DataFrame({"x": rng.normal(size=N), "pool": pool})


def test_all_rows_of_a_table_of_no_more():
    frame = pd.DataFrame({"x": np.arange(N, dtype=float)})
    _, some = looked_at(frame)
    assert some.pool is None
    assert some.frame.x.tolist() == frame.x.tolist()


def test_stretches_of_neighbours_from_all_over_a_larger_one():
    frame = pd.DataFrame({"x": np.arange(N, dtype=float)})
    _, some = looked_at(frame, rows=1_000)
    stretch = np.arange(N) // 16
    assert some.frame.x.tolist() == np.flatnonzero(stretch % 20 == 0).tolist()


def test_of_a_small_pool_all_rows_and_of_a_large_one_its_part(frame):
    whole, some = looked_at(frame, ("pool",), rows=2_000)
    assert sorted(whole.sizes) == sorted(frame.pool.value_counts())
    counts = some.frame.pool.value_counts()
    assert (counts[counts.index < 50] == 20).all()
    assert 1_900 < counts[50] < 2_100
    large = frame[frame.pool == 50]
    apart = -(-len(large) // (len(large) * 2_000 // N))
    expected = large[np.arange(len(large)) // 16 % apart == 0]
    assert some.frame[some.frame.pool == 50].index.tolist() == expected.index.tolist()
    labels = {pool: label[0] for label, pool in whole.pools.items()}
    assert [labels[pool] for pool in some.pool.tolist()] == some.frame.pool.tolist()


def test_the_smallest_of_many_pools_is_among_those_looked_at(frame, monkeypatch):
    monkeypatch.setattr(gate, "POOLS", 4)
    monkeypatch.setattr(gate, "OF_A_POOL", 16)
    smaller = frame.copy()
    smaller.loc[np.flatnonzero(frame.pool == 33)[:8], "pool"] = 50
    _, some = looked_at(smaller, ("pool",), rows=100)
    counts = some.frame.pool.value_counts()
    assert counts[33] == 12
    assert len(counts) in (4, 5)


def test_records_in_no_pool_are_looked_at_as_if_they_were_one(frame):
    gaps = frame.assign(x=frame.x.where(frame.index % 30 > 0))
    whole, some = looked_at(gaps, ("pool",))
    assert whole.sizes.sum() == np.count_nonzero(frame.index % 30)
    pd.testing.assert_frame_equal(some.frame, gaps)
    assert (some.pool < 0).tolist() == gaps.x.isna().tolist()
