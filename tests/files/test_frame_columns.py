"""Decimals in data frames: masked and written with the places and digits that they have in files.

Oracle: the same column masked in a file.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files.frame_columns import column_of_frame

pytestmark = pytest.mark.usefixtures("unaudited")

N = 400
UNITS = np.random.default_rng(5).integers(10**9, 10**10, N)  # cents
AMOUNTS = [None if k % 9 == 0 else Decimal(int(unit)).scaleb(-2) for k, unit in enumerate(UNITS)]
TABLE = pa.table({"x": pa.array(AMOUNTS, pa.decimal128(18, 2)), "other": range(N)})
FRAMES = {
    "arrow": lambda: TABLE,
    "polars": lambda: pl.from_arrow(TABLE),
    "pandas, objects": lambda: TABLE.to_pandas(),
    "pandas, arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype).set_index(pd.RangeIndex(7, N + 7)),
}
SCHEMES = {
    "cents": cm.ConditionalMasking(0.6, 3e5, decimals=2),
    "no decimal grid": cm.ConditionalMasking(0.6, 3e5),
    "finer": cm.ConditionalMasking(0.6, 3e5, decimals=4),
    "reverse mapping": cm.ConditionalMasking(0.6, 3e5, reverse_mapping=True),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", FRAMES)
def test_decimals_of_a_frame_are_released_as_those_of_a_file(tmp_path, kind, scheme):
    frame, schemes = FRAMES[kind](), {"x": SCHEMES[scheme]}
    pq.write_table(TABLE, tmp_path / "a.parquet")

    release = cm.mask_table(frame, schemes, rng=1, nan_policy="omit")
    release.write(tmp_path / "frame.parquet")
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "file.parquet", schemes, rng=1, nan_policy="omit")

    of_frame, of_file = (pq.read_table(tmp_path / f"{name}.parquet")["x"] for name in ("frame", "file"))
    assert of_frame.type == of_file.type
    assert of_frame.to_pylist() == of_file.to_pylist()
    assert type(release.data) is type(frame)
    assert release["x"].mean() == cm.read_release(tmp_path / "frame.parquet", "x").mean()
    if kind.startswith("pandas"):
        assert release.data.index.equals(frame.index)


@pytest.mark.parametrize("kind", ["polars", "pandas, objects"])
def test_a_column_of_decimals_needs_no_name(kind):
    frame, names = FRAMES[kind](), ["", "other"]
    frame.columns = names
    release = cm.mask_table(frame, {"": SCHEMES["cents"]}, rng=1, nan_policy="omit")
    arrow = TABLE.rename_columns(names)
    expected = cm.mask_table(arrow, {"": SCHEMES["cents"]}, rng=1, nan_policy="omit").data

    assert list(release.data.columns) == names
    assert release.data[""].to_list() == expected[""].to_pylist()


def test_a_missing_code_among_decimals_becomes_a_null():
    codes = pa.table({"x": pa.array([Decimal("-9.00"), *AMOUNTS[1:9] * 5], pa.decimal128(18, 2))})
    scheme = cm.ConditionalMasking(0.6, 3e5, decimals=2, missing=-9, missing_as="null")

    masked = cm.mask_table(codes, {"x": scheme}, rng=1, nan_policy="omit").data["x"]

    assert [k for k, value in enumerate(masked.to_pylist()) if value is None] == [0]


def test_a_column_of_decimals_is_the_floats_next_to_it():
    column = column_of_frame(pl.from_arrow(TABLE), "x")

    expected = [np.nan if value is None else float(value) for value in AMOUNTS]
    assert np.array_equal(column.array, expected, equal_nan=True)
    assert column.back(column.array).to_list() == AMOUNTS
