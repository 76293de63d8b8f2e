"""Strata under any label, of several columns, and small ones merged; categories as numbers;
correlations."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
import strategies
from hypothesis import given
from hypothesis import strategies as st
from releases import DONORS, assert_same_bits, generic, masked, reference_of

import condmask as cm
from condmask import strata
from condmask.correlations import intraclass, pearson, ranks
from condmask.indicators import design, indicators, is_text, yes_no

pytestmark = pytest.mark.usefixtures("unaudited")

SIZES = st.lists(st.integers(1, 14), min_size=1, max_size=8)


def same_partition(one, other):
    """Whether the same records are together, whatever the pools are called."""
    first = {}
    second = {}
    return len(one) == len(other) and all(
        first.setdefault(a, row) == second.setdefault(b, row)
        for row, (a, b) in enumerate(zip(one, other, strict=True))
    )


def merged_sizes(sizes):
    """The sizes of the pools that strata of these sizes become."""
    code = np.repeat(np.arange(len(sizes)), sizes)
    pool = strata.pool_small_strata(code, None, np.ones(code.size, dtype=bool))
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
    sizes=SIZES,
    gaps=st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=7),
    seed=st.integers(0, 99),
)
def test_merging_is_that_of_the_reference_whatever_labels_and_order(sizes, gaps, seed):
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    # which of two columns are missing, as bits
    kind = np.resize(gaps, code.size)[rng.permutation(code.size)]
    columns = [np.where(kind & bit, np.nan, 1.0) for bit in (1, 2)]
    there = kind != 3
    crossed = strata.crossed([code, kind], code.size)

    pool = np.where(there, strata.pool_small_strata(crossed, kind, there), -1)

    assert same_partition(pool.tolist(), reference.merged_strata(columns, code.tolist()))
    shuffled = rng.permutation(code.size)
    renamed = rng.permutation(int(code.max()) + 1)
    again = strata.pool_small_strata(
        strata.crossed([renamed[code][shuffled], kind[shuffled]], code.size),
        kind[shuffled],
        there[shuffled],
    )
    assert same_partition(np.where(there[shuffled], again, -1).tolist(), pool[shuffled].tolist())


def test_one_name_in_a_sequence_is_that_name():
    one, other = (
        cm.ConditionalMasking(0.6, 1.0, strata=named) for named in ("region", ["region"])
    )

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
    x = np.arange(30.0) ** 2
    pool = numbers and np.resize(numbers, 30)
    if missing:
        x[::4] = np.nan

    found = [
        (np.arange(30)[rows].tolist(), own.tolist())
        for rows, own in strata.values_by_pool(x, pool)
    ]

    there = [row for row in range(30) if x[row] == x[row] and (pool is None or pool[row] >= 0)]
    of = {row: 0 if pool is None else int(pool[row]) for row in there}
    rows = [[row for row in there if of[row] == number] for number in sorted(set(of.values()))]
    assert found == [(own, [row**2 for row in own]) for own in rows]


NAMES = ("region", "sex")
REGION = np.repeat(["n", "s"], 6)
SEX = np.tile([0, 1], 6)
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


@given(
    strata=st.lists(st.sampled_from("abc"), min_size=0, max_size=20),
    scheme=strategies.schemes(),
    seed=strategies.SEEDS,
    missing=st.booleans(),
)
def test_strata_follow_the_draw_contract(strata, scheme, seed, missing):
    strata = [*"abc" * 14, *strata]
    x = generic(len(strata), 5)
    if missing:
        x[::7] = np.nan
    if missing and any(np.sum((np.array(strata) == s) & ~np.isnan(x)) < 10 for s in "abc"):
        return

    scheme = replace(scheme, strata="region")
    z = masked(scheme, x, rng=seed, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, seed, strata))


CROSSED = {
    "region": np.random.default_rng(44).choice(["n", "s", "w"], 400, p=[0.02, 0.4, 0.58]).tolist()
}
CROSSED["sex"] = np.random.default_rng(45).integers(0, 2, 400).tolist()


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_crossed_and_merged_strata_follow_the_draw_contract(donors, merge, missing):
    x = generic(400, 6)
    table = CROSSED
    if missing:
        x[::5] = np.nan
    if not merge:  # without those that are too small
        kept = np.array(CROSSED["region"]) != "n"
        x = x[kept]
        table = {name: np.array(values)[kept].tolist() for name, values in CROSSED.items()}
    scheme = cm.ConditionalMasking(
        0.6,
        500.0,
        donors=donors,
        strata=["region", "sex"],
        small_strata="merge" if merge else "refuse",
    )
    strata = list(zip(table["region"], table["sex"], strict=True))
    if merge:
        pools = reference.merged_strata([x], strata)
        assert len(set(pools) - {None}) < len(set(strata)) == 6
        strata = [row if own is None else own for row, own in enumerate(pools)]

    z = scheme.mask(x, rng=7, strata=table, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, 7, strata))
    assert_same_bits(z, scheme.mask(x, rng=7, strata=list(table.values()), nan_policy="omit"))


@pytest.mark.parametrize(
    "label",
    [
        lambda s: s,
        lambda s: [f"region {k}" for k in s],
        lambda s: pd.Series([f"region {k}" for k in s], dtype="category"),
        lambda s: pl.Series([f"region {k}" for k in s]),
        lambda s: pa.chunked_array([[f"region {k}" for k in s]]).dictionary_encode(),
        lambda s: np.where(s == 0, np.nan, s),
        lambda s: pl.Series([None if k == 0 else f"region {k}" for k in s]),
    ],
    ids=["int", "list", "pandas category", "polars", "pyarrow dictionary", "nan", "null"],
)
def test_strata_are_the_same_under_any_label(label):
    strata = np.random.default_rng(43).integers(0, 3, 90)
    x = generic(90)
    scheme = cm.ConditionalMasking(0.6, 500.0, strata="region")

    assert_same_bits(
        scheme.mask(x, rng=1, strata=label(strata)), scheme.mask(x, rng=1, strata=strata)
    )


def test_a_stratum_has_ten_records():
    x = generic(50)
    scheme = cm.ConditionalMasking(0.6, 500.0, strata="region")

    scheme.mask(x, strata=np.repeat(["a", "b"], [10, 40]))
    with pytest.raises(
        ValueError, match="strata must have at least 10 records each, got 9 in stratum 'a'"
    ):
        scheme.mask(x, strata=np.repeat(["a", "b"], [9, 41]))


GAPS = [1.0, 0.0, np.nan]


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None],
        np.array([True, False, None], dtype=object),
        np.array([np.True_, np.False_, None], dtype=object),
        pd.Series([True, False, None], dtype="boolean"),
        pl.Series([True, False, None]),
        np.array(["True", "False", None], dtype=object),
        np.array(["true", "FALSE", ""]),
        pd.Series([True, False, np.nan], dtype=object),
    ],
)
def test_yes_and_no_are_one_and_zero(column):
    np.testing.assert_array_equal(yes_no(column), GAPS)


@pytest.mark.parametrize(
    "column", [pd.Series([True, False]), np.array([True, False]), pl.Series([True, False])]
)
def test_without_gaps_too(column):
    assert yes_no(column).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.0, 0.0]),
        np.array([1, 0, None], dtype=object),
        np.array([True, 2, None], dtype=object),
        np.array(["true", "maybe"], dtype=object),
        pd.Series(["yes", "no"]),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series([["yes"], ["no"]]),
    ],
)
def test_other_columns_stay(column):
    assert yes_no(column) is column


def test_text_is_known():
    assert is_text(pd.Series([None, "a"]))
    assert is_text(np.array(["a"]))
    assert is_text(pd.Series(["a", "b"], dtype="category"))
    assert not is_text(pd.Series([1, 2]))
    assert not is_text(np.array([None, 1], dtype=object))
    assert not is_text(pd.Series(pd.to_datetime(["2020-01-01"])))


def test_labels_have_a_column_each_but_the_first():
    labels = pd.Series(["south", "north", None, "west", "north"])

    found = indicators(labels, "region", 5)

    assert list(found) == ["region=south", "region=west"]
    dummies = pd.get_dummies(labels, dtype=float).where(labels.notna())
    np.testing.assert_array_equal(found["region=south"], dummies["south"])
    np.testing.assert_array_equal(found["region=west"], dummies["west"])
    assert next(iter(indicators(labels, "region", 5, all_but_first=False))) == "region=north"


@pytest.mark.parametrize("labels", [["a"] * 60, [f"name {k % 51}" for k in range(60)]])
def test_one_label_and_many_are_no_categories(labels):
    with pytest.raises(ValueError, match=r"2 to 50 categories, got 'who' with (1|51) labels"):
        indicators(labels, "who", 60)
    for count in (2, 50):
        assert len(indicators([f"name {k % count}" for k in range(60)], "who", 60)) == count - 1


A = np.array([1.5, 2.5, 4.0])
B = np.array([3.0, np.nan, 7.0])
SERIES = pd.Series(A, name="a")
DESIGNS = [
    (A, {"w1": A}),
    (A.tolist(), {"w1": A}),
    (np.column_stack([A, B]), {"w1": A, "w2": B}),
    (SERIES, {"a": A}),
    (pl.Series(A), {"w1": A}),
    ({"b": B, 5: SERIES}, {"b": B, "5": A}),
    (pd.DataFrame({"b": B, 5: A}), {"b": B, "5": A}),
    (pl.DataFrame({"b": B, "yes": [True, None, False]}), {"b": B, "yes": [1.0, np.nan, 0.0]}),
]
REFUSED = {
    "one or two dimensions, got 3": np.zeros((2, 2, 2)),
    "at least one column, got none": {},
    "columns of one length, got {'a': 2, 'b': 3}": {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize(("values", "columns"), DESIGNS)
def test_columns_of_numbers_are_found_by_name(values, columns):
    found = design(values, "W")

    assert list(found) == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_table_of_numbers_is_refused(why):
    with pytest.raises(ValueError, match=f"^W must have {why}"):
        design(REFUSED[why], "W")
    with pytest.raises(
        TypeError, match=r"^W must be a data frame, a dict of columns or an array, got float64$"
    ):
        design(np.float64(3.0), "W")
    with pytest.raises(TypeError, match=r"^W must hold numbers, so give an indicator column"):
        design({"a": ["x", "y"]}, "W")


def test_ranks_are_mean_ranks_and_constant_columns_have_no_correlation():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert pearson(np.ones(5), np.arange(5.0)) == 0.0
    assert pearson(np.arange(5.0), -np.arange(5.0)) == pytest.approx(-1.0)


def test_the_share_between_labels_is_that_of_the_analysis_of_variance():
    values = np.array([1.0, 3.0, 5.0, 7.0, 9.0, 2.0, np.nan])
    codes = np.array([0, 0, 1, 1, 2, -1, 0])
    # means 2 and 6: between 16 with one degree of freedom, within 4 / 2; two records each
    assert intraclass(values, codes) == pytest.approx((16.0 - 2.0) / (16.0 + 2.0))
    assert intraclass(values, np.arange(7)) == 0.0
