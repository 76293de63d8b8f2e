"""Strata of several columns, and small ones merged: the rule, by the reference and by promises."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask import strata

pytestmark = pytest.mark.usefixtures("unaudited")

SIZES = st.lists(st.integers(1, 14), min_size=1, max_size=8)


def same_partition(one, other):
    """Whether the same records are together, whatever the pools are called."""
    first, second = {}, {}
    return len(one) == len(other) and all(
        first.setdefault(a, row) == second.setdefault(b, row)
        for row, (a, b) in enumerate(zip(one, other, strict=True))
    )


def merged_sizes(sizes):
    """The sizes of the pools that strata of these sizes become."""
    code = np.repeat(np.arange(len(sizes)), sizes)
    pool = strata.merged(code, None, np.ones(code.size, dtype=bool))
    return sorted(np.unique(pool, return_counts=True)[1].tolist())


@pytest.mark.parametrize(
    ("sizes", "pools"),
    [
        ([10, 10, 30], [10, 10, 30]),  # none is small
        ([9, 1, 30], [10, 30]),  # two small ones are enough
        ([3, 12, 30], [15, 30]),  # one is not: the next size joins
        ([3, 12, 12, 30], [27, 30]),  # both of that size
        ([3, 4, 11, 12], [12, 18]),
        ([3, 4], [7]),  # refused by whoever asks
        ([9] * 5, [45]),
    ],
)
def test_small_strata_are_merged_by_the_rule(sizes, pools):
    assert merged_sizes(sizes) == pools


@given(
    sizes=SIZES, gaps=st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=7), seed=st.integers(0, 99)
)
def test_merging_is_that_of_the_reference_whatever_labels_and_order(sizes, gaps, seed):
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    kind = np.resize(gaps, code.size)[rng.permutation(code.size)]  # which of two columns are missing, as bits
    columns = [np.where(kind & bit, np.nan, 1.0) for bit in (1, 2)]
    there = kind != 3
    crossed = strata.crossed([code, kind], code.size)

    pool = np.where(there, strata.merged(crossed, kind, there), -1)

    assert same_partition(pool.tolist(), reference.merged_strata(columns, code.tolist()))
    shuffled, renamed = rng.permutation(code.size), rng.permutation(int(code.max()) + 1)
    again = strata.merged(
        strata.crossed([renamed[code][shuffled], kind[shuffled]], code.size), kind[shuffled], there[shuffled]
    )
    assert same_partition(np.where(there[shuffled], again, -1).tolist(), pool[shuffled].tolist())


def test_one_name_in_a_sequence_is_that_name():
    one, other = (cm.ConditionalMasking(0.6, 1.0, strata=named) for named in ("region", ["region"]))

    assert one == other
    assert strata.named_strata(("region", "sex")) == ("region", "sex")


def test_numbers_of_records_are_held_in_as_few_bytes_as_hold_them():
    assert [strata.index_type(n) for n in (1, 2**31 - 1, 2**31)] == [np.int32, np.int32, np.int64]


@pytest.mark.parametrize("labels", [3, 400])  # of which 9 or 160,000 pairs may be there
def test_crossed_labels_are_numbered_in_their_order(labels):
    parts = np.random.default_rng(3).integers(0, labels, (3, 2_000))
    parts[:, 0] = labels - 1

    found = strata.crossed(parts, 2_000)

    assert found.tolist() == np.unique(parts, axis=1, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("numbers", [None, [0, 0, 0], [2, 5, 3], [-1, 4, 1]])
def test_values_of_a_pool_are_those_of_its_records(numbers, missing):
    x, pool = np.arange(30.0) ** 2, numbers and np.resize(numbers, 30)
    if missing:
        x[::4] = np.nan

    found = [(np.arange(30)[rows].tolist(), own.tolist()) for rows, own in strata.values_by_pool(x, pool)]

    there = [row for row in range(30) if x[row] == x[row] and (pool is None or pool[row] >= 0)]
    of = {row: 0 if pool is None else int(pool[row]) for row in there}
    rows = [[row for row in there if of[row] == number] for number in sorted(set(of.values()))]
    assert found == [(own, [row**2 for row in own]) for own in rows]


NAMES = ("region", "sex")
REGION, SEX = np.repeat(["n", "s"], 6), np.tile([0, 1], 6)
TABLES = {
    "dict": {"sex": SEX, "region": REGION},
    "dict of series": {"sex": pl.Series(SEX), "region": pd.Series(REGION)},
    "pandas": pd.DataFrame({"sex": SEX, "x": 1.5, "region": REGION}),
    "polars": pl.DataFrame({"sex": SEX, "region": REGION}),
    "pyarrow": pa.table({"sex": SEX, "region": REGION}),
    "list": [REGION, SEX],
    "tuple": (REGION.tolist(), pd.Series(SEX)),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_taken_from_any_table_or_in_the_order_of_the_names(name):
    found = strata.labels_of(TABLES[name], NAMES, 12, "x", "mask")

    labels = [np.array(column.distinct)[column.code].tolist() for column in found]
    assert labels == [REGION.tolist(), SEX.tolist()]


@pytest.mark.parametrize("name", ["dict", "pandas", "polars", "pyarrow"])
def test_one_column_may_come_in_a_table_too(name):
    (found,) = strata.labels_of(TABLES[name], "region", 12, "x", "mask")

    assert np.array(found.distinct)[found.code].tolist() == REGION.tolist()
