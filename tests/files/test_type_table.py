"""The table of types in docs/files.rst says what comes out, from a frame and from a file alike.

Oracle: the release itself, of each cell, by `mask_table` and by `mask_file`."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

pytest.importorskip("narwhals")
if not hasattr(pl, "Int128"):
    pytest.skip("the table is that of today's versions", allow_module_level=True)
PAGE = Path(__file__).parents[2] / "docs" / "files.rst"
N = 60
WHOLE = np.random.default_rng(3).integers(20, 900, N).tolist()
GAPS = [None if k % 5 == 0 else value for k, value in enumerate(WHOLE)]
DAYS = [dt.date(2000, 1, 1) + dt.timedelta(days=value) for value in WHOLE]
TIMES = [dt.datetime(2000, 1, 1) + dt.timedelta(seconds=value) for value in WHOLE]
CENTS = [Decimal(value) for value in WHOLE]
MAPPED = cm.ReverseMapping(0.6, 100.0)
NOISY = cm.ConditionalMasking(0.6, 100.0, decimals=0)

CELLS = {
    "pandas int32": pd.Series(WHOLE, dtype="int32"),
    "pandas Int64 with gaps": pd.Series(GAPS, dtype="Int64"),
    "pandas int64[pyarrow] with gaps": pd.Series(GAPS, dtype="int64[pyarrow]"),
    "pandas float32": pd.Series(WHOLE, dtype="float32"),
    "pandas Float64 with gaps": pd.Series(GAPS, dtype="Float64"),
    "pandas object: integers, gaps": pd.Series(GAPS, dtype=object),
    "pandas object: Decimal": pd.Series([Decimal(value) for value in WHOLE], dtype=object),
    "pandas decimal128(12, 2)[pyarrow]": pd.Series(
        CENTS, dtype=pd.ArrowDtype(pa.decimal128(12, 2))
    ),
    "pandas datetime64[us]": pd.Series(TIMES).astype("datetime64[us]"),
    "pandas Sparse[float64]": pd.Series(WHOLE, dtype="Sparse[float64]"),
    "pandas category of integers": pd.Series(WHOLE).astype("category"),
    "pandas str": pd.Series([str(value) for value in WHOLE]),
    "polars Int16": pl.Series(WHOLE, dtype=pl.Int16),
    "polars Int64 with gaps": pl.Series(GAPS, dtype=pl.Int64),
    "polars Int128": pl.Series(WHOLE).cast(pl.Int128),
    "polars Decimal(12, 2)": pl.Series(CENTS, dtype=pl.Decimal(12, 2)),
    "polars Date": pl.Series(DAYS),
    "polars Datetime(us)": pl.Series(TIMES, dtype=pl.Datetime("us")),
    "polars Duration(us)": pl.Series([time - TIMES[0] for time in TIMES]),
    "polars Time": pl.Series([time.time() for time in TIMES]),
    "polars Enum": pl.Series(["a", "b"] * (N // 2), dtype=pl.Enum(["a", "b"])),
    "Arrow int8": pa.array([value % 100 for value in WHOLE], pa.int8()),
    "Arrow int64 beyond 2^53": pa.array([2**60 + value for value in WHOLE]),
    "Arrow uint16 with gaps": pa.array(GAPS, pa.uint16()),
    "Arrow decimal32(7, 2)": pa.array(CENTS, pa.decimal32(7, 2)),
    "Arrow decimal128(38, 18)": pa.array(
        [Decimal(10**18 + value).scaleb(0) for value in WHOLE], pa.decimal128(38, 18)
    ),
    "Arrow decimal256(60, 2)": pa.array(CENTS, pa.decimal256(60, 2)),
    "Arrow date32": pa.array(DAYS),
    "Arrow timestamp[ns, UTC]": pa.array(TIMES, pa.timestamp("ns", "UTC")),
    "Arrow time32[s]": pa.array(WHOLE, pa.time32("s")),
    "Arrow dictionary of doubles": pa.array(WHOLE, pa.float64()).dictionary_encode(),
}


def frame_of(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"x": column})
    return (
        pl.DataFrame({"x": column}) if isinstance(column, pl.Series) else pa.table({"x": column})
    )


def type_in(frame):
    if isinstance(frame, pa.Table):
        return str(frame.schema.field("x").type)
    return str(frame["x"].dtype)


def released(frame, scheme):
    options = {"rng": 1, "nan_policy": "omit", "accept": "all"}
    try:
        return type_in(cm.mask_table(frame, {"x": scheme}, **options).data)
    except (TypeError, ValueError):
        return "refused"


def from_file(frame, scheme, folder):
    """The type in Parquet, to which the library of a frame wrote it; "-" if it cannot."""
    source = folder / "a.parquet"
    try:
        if isinstance(frame, pa.Table):
            pq.write_table(frame, source)
        elif isinstance(frame, pl.DataFrame):
            frame.write_parquet(source)
        else:
            frame.to_parquet(source)
        pq.read_table(source)
    except Exception:  # of the library
        return "-"
    options = {"rng": 1, "nan_policy": "omit", "accept": "all"}
    try:
        release = cm.mask_file(source, folder / "b.parquet", {"x": scheme}, force=True, **options)
    except (TypeError, ValueError):
        return "refused"
    return str(pq.read_schema(release.path).field("x").type)


def row(name, folder):
    frame = frame_of(CELLS[name])
    mapped = [released(frame, MAPPED), from_file(frame, MAPPED, folder)]
    noisy = [released(frame, NOISY), from_file(frame, NOISY, folder)]
    return [name, *mapped, *noisy]


def as_rst(cells):
    return "\n".join(f"   {'* ' if k == 0 else '  '}- {cell}" for k, cell in enumerate(cells))


@pytest.mark.parametrize("name", CELLS)
def test_each_row_of_the_table_is_as_the_page_says(name, tmp_path):
    cells = row(name, tmp_path)
    assert as_rst(cells) in PAGE.read_text()


if __name__ == "__main__":  # writes the rows of the table
    import tempfile

    for cell in CELLS:
        with tempfile.TemporaryDirectory() as place:
            print(as_rst(row(cell, Path(place))))
