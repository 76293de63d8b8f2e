"""A Dask frame is masked as the same table in memory.

Oracle: `condmask.mask_table` on one machine, whose frame, types and refusals are the same.
"""

import re
import warnings
from decimal import Decimal

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.delayed import delayed
from marks import rest_slow
from partitioned import CUTS, UNEQUAL, cut

import condmask as cm
import condmask.dask
from condmask import masked_notes
from condmask.dask import masking

N = 20_000
NOISY = cm.ConditionalMasking(0.6, 1500.0)
MAPPED = cm.ConditionalMasking(0.6, 1500.0, reverse_mapping=True, aggregate_ends=5)


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": rng.lognormal(8, 0.5, N).round(2),
            "age": rng.integers(18, 90, N),
            "region": rng.choice(list("abcd"), N),
        }
    )


def both(table, schemes, ends=UNEQUAL, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        one = cm.mask_table(table, schemes, rng=5, **options)
        many = condmask.dask.mask_table(cut(table, ends), schemes, rng=5, **options)
    return one, many


def same(one, many):
    pd.testing.assert_frame_equal(one.data, many.data.compute(), check_exact=True)
    pd.testing.assert_frame_equal(one.data.iloc[:0], many.data._meta, check_index_type=False)
    assert (one.schemes, one.records, one.patterns) == (many.schemes, many.records, many.patterns)
    assert [origin.shift for origin in one.origins.values()] == [
        origin.shift for origin in many.origins.values()
    ]


@pytest.mark.parametrize("scheme", [NOISY, MAPPED], ids=["noise", "reverse mapping"])
@pytest.mark.parametrize("strata", [None, "region"])
def test_a_frame_is_masked_as_on_one_machine(table, scheme, strata):
    same(*both(table, {"income": scheme}, strata=strata))


def test_columns_with_gaps_and_codes_are_masked_as_on_one_machine(table):
    gaps = table.assign(income=table.income.where(table.index % 7 > 0))
    gaps["age"] = gaps.age.where(gaps.index % 5 > 0, -8)
    schemes = {
        "income": NOISY,
        "age": cm.ConditionalMasking(0.6, 20.0, decimals=0, missing=-8, missing_as="null"),
    }
    one, many = both(gaps, schemes, nan_policy="omit", accept_visible_coins=True)
    same(one, many)
    assert one.patterns["age"] == ("income", "age")


def test_codes_stay_in_their_places_and_types_are_those_of_the_whole(table):
    whole = table.assign(age=table.age.where(table.index > 50, -999))
    schemes = {"age": cm.ConditionalMasking(0.6, 20.0, decimals=0, missing=-999)}
    one, many = both(whole, schemes, accept_visible_coins=True)
    same(one, many)
    nullable = whole.assign(age=whole.age.astype("Int64").mask(whole.index > 9_000))
    schemes = {"age": cm.ConditionalMasking(0.6, 20.0, decimals=0, missing=(-999,), missing_as="null")}
    same(*both(nullable, schemes, nan_policy="omit", accept_visible_coins=True))


def test_rounded_columns_say_what_moved_as_on_one_machine(table):
    one, many = both(table, {"income": cm.ConditionalMasking(0.6, 1500.0, step=100.0)}, round=True)
    same(one, many)
    assert any(many.origins["income"].shift)


def test_small_strata_are_pooled_as_on_one_machine(table):
    few = table.assign(region=np.where(table.index < 7, "zz", table.region))
    schemes = {"income": cm.ConditionalMasking(0.6, 1500.0, small_strata="merge")}
    same(*both(few, schemes, strata="region"))


FEW = 3_000


def labels_of(kind, gaps):
    """Labels of strata, missing in the first rows if anywhere: others have another type where none is."""
    code = np.arange(FEW) % 3
    missing = (np.arange(FEW) < 300) & (code == 0) & gaps
    return {
        "boolean": pd.arrays.BooleanArray(code > 0, missing),
        "category of booleans": pd.Categorical(np.where(missing, None, (code > 0).astype(object))),
        "Int64": pd.arrays.IntegerArray(code, missing),
        "category of numbers": pd.Categorical(np.where(missing, np.nan, code)),
        "float64": np.where(missing, np.nan, code),
        "text": pd.Series(np.array(list("abc"))[code]).mask(missing, None),
    }[kind]


LABELS = ["boolean", "category of booleans", "Int64", "category of numbers", "float64", "text"]


@pytest.mark.parametrize("gaps", rest_slow([True, False]))
@pytest.mark.parametrize("kind", LABELS)
def test_a_stratum_is_one_in_all_partitions_whatever_else_these_hold(table, kind, gaps):
    few = table[:FEW].assign(region=labels_of(kind, gaps))
    same(*both(few, {"income": NOISY}, CUTS, strata="region"))


def test_objects_that_are_decimals_may_be_missing_from_a_partition(table):
    few = table[:FEW]
    paid = [None if i < 701 else Decimal(f"{x:.2f}") for i, x in enumerate(few.income)]
    schemes = {"income": cm.ConditionalMasking(0.6, 1500.0, decimals=2)}
    options = {"nan_policy": "omit", "accept_visible_coins": True}
    with dask.config.set({"dataframe.convert-string": False}):  # else Dask makes text of objects
        same(*both(few.assign(income=pd.Series(paid, dtype=object)), schemes, CUTS, **options))


@pytest.mark.parametrize("digits", rest_slow([None, 2, 0]))
def test_decimals_become_numbers_where_masked_values_have_more_places(table, digits):
    places = 2 if digits is None else digits
    paid = pd.array([Decimal(f"{x:.2f}") for x in table.income[:FEW].round(places)], dtype="object")
    paid = paid.astype(pd.ArrowDtype(pa.decimal128(12, 2)))
    schemes = {"income": cm.ConditionalMasking(0.6, 15.0, decimals=digits)}
    one, many = both(table[:FEW].assign(income=paid), schemes, CUTS, accept_visible_coins=True)
    same(one, many)
    assert (many.data.dtypes["income"].kind == "f") == (digits is None)


REFUSED = {
    "digits": ({"income": lambda t: t.income.round(-1)}, cm.ConditionalMasking(0.6, 1500.0, decimals=0), {}),
    "a copy": ({"copy": lambda t: t.income / 12.0}, NOISY, {}),
    "rare values": ({}, cm.ConditionalMasking(0.6, 1500.0, reverse_mapping=True), {}),
    "off its grid": (
        {},
        cm.ConditionalMasking(0.6, 1500.0, decimals=0),
        {"accept_visible_coins": True},
    ),
    "too large": ({"income": lambda t: t.income.where(t.index != 9_005, 1e17)}, NOISY, {}),
    "gaps": ({"income": lambda t: t.income.where(t.index % 500 != 77)}, NOISY, {}),
    "what looks like a code": ({"income": lambda t: t.income.where(t.index % 500 != 77, -9.0)}, NOISY, {}),
    "infinite": ({"income": lambda t: t.income.where(t.index != 9_005, np.inf)}, NOISY, {}),
    "a range": ({}, cm.ConditionalMasking(0.6, 1500.0, range=(0, None)), {}),
    "out of range": ({}, cm.ConditionalMasking(0.6, 1500.0, range=(None, 9_000)), {}),
    "a small stratum": (
        {"region": lambda t: np.where(t.index < 7, "zz", t.region)},
        NOISY,
        {"strata": "region"},
    ),
    "the first small stratum by its name": (
        {"region": lambda t: np.select([t.index < 7, t.index > N - 6], ["b", "a"], "c")},
        NOISY,
        {"strata": "region"},
    ),
    "a small stratum without a name": (
        {"region": lambda t: np.where(t.index > N - 6, np.nan, 1.0)},
        NOISY,
        {"strata": "region"},
    ),
    "a rare pattern": (
        {"age": lambda t: t.age.where(t.index > 5)},
        {"income": NOISY, "age": NOISY},
        {"nan_policy": "omit"},
    ),
    "a code in reach": (
        {"income": lambda t: t.income.where(t.index % 9 > 0, -9.0)},
        cm.ConditionalMasking(0.6, 1500.0, decimals=2, missing=-9),
        {},
    ),
    "text": ({}, {"region": NOISY}, {}),
    "a column that is not there": ({}, {"wage": NOISY}, {}),
    "strata that are not there": ({}, NOISY, {"strata": "town"}),
    "a masked stratum": ({}, NOISY, {"strata": "income"}),
    "two p": ({}, {"income": NOISY, "age": cm.ConditionalMasking(0.5, 20.0)}, {}),
    "no scheme": ({}, {"income": 3}, {}),
    "a policy": ({}, NOISY, {"nan_policy": "drop"}),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(table, case):
    changes, schemes, options = REFUSED[case]
    changed = table.assign(**changes)
    schemes = schemes if isinstance(schemes, dict) else {"income": schemes}
    with pytest.raises((ValueError, TypeError)) as one:
        cm.mask_table(changed, schemes, **options)
    with pytest.raises(type(one.value)) as many:
        condmask.dask.mask_table(cut(changed, UNEQUAL), schemes, **options)
    assert placeless(many.value) == placeless(one.value)


def placeless(error):
    return re.sub(r"position \d+| \(in partition \d\)", "", str(error))


def test_a_position_is_one_of_a_partition(table):
    infinite = table.assign(income=table.income.where(table.index != 9_005, np.inf))
    with pytest.raises(ValueError, match=r"the first at position 5 \(in partition 5\)$"):
        condmask.dask.mask_table(cut(infinite, UNEQUAL), {"income": NOISY})


def test_what_is_no_dask_frame_or_masked_already_is_refused(table):
    scheme = {"income": NOISY}
    with pytest.raises(TypeError, match="frame must be a Dask DataFrame, got DataFrame"):
        condmask.dask.mask_table(table, scheme)
    release = condmask.dask.mask_table(cut(table, UNEQUAL), scheme)
    with pytest.raises(TypeError, match="got a Release"):
        condmask.dask.mask_table(release, scheme)
    with pytest.raises(ValueError, match="income is masked already"):
        condmask.dask.mask_table(release.data, scheme)
    with pytest.raises(TypeError, match="must be ConditionalMasking for a Dask frame, got AdditiveNoise"):
        condmask.dask.mask_table(cut(table, UNEQUAL), {"income": cm.AdditiveNoise(3.0)})


def test_the_ends_of_a_pool_may_be_all_that_it_has(table):
    scheme = cm.ConditionalMasking(0.6, 1500.0, reverse_mapping=True, aggregate_ends=5)
    same(*both(table[:10], {"income": scheme}, [3], accept_visible_coins=True))


def test_columns_masked_before_stay_noted_and_so_does_what_was_accepted(table):
    few, options = cut(table[:FEW], CUTS), {"accept_visible_coins": True}
    release = condmask.dask.mask_table(few, {"income": NOISY}, **options)
    again = condmask.dask.mask_table(release.data, {"age": NOISY}, **options)
    assert masked_notes.masked_columns(again.data.compute()) == ["income", "age"]
    assert not again._audited


def test_two_releases_share_neither_coins_nor_noise(table):
    one, other = (condmask.dask.mask_table(cut(table, UNEQUAL), {"income": NOISY}) for _ in range(2))
    a, b = (release.data.compute().income for release in (one, other))
    assert (a == b).mean() < 0.01


def changing(table, read):
    read.append(1)
    return table.assign(income=table.income + (len(read) > 2))


def test_a_partition_that_changes_after_the_audit_is_not_released(table):
    import dask.dataframe as dd

    read = []
    parts = [delayed(changing)(table.iloc[:9_000], read), delayed(table.iloc[9_000:])]
    frame = dd.from_delayed(parts, meta=table.iloc[:0], verify_meta=False)
    with pytest.raises(RuntimeError, match="partition 0 changed after it was audited"):
        condmask.dask.mask_table(frame, {"income": NOISY})


def test_a_frame_computed_again_has_no_second_noise(table):
    release = condmask.dask.mask_table(cut(table, UNEQUAL), {"income": NOISY})
    pd.testing.assert_frame_equal(release.data.compute(), release.data.compute())


def test_the_key_of_a_seed_is_that_of_one_machine_whatever_passes_at_a_time(table, monkeypatch):
    monkeypatch.setattr(masking, "AT_ONCE", 2)
    same(*both(table, {"income": NOISY}, strata="region"))


WRONG = {
    "accept_visible_coins": ("no", TypeError, "accept_visible_coins must be True or False, got 'no'"),
    "nan_policy": (None, ValueError, "nan_policy must be one of 'raise', 'omit', got None"),
    "strata": (
        pd.DataFrame({"region": [8675309]}),
        TypeError,
        "strata must be None, a name or a sequence of names, got a DataFrame",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_without_a_value_of_a_table(table, name):
    value, kind, message = WRONG[name]
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        cm.dask.mask_table(cut(table, UNEQUAL), {"income": NOISY}, rng=1, **{name: value})
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        cm.mask_table(table, {"income": NOISY}, rng=1, **{name: value})


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["income", "age", "age"], "'age'"),
        (["income", "income", "region"], "'income'"),
        (["income", 7, "region"], "1 named by numbers (is there a header?)"),
        ([("income", 1), ("age", 1), ("age", 2)], "('income', 1), ('age', 1), ('age', 2)"),
    ],
)
def test_columns_that_files_cannot_keep_apart_are_refused(table, names, told):
    frame = cut(table.set_axis(pd.Index(names, tupleize_cols=False), axis=1), [100])
    for look in (cm.dask.mask_table, cm.dask.audit):
        with pytest.raises(ValueError, match=rf"^frame must have columns .* got also {re.escape(told)}$"):
            look(frame, {"income": NOISY})
