"""Reverse mapping releases the values of a column as they are stored, whatever their type.

Oracle: the multiset of Python objects in the original; means at the ends by fractions of the
numbers that the objects hold."""

import datetime as dt
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import condmask as cm
from condmask.masking import reverse_mapping

if int(pa.__version__.split(".")[0]) < 20:
    pytest.skip("pandas takes no decimal32 of this pyarrow", allow_module_level=True)
N = 300
RANDOM = np.random.default_rng(7)
WHOLE = RANDOM.integers(1, 5_000, N).tolist()
GAPS = (RANDOM.random(N) < 0.1).tolist()
FIRST = dt.datetime(1999, 12, 31, 23, 59, 59, 999_999)


def with_gaps(values):
    return [None if gap else value for value, gap in zip(values, GAPS, strict=True)]


def long_decimal(value):
    """A number of 21 digits, of which float64 does not see the last five."""
    return Decimal((0, tuple(map(int, f"{10**20 + value}")), -2))


TIMES = [FIRST + dt.timedelta(microseconds=value * 987_654_321) for value in WHOLE]
ARROW = {
    "int8": pa.array([value % 100 for value in WHOLE], pa.int8()),
    "int32": pa.array(with_gaps(WHOLE), pa.int32()),
    "int64": pa.array(with_gaps(WHOLE), pa.int64()),
    "int64 beyond 2^53": pa.array([2**62 + value for value in WHOLE]),
    "uint64 beyond 2^63": pa.array([2**63 + value for value in WHOLE], pa.uint64()),
    "decimal32": pa.array(with_gaps([Decimal(v) / 100 for v in WHOLE]), pa.decimal32(6, 2)),
    "decimal64": pa.array([Decimal(v) / 100 for v in WHOLE], pa.decimal64(18, 2)),
    "decimal128": pa.array(with_gaps(map(long_decimal, WHOLE)), pa.decimal128(38, 18)),
    "decimal256": pa.array(list(map(long_decimal, WHOLE)), pa.decimal256(60, 2)),
    "decimal of hundreds": pa.array([Decimal(v) * 100 for v in WHOLE], pa.decimal128(9, -2)),
    "date32": pa.array(with_gaps([time.date() for time in TIMES])),
    "date64": pa.array([time.date() for time in TIMES], pa.date64()),
    "timestamp": pa.array(with_gaps(TIMES)),
    "timestamp of zone": pa.array(TIMES, pa.timestamp("ns", "Europe/Vienna")),
    "duration": pa.array(with_gaps([time - FIRST for time in TIMES])),
    "time32": pa.array(WHOLE, pa.time32("s")),
    "time64": pa.array([time.time() for time in TIMES]),
}
NOT_OF_POLARS = "decimal256", "decimal of hundreds"  # it panics, or reads other numbers


def columns():
    for name, array in ARROW.items():
        yield f"pyarrow {name}", array
        yield f"chunks {name}", pa.chunked_array([array[:7], array[7:]])
        yield f"pandas {name}", array.to_pandas().set_axis(range(5, N + 5))
        yield f"ArrowDtype {name}", pd.Series(array, dtype=pd.ArrowDtype(array.type), name="x")
        if name not in NOT_OF_POLARS:
            yield f"polars {name}", pl.Series("x", array)
    for dtype in ("int16", "uint64", "datetime64[D]", "datetime64[ns]", "timedelta64[ms]"):
        yield f"numpy {dtype}", np.array(WHOLE).astype(dtype)
    yield "Int64", pd.Series(with_gaps(WHOLE), dtype="Int64")
    yield "UInt16", pd.Series(with_gaps(WHOLE), dtype="UInt16")
    yield "integers as objects", pd.Series(with_gaps(WHOLE), dtype=object)


COLUMNS = dict(columns())


def objects(column):
    """The values of any container as objects of Python, None for missing ones."""
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if pd.isna(value) else value for value in values]


def type_of(column):
    return column.type if hasattr(column, "type") else column.dtype


def mapped(x, **options):
    scheme = cm.ReverseMapping(0.6, 500.0, **options)
    return scheme.mask(x, rng=1, nan_policy="omit", accept="all")


@pytest.mark.parametrize("name", COLUMNS)
def test_each_value_comes_once_in_its_own_type_and_gaps_stay(name):
    x = COLUMNS[name]

    z = mapped(x)

    before, after = objects(x), objects(z)
    assert type(z) is type(x)
    assert type_of(z) == type_of(x)
    assert Counter(after) == Counter(before)
    assert [value is None for value in after] == [value is None for value in before]
    assert np.mean([a != b for a, b in zip(before, after, strict=True)]) > 0.3
    if hasattr(x, "index") and isinstance(x, pd.Series):
        assert z.index.equals(x.index)


def number(value):
    """What an object holds as a whole number of its last digits, or of days or microseconds."""
    if isinstance(value, Decimal):
        sign, digits, _ = value.as_tuple()
        return (-1) ** sign * int("".join(map(str, digits)))
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(microseconds=1)
    return value.toordinal() if isinstance(value, dt.date) else int(value)


@pytest.mark.parametrize(
    "name",
    ["int64", "int64 beyond 2^53", "decimal32", "decimal128", "date32", "date64", "duration"],
)
@pytest.mark.parametrize("form", ["pyarrow", "pandas", "ArrowDtype", "polars"])
def test_ends_are_means_to_the_last_digit_of_the_type(form, name):
    x = COLUMNS[f"{form} {name}"]
    if form == "polars" and name == "date64":
        pytest.skip("polars makes times of them")

    z = mapped(x, aggregate_ends=4)

    before = sorted(number(value) for value in objects(x) if value is not None)
    low = [value for value in before if value <= before[3]]
    high = [value for value in before if value >= before[-4]]
    means = [round(Fraction(sum(end), len(end))) for end in (low, high) for _ in end]
    expected = [*means, *before[len(low) : len(before) - len(high)]]
    assert sorted(number(value) for value in objects(z) if value is not None) == sorted(expected)


def test_decimals_that_float64_does_not_tell_apart_stay_apart_and_in_order():
    x = pa.array([long_decimal(value) for value in range(3_000)], pa.decimal128(30, 2))

    z = mapped(x)

    assert len(set(z.to_pylist())) == 3_000
    assert len(set(np.asarray(x.cast(pa.float64())).tolist())) < 3
    assert pc.add(z, x).type == pc.add(x, x).type
    assert pa.concat_tables([pa.table({"x": x}), pa.table({"x": z})]).num_rows == 6_000


def test_values_with_equal_numbers_are_given_back_in_the_order_of_their_ranks():
    random = np.random.default_rng(3)
    n = 200
    rank = random.permutation(n)
    keys = random.normal(size=n)
    x = np.full(n, 1e20)

    rows, donors = reverse_mapping.give_back(x, np.arange(n), keys, lambda: keys, None, rank)

    given = np.empty(n, np.int64)
    given[rows] = rank[donors]
    assert np.array_equal(given[np.argsort(keys)], np.arange(n))


def test_bits_do_not_depend_on_the_number_of_workers():
    n = (1 << 16) + 100
    x = pa.array((np.arange(n) * 7919 % n + 2**60).tolist())
    scheme = cm.ReverseMapping(0.6, 1000.0, aggregate_ends=3)

    one, several = (scheme.mask(x, rng=1, workers=workers, accept="all") for workers in (1, 3))

    assert one.equals(several)


# --- schemes that compute values ---


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("int64 beyond 2^53", {"decimals": 0}, "must hold integers of at most 2\\^53"),
        ("decimal128", {"decimals": 2}, "must hold numbers of which float64 has all digits"),
        ("date32", {}, "must be masked in whole steps of 1 days"),
        ("time64", {"step": 1.0}, "must be masked in whole steps of 86400"),
    ],
)
def test_noise_is_refused_where_a_number_cannot_hold_the_values(name, options, message):
    scheme = cm.ConditionalMasking(0.6, 300.0, **options)
    with pytest.raises(ValueError if "hold" in message else TypeError, match=message):
        scheme.mask(ARROW[name], rng=1, nan_policy="omit", accept="all")


@pytest.mark.parametrize("form", ["pyarrow", "ArrowDtype", "polars"])
def test_noise_keeps_dates_dates_and_decimals_in_their_precision(form):
    days = cm.ConditionalMasking(0.6, 300.0, decimals=0)
    cents = cm.ConditionalMasking(0.6, 1.0, decimals=2)
    parts = cm.ConditionalMasking(0.6, 300.0, decimals=6)
    for name, scheme in (("date32", days), ("timestamp of zone", parts), ("decimal64", cents)):
        x = COLUMNS[f"{form} {name}"]
        z = scheme.mask(x, rng=1, nan_policy="omit", accept="all")
        assert type_of(z) == type_of(x)
        assert [v is None for v in objects(z)] == [v is None for v in objects(x)]
        assert Counter(objects(z)) != Counter(objects(x))


@pytest.mark.parametrize("form", ["pyarrow", "ArrowDtype", "polars"])
def test_integers_with_gaps_stay_integers_under_noise_of_whole_steps(form):
    x = COLUMNS[f"{form} int64"]
    z = cm.ConditionalMasking(0.6, 30.0, decimals=0).mask(
        x, rng=1, nan_policy="omit", accept="all"
    )
    assert type_of(z) == type_of(x)


def test_the_mean_of_dates_is_in_days_and_of_times_in_seconds():
    dates = ARROW["date64"]
    scheme = cm.ReverseMapping(0.6, 500.0)
    days = [value.toordinal() - dt.date(1970, 1, 1).toordinal() for value in dates.to_pylist()]
    assert scheme.estimate(dates).mean() == pytest.approx(np.mean(days), rel=1e-12)
    seconds = np.array(WHOLE).astype("timedelta64[ms]")
    assert scheme.estimate(seconds).mean() == pytest.approx(np.mean(WHOLE) / 1000.0, rel=1e-12)


# --- codes ---


@pytest.mark.parametrize("form", ["Int64", "int64[pyarrow]", "polars"])
def test_codes_stay_in_place_or_become_nulls_beside_exact_values(form):
    values = [99_999 if k % 10 == 0 else value for k, value in enumerate(WHOLE)]
    x = pl.Series(values) if form == "polars" else pd.Series(values, dtype=form)
    is_code = [value == 99_999 for value in values]

    z = mapped(x, missing=99_999)
    nulls = mapped(x, missing=99_999, missing_as="null")

    assert [value == 99_999 for value in objects(z)] == is_code
    assert Counter(objects(z)) == Counter(values)
    assert type_of(nulls) == type_of(x)
    assert [value is None for value in objects(nulls)] == is_code


# --- tables of any types ---

KINDS = st.sampled_from(sorted(ARROW))


@settings(max_examples=20, deadline=None)
@given(st.lists(KINDS, min_size=1, max_size=4, unique=True), st.integers(0, 2**32 - 1))
def test_tables_of_mixed_types_come_back_in_another_order(names, seed):
    order = np.random.default_rng(seed).permutation(N)
    table = pa.table({name: ARROW[name].take(pa.array(order)) for name in names})
    scheme = cm.ReverseMapping(0.5, 300.0)

    released = cm.mask_table(
        table,
        dict.fromkeys(names, scheme),
        rng=seed,
        nan_policy="omit",
        rare_gaps="drop",
        accept="all",
    ).data

    assert released.schema.types == table.schema.types
    for name in names if released.num_rows == N else ():
        assert Counter(released[name].to_pylist()) == Counter(table[name].to_pylist())


# --- what speaks Arrow ---


class Stream:
    """Nothing but a stream of Arrow, as libraries hand it to one another."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("form", [Stream, pa.Table.to_reader, "duckdb"])
def test_a_stream_of_arrow_is_masked_as_a_table(form):
    table = pa.table(
        {
            "x": ARROW["decimal64"].cast(pa.decimal128(18, 2)),
            "y": ARROW["date64"].cast(pa.date32()),
        }
    )
    if form == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        given = duckdb.from_arrow(table)
    else:
        given = form(table)
    options = {"rng": 1, "accept": "all"}
    scheme = cm.ReverseMapping(0.6, 5.0)

    found = cm.mask_table(given, {"x": scheme}, **options).data

    assert found.equals(cm.mask_table(table, {"x": scheme}, **options).data)


def test_what_has_no_values_yet_is_refused_with_the_call():
    with pytest.raises(TypeError, match=r"got a LazyFrame: pass frame.collect\(\)"):
        cm.mask_table(pl.LazyFrame({"x": WHOLE}), ["x"])


@pytest.mark.parametrize(
    "x",
    [
        pd.Series(WHOLE).astype("category"),
        pd.Series(with_gaps(WHOLE)).astype("Int64").astype("category"),
        pd.Series(WHOLE, dtype="Sparse[int64]"),
        pa.array(with_gaps(WHOLE)).dictionary_encode(),
        pc.run_end_encode(pa.array(with_gaps(WHOLE))),
        pd.Series(with_gaps(WHOLE), dtype=object),
    ],
    ids=["category", "category with gaps", "sparse", "dictionary", "runs", "objects"],
)
def test_numbers_in_other_storage_are_taken_everywhere(x):
    numbers = np.array([np.nan if value is None else value for value in objects_of(x)], float)

    z = mapped(x)

    assert Counter(v for v in objects(z) if v is not None) == Counter(numbers[~np.isnan(numbers)])
    y = np.arange(N) * 1.0
    estimate = cm.ReverseMapping(0.6, 10.0).estimate(y)
    assert estimate.correlation(x) == estimate.correlation(numbers)


def objects_of(x):
    return x.to_pylist() if hasattr(x, "to_pylist") else objects(x.astype(object))


def test_objects_of_several_types_are_refused_with_the_call():
    x = pd.Series([1, "2", *WHOLE], dtype=object)
    with pytest.raises(TypeError, match=r"got objects of several: pass x.convert_dtypes\(\)"):
        mapped(x)
