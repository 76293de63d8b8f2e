"""Reverse mapping in partitions.

Oracle: the same table masked on one machine under the same key; bits are equal.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partitioned import assert_as_on_one_machine, few_words, small_blocks, tables
from strategies import PROBABILITIES

import condmask as cm
from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.dask.reverse_mapping import _sample, _splitters, _values
from condmask.law import Law


def scheme_of(p, sigma, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


@settings(max_examples=15)
@given(
    table=tables(),
    p=PROBABILITIES,
    sigma=st.sampled_from([1e-12, 1.0, 1e3]),
    noise=st.sampled_from(["normal", "laplace"]),
    scale=st.sampled_from(["linear", "log"]),
    secret=st.binary(min_size=16, max_size=16),
)
def test_partitions_are_masked_as_on_one_machine(table, p, sigma, noise, scale, secret):
    columns, pool, cuts = table
    schemes = [scheme_of(p, sigma * (1 + k), noise=noise, scale=scale) for k in range(len(columns))]
    assert_as_on_one_machine(columns, pool, cuts, schemes, secret)


def test_columns_may_differ_in_their_scales_and_ends(monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(1)
    columns = [
        np.round(rng.lognormal(5.0, 1.0, 1000), 2),
        np.maximum(np.round(rng.normal(0.0, 9.0, 1000)), 0.0),
    ]
    schemes = [scheme_of(0.4, 30.0, aggregate_ends=10), scheme_of(0.4, 0.5, scale="log", noise="laplace")]
    cuts = [0, 10, 64, 65, 700, 700, 1000]
    assert_as_on_one_machine(columns, None, cuts, schemes)
    pool = rng.integers(-1, 3, 1000)
    for x in columns:
        x[pool < 0] = np.nan
    columns[1][pool == 2] = np.nan
    assert_as_on_one_machine(columns, pool, cuts, schemes)


@pytest.mark.parametrize("heap", [0.0, 7.0])
def test_heaps_of_equal_values_and_of_equal_words(monkeypatch, heap):
    few_words(monkeypatch)
    x = np.where(np.random.default_rng(2).random(800) < 0.7, heap, np.arange(800.0) - 400.0)
    x[0] = 1e300  # numbers that the counting sort gives up
    for sigma, scale in ((1e-9, "linear"), (1e-9, "log"), (1e3, "log")):  # keys of 0 and infinity, the last
        scheme = scheme_of(0.3, sigma, scale=scale)
        assert_as_on_one_machine([x], None, [200, 400, 600], [scheme])
        assert_as_on_one_machine([x], np.arange(800) % 2, [200, 400, 600], [scheme])


@pytest.mark.parametrize("p", [1e-3, 1 - 1e-3])
def test_a_table_of_which_all_is_swapped_or_kept(p):
    x = np.arange(30.0)
    assert_as_on_one_machine([x], None, [10, 20], [scheme_of(p, 3.0)])


def test_a_heap_of_values_is_spread_over_the_buckets(monkeypatch):
    n = 4000
    job = Job("", (Law(0.1, "normal", 1.0),), np.arange(5) * (n // 4), np.array([n]), False)
    narrow = Narrow([np.zeros(n // 4)], None)
    monkeypatch.setattr(Job, "draws", lambda self, part: type("", (), {"kept": np.arange(n // 4)}))
    splitters = _splitters(4, [_sample(job, part, 0, True, narrow) for part in range(4)])
    to = np.concatenate([_values(job, part, 0, narrow, splitters)["to"] for part in range(4)])
    assert np.bincount(to, minlength=4).min() > n / 8
