"""Ends of columns as their means. Oracle: `aggregate` on one machine; bits are equal."""

import itertools

import dask
import numpy as np
import pytest
from dask import delayed
from hypothesis import given, settings
from hypothesis import strategies as st

from condmask.dask import ends
from condmask.dask.ends import ends_aggregated
from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.disclosure.aggregated_ends import aggregate
from condmask.law import Law

KINDS = {
    "whole": lambda u: np.round(100.0 * u),
    "zeros": lambda u: np.maximum(np.round(100.0 * u), 0.0),
    "continuous": lambda u: u,
    "alike": lambda u: np.full(u.size, 7.5),
    "two values": lambda u: np.where(u > 0.0, 2.0, -1.0),
    "heap amid": lambda u: np.where(np.abs(u) < 1.5, 3.0, 100.0 * u),
}


def by_partitions(x, pool, cuts, count):
    edges = np.array([0, *sorted(cuts), x.size])
    sizes = np.array([x.size]) if pool is None else np.bincount(pool[pool >= 0], minlength=1)
    job = Job("", (Law(0.5, "normal", 1.0),) * 2, edges, sizes, pool is not None)
    parts = [slice(a, b) for a, b in itertools.pairwise(edges)]
    masked = [delayed([x[:0], x[part]], traverse=False) for part in parts]
    narrow = [delayed(Narrow)([], None if pool is None else pool[part]) for part in parts]
    made = dask.compute(*ends_aggregated(masked, narrow, job, [0, count]), scheduler="synchronous")
    return np.concatenate([z for _, z in made])


@settings(max_examples=60)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 200),
    count=st.integers(1, 30),
    pools=st.integers(0, 3),
    cuts=st.lists(st.integers(0, 200), max_size=3),
    seed=st.integers(0, 2**32),
)
def test_partitions_have_the_means_of_one_machine(kind, n, count, pools, cuts, seed):
    rng = np.random.default_rng(seed)
    x = KINDS[kind](rng.normal(size=n))
    pool = rng.integers(-1, pools, n) if pools else None
    if pool is not None:
        x[rng.random(n) < 0.1] = np.nan
        x[pool < 0] = np.nan
    expected = x.copy()
    if not np.isnan(x).all():
        aggregate(expected, pool, count)

    z = by_partitions(x, pool, [min(cut, n) for cut in cuts], count)

    assert z.view(np.int64).tolist() == expected.view(np.int64).tolist()


@pytest.mark.parametrize("x", [np.append(np.zeros(500), np.arange(500.0)), np.full(1000, 3.0)])
def test_a_heap_that_is_all_of_an_end_stays_where_it_is(x):
    job = Job("", (Law(0.5, "normal", 1.0),), np.array([0, 1000]), np.array([1000]), False)
    narrow = Narrow([], None)
    limits = ends._limits(10, [ends._extremes(job, 10, x, narrow)])
    assert sum(end.value.size for end in ends._values_at_ends(x, narrow, limits)) <= 10
