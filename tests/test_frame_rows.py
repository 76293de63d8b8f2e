"""Columns of every type that frames have, beside a masked one: looked at, digested, and left as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import condmask as cm
from condmask.frame_rows import digests, some_rows

N = 400
X = np.random.default_rng(3).lognormal(7.0, 0.5, N).round(2)
SCHEMES = {"x": cm.ConditionalMasking(0.6, 500.0, decimals=2)}
SOME = range(N)

OF_ARROW = {
    "text in views": pa.array([f"v{k % 7}" for k in SOME], pa.string_view()),
    "bytes in views": pa.array([b"\xff%d" % (k % 7) for k in SOME], pa.binary_view()),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([150, N], pa.int32()), pa.array(["a", "b"])),
    "union": pa.UnionArray.from_dense(
        pa.array([0] * N, pa.int8()), pa.array(SOME, pa.int32()), [pa.array(SOME), pa.array(["t"])]
    ),
    "intervals": pa.array([pa.MonthDayNano([1, k % 7, 2]) for k in SOME]),
    "structs": pa.array([{"a": k} for k in SOME]),
    "lists": pa.array([[k] * 2 for k in SOME]),
    "lists of one length": pa.array([[k, k] for k in SOME], pa.list_(pa.int64(), 2)),
    "maps": pa.array([[("k", k)] for k in SOME], pa.map_(pa.string(), pa.int64())),
    "half precision": pa.array(np.arange(N, dtype=np.float16)),
    "nothing": pa.nulls(N),
}
OF_POLARS = {
    "structs": pl.Series([{"a": k} for k in SOME]),
    "arrays": pl.Series([[k, k] for k in SOME], dtype=pl.Array(pl.Int64, 2)),
    "lists": pl.Series([[k] for k in SOME]),
    "objects": pl.Series([SOME] * N, dtype=pl.Object),
    "bytes": pl.Series([b"\xff"] * N),
}
if hasattr(pl, "Int128"):
    OF_POLARS["wide integers"] = pl.Series(SOME, dtype=pl.Int128)
TABLES = {
    **{f"pyarrow, {name}": pa.table({"x": X, "other": column}) for name, column in OF_ARROW.items()},
    **{f"polars, {name}": pl.DataFrame({"x": X, "other": column}) for name, column in OF_POLARS.items()},
    "pandas, lists": pd.DataFrame({"x": X, "other": [[k] for k in SOME]}),
    "a dict of series": {"x": pd.Series(X), "other": pl.Series(SOME)},
    "a dict of arrays": {"x": X, "other": np.zeros((N, 2))},
}


@pytest.mark.parametrize("name", TABLES)
def test_a_column_of_any_type_may_stand_beside_a_masked_one(name):
    frame = TABLES[name]

    release = cm.mask_table(frame, SCHEMES, rng=1)

    before, after = (some_rows(table, ["other"], np.arange(N)) for table in (frame, release.data))
    assert all(np.array_equal(before[key], after[key]) for key in before)
    own, clear = digests(release.data), digests(frame)
    assert own["other"] == clear["other"]
    assert own["x"] != clear["x"]


@pytest.mark.parametrize("name", ["runs", "text in views", "union", "structs"])
def test_rows_are_those_asked_for(name):
    rows = np.array([0, 149, 150, N - 1])

    (found,) = some_rows(pa.table({"other": OF_ARROW[name]}), ["other"], rows).values()

    assert found.tolist() == [OF_ARROW[name][int(row)].as_py() for row in rows]


@pytest.mark.parametrize("name", ["runs", "text in views"])
def test_an_audit_looks_into_columns_that_arrow_does_not_take_apart(name):
    """Bands of the values by label: they give the coins away."""
    x = np.random.default_rng(6).normal(1_000.0, 200.0, 2_000).round(2)
    bands = pa.array([f"band {int(value // 20)}" for value in x])
    bands = bands.cast(pa.string_view()) if "views" in name else pa.compute.run_end_encode(bands)

    audit = cm.audit(pa.table({"x": x, "band": bands}), {"x": cm.ConditionalMasking(0.6, 20.0, decimals=2)})

    assert audit.visible


@pytest.mark.parametrize("change", [lambda lists: [*lists[:-1], [-1]], lambda lists: lists[::-1]])
def test_a_change_of_values_within_others_is_noticed(change):
    lists = [[k] for k in SOME]

    assert digests(pl.DataFrame({"l": lists})) != digests(pl.DataFrame({"l": change(lists)}))


def test_whole_numbers_too_long_for_a_text_are_refused():
    with pytest.raises(TypeError, match=r"^note must be a column of labels, .*, got a ndarray$"):
        digests({"note": np.array([10**5000] * 9, dtype=object)})
