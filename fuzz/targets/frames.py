"""Data frames of pandas, polars and pyarrow: the masked column changes, the others stay, or it is refused."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import condmask as cm
from fuzz.material import SCHEME, fresh, nothing_left
from fuzz.target import arguments
from fuzz.values import arrays

PANDAS = (
    "float64", "float32", "int64", "int8", "uint64", "Int64", "Float32", "boolean", "category", "string",
    "object",
    "datetime64[ns]", "timedelta64[s]", "complex128", "float64[pyarrow]", "int16[pyarrow]", "Sparse[float64]",
)  # fmt: skip
POLARS = (
    pl.Float64, pl.Float32, pl.Int8, pl.Int64, pl.UInt64, pl.Int128, pl.Boolean, pl.String, pl.Categorical,
    pl.Date,
    pl.Duration("us"), pl.Decimal(20, 2), pl.Null, pl.List(pl.Float64), pl.Object, pl.Binary,
)  # fmt: skip
ARROW = (
    pa.float64(), pa.float16(), pa.float32(), pa.int8(), pa.uint64(), pa.bool_(), pa.string(),
    pa.large_string(),
    pa.string_view(), pa.decimal128(20, 2), pa.decimal256(50, 3), pa.date32(), pa.timestamp("ns", "UTC"),
    pa.null(),
    pa.duration("s"), pa.dictionary(pa.int8(), pa.float64()), pa.list_(pa.float64()), pa.binary(),
    pa.time64("us"),
    pa.run_end_encoded(pa.int32(), pa.float64()),
)  # fmt: skip
NAMES = ("x", "y", "", "x y", "\ud800", "é", "__filename", "condmask", "a\0b", "<b>")
OTHERS = (
    1.5,
    "a",
    None,
    True,
    datetime.date(2020, 1, 2),
    decimal.Decimal("1.5"),
    b"b",
    [1],
    {"a": 1},
    float("nan"),
)


def in_pandas(values, kind, name):
    return pd.DataFrame({name: pd.Series(values).astype(kind), "t": range(len(values))})


def in_polars(values, kind, name):
    return pl.DataFrame({name: pl.Series(list(values)).cast(kind), "t": range(len(values))})


def in_arrow(values, kind, name):
    rest = pa.array(range(len(values)), pa.int64())
    column = pa.array(values)
    column = pa.array(values, kind) if pa.types.is_null(kind) else column.cast(kind)
    return pa.table([pa.chunked_array([column[:3], column[3:]]), rest], names=[name, "t"])


MADE = st.one_of(
    st.tuples(st.just(in_pandas), st.sampled_from(PANDAS)),
    st.tuples(st.just(in_polars), st.sampled_from(POLARS)),
    st.tuples(st.just(in_arrow), st.sampled_from(ARROW)),
    st.tuples(
        st.just(lambda values, kind, name: {name: values, "t": [kind] * len(values)}), st.sampled_from(OTHERS)
    ),
)


@arguments(
    made=MADE, values=arrays(20), name=st.sampled_from(NAMES), unequal=st.booleans(), omit=st.booleans(),
    suffix=st.sampled_from([".parquet", ".csv", ".arrow", ".csv.gz", ".html"]),
)  # fmt: skip
def one(made, values, name, unequal, omit, suffix):
    try:
        frame = made[0](values, made[1], name)
    except Exception:  # the other package refuses
        return
    if unequal and isinstance(frame, dict):
        frame["t"] = frame["t"][1:]
    policy = "omit" if omit else "raise"
    release = cm.mask_table(frame, {name: SCHEME}, rng=1, nan_policy=policy, accept_visible_coins=True)
    table = release.data
    assert type(table) is type(frame)
    assert [*table] == [*frame] if isinstance(frame, dict) else True
    others = [as_list(table["t"]), as_list(frame["t"])]
    assert repr(others[0]) == repr(others[1]), "another column changed"
    before, after = (np.asarray(as_list(one[name])) for one in (frame, table))
    assert before.shape == after.shape
    mean = release[name].mean()
    assert not np.isinf(mean)
    target = fresh("none", b"").with_name(f"a{suffix}")
    with nothing_left():
        release.write(target)
    back = cm.read_release(target, name)
    assert np.isclose(back.mean(), mean, rtol=1e-6, equal_nan=True)


def as_list(column):
    """A column of any package as a list."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)
