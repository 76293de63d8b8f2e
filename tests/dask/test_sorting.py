"""Sorts in buckets. Oracle: tuples, sorted by Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.dask.sorting import (
    NO_POOLS,
    NO_TIES,
    Splitters,
    bucket_of,
    even_splitters,
    numbers_of,
    order_of,
    splitters_of,
    words_of,
)

WORDS = st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
RECORDS = st.lists(st.tuples(st.integers(0, 3), WORDS, WORDS), max_size=40)


def arrays_of(records):
    pool, word, tie = zip(*records, strict=True) if records else ((), (), ())
    return np.array(pool, dtype=np.int64), np.array(word, dtype=np.uint64), np.array(tie, dtype=np.uint64)


@given(records=RECORDS, data=st.data())
def test_records_are_in_the_order_of_tuples_however_they_arrive(records, data):
    pool, word, tie = arrays_of(records)
    rows = np.array(data.draw(st.permutations(range(len(records)))), dtype=np.int64)
    places = range(len(records))

    def expected(*keys):
        return sorted(places, key=lambda k: (*(int(key[k]) for key in keys), rows[k]))

    assert order_of(word, rows, pool, tie).tolist() == expected(pool, word, tie)
    assert order_of(word, rows, None, tie).tolist() == expected(word, tie)
    assert order_of(word, rows, pool).tolist() == expected(pool, word)
    assert order_of(word, rows, None).tolist() == expected(word)


def test_many_words_are_in_order_too():
    word = np.random.default_rng(1).integers(0, 2**64 - 1, 50_000, dtype=np.uint64)
    assert np.array_equal(order_of(word, np.arange(word.size), None), np.argsort(word, kind="stable"))


@given(samples=st.lists(RECORDS, min_size=1, max_size=3), records=RECORDS, count=st.integers(1, 6))
def test_buckets_are_in_the_order_of_records(samples, records, count):
    splitters = splitters_of([Splitters(*arrays_of(sample)) for sample in samples], count)
    pool, word, tie = arrays_of(records)

    to = bucket_of(splitters, word, pool, tie)

    assert to.max(initial=0) < count
    order = order_of(word, np.arange(word.size), pool, tie)
    assert (np.diff(to[order]) >= 0).all()
    equal = {}
    assert all(equal.setdefault(record, k) == k for record, k in zip(records, to, strict=True))


@pytest.mark.parametrize("sizes", [[1000], [0, 3, 500, 0, 497, 0], [1, 1]])
def test_random_words_fill_buckets_evenly(sizes):
    sizes, rng = np.array(sizes), np.random.default_rng(2)
    pool = np.repeat(np.arange(sizes.size), sizes * 40)
    word = rng.integers(0, 2**64 - 1, pool.size, dtype=np.uint64, endpoint=True)

    for count in (1, 4):
        to = bucket_of(even_splitters(sizes, count), word, pool, NO_TIES)
        held = np.bincount(to, minlength=count)
        # binomial: six standard deviations, exceeded once in 5e8 buckets
        assert (abs(held - pool.size / count) <= 6 * np.sqrt(pool.size)).all()
        order = np.lexsort((word, pool))
        assert (np.diff(to[order]) >= 0).all()
    if sizes.size == 1:
        assert np.array_equal(bucket_of(even_splitters(sizes, 4), word, None, NO_TIES), to)


def test_a_heap_of_equal_words_is_parted_by_ties():
    tie = np.random.default_rng(3).integers(0, 2**64 - 1, 4000, dtype=np.uint64)
    word = np.zeros(4000, np.uint64)
    splitters = splitters_of([Splitters(NO_POOLS, word[:400], tie[:400])], 4)
    assert np.bincount(bucket_of(splitters, word, None, tie)).min() > 700


@given(st.lists(st.floats(allow_nan=False)))
def test_numbers_and_words_have_one_order(numbers):
    x = np.array(numbers, dtype=float)
    words = words_of(x)
    assert numbers_of(words).view(np.int64).tolist() == x.view(np.int64).tolist()
    by_word = x[np.argsort(words)]
    assert (by_word[1:] >= by_word[:-1]).all()
