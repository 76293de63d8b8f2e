"""One cycle through the swapped records of a pool that may lie in several buckets.

Oracles: the next one of a pool, by a loop; the same table on one machine.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partitioned import assert_as_on_one_machine, small_blocks

import condmask as cm
from condmask._randomness import Key
from condmask.dask.permutation import _ends, _followers, _next_of_pool
from condmask.dask.swapped import Bucket
from condmask.draws import coins

SEEDS = range(8)  # of keys


def scheme(p):
    return cm.ConditionalMasking(p, 5.0, decimals=0, donors="permutation")


@given(
    pools=st.lists(st.integers(0, 4), max_size=12).map(sorted), cuts=st.lists(st.integers(0, 12), max_size=4)
)
def test_the_next_one_is_found_over_buckets(pools, cuts):
    pool, value = np.array(pools, dtype=np.int64), np.arange(100.0, 100.0 + len(pools))
    expected = []
    for k, own in enumerate(pools):
        members = [j for j, other in enumerate(pools) if other == own]
        expected.append(100.0 + members[(members.index(k) + 1) % len(members)])

    after = _next_of_pool(pool)
    assert value[after].tolist() == expected

    edges = [0, *sorted(min(cut, len(pools)) for cut in cuts), len(pools)]
    buckets = [
        Bucket(pool[a:b], pool[a:b].astype(np.uint64), np.arange(a, b), [value[a:b]])
        for a, b in itertools.pairwise(edges)
    ]
    followers = _followers([_ends(bucket) for bucket in buckets])
    taken = []
    for number, bucket in enumerate(buckets):
        own = bucket.values[0][_next_of_pool(bucket.pool)]
        for last in {bucket.pool[0], bucket.pool[-1]} if bucket.pool.size else ():
            at = np.flatnonzero(bucket.pool == last)[-1]
            which = sorted({bucket.pool[0], bucket.pool[-1]}).index(last)
            own[at] = followers.values[0][followers.bucket == number][which]
            lone = pools.count(last) == 1
            assert followers.alone[followers.bucket == number][which] == lone
        taken += own.tolist()
    assert taken == expected


def test_a_record_swapped_alone_has_a_donor_by_eq_1():
    x, alone = np.arange(40.0) * 100, 0
    for seed in SEEDS:
        secret = bytes([seed] * 16)
        alone += coins(Key(secret), 0.02, 0, 40)[0].size == 1
        assert_as_on_one_machine([x], None, [7, 7, 30], [scheme(0.02)], secret)
    assert alone >= 3


@pytest.mark.parametrize("p", [0.05, 0.2])
def test_so_have_records_alone_in_their_pools(monkeypatch, p):
    small_blocks(monkeypatch)
    x, pool = np.arange(400.0), np.random.default_rng(2).integers(0, 40, 400)
    assert_as_on_one_machine([x, x[::-1].copy()], pool, [7, 100, 320], [scheme(p), scheme(p)])
