"""Donors and noise in partitions.

Oracle: the same table masked on one machine under the same key; bits are equal.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partitioned import assert_as_on_one_machine, few_words, small_blocks, tables
from strategies import PROBABILITIES

import condmask as cm

DONORS = ("permutation", "sample")


def schemes_of(columns, p, donors, noise="normal", decimals=0):
    return [
        cm.ConditionalMasking(p, 30.0 + k, donors=donors, noise=noise, decimals=decimals)
        for k in range(len(columns))
    ]


@settings(max_examples=15)
@given(
    table=tables(kinds=("whole", "tied")),
    p=PROBABILITIES,
    donors=st.sampled_from(DONORS),
    noise=st.sampled_from(["normal", "laplace"]),
    decimals=st.integers(-1, 2),
    secret=st.binary(min_size=16, max_size=16),
)
def test_partitions_are_masked_as_on_one_machine(table, p, donors, noise, decimals, secret):
    columns, pool, cuts = table
    assert_as_on_one_machine(columns, pool, cuts, schemes_of(columns, p, donors, noise, decimals), secret)


@pytest.mark.parametrize("donors", DONORS)
def test_partitions_and_blocks_may_be_cut_anywhere(monkeypatch, donors):
    small_blocks(monkeypatch)
    x = np.arange(1000.0)
    pool = np.random.default_rng(1).integers(-1, 3, x.size)
    cuts = [0, 10, 10, 64, 65, 128, 700, 1000]
    assert_as_on_one_machine([x], None, cuts, schemes_of([x], 0.6, donors))
    x[pool < 0] = np.nan
    assert_as_on_one_machine([x], pool, cuts, schemes_of([x], 0.6, donors))


@pytest.mark.parametrize("donors", DONORS)
def test_equal_words_go_by_the_rows(monkeypatch, donors):
    few_words(monkeypatch)
    x, pool = np.arange(600.0), np.arange(600) % 4
    assert_as_on_one_machine([x], None, [90, 300], schemes_of([x], 0.5, donors))
    assert_as_on_one_machine([x], pool, [90, 300], schemes_of([x], 0.5, donors))
