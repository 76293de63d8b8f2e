#!/usr/bin/env bash
# Dask 2026.8.0: `to_parquet` names its parts part.0, part.1, ..., part.10 without leading zeros (to_csv
# pads them). Dask reads them in the order of their numbers; pyarrow, pandas, polars and DuckDB in that of
# their names, so that from eleven partitions on the rows of the same folder come in another order.
#
# Output seen (first rows of parts 0, 1, 10, 2 ... in all but Dask):
#   dask [0, 1, 2, 3, 4, 5]
#   pyarrow [0, 1, 10, 11, 2, 3]
#   pandas [0, 1, 10, 11, 2, 3]
#   polars [0, 1, 10, 11, 2, 3]
#   duckdb [0, 1, 10, 11, 2, 3]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'dask[dataframe]==2026.8.0' pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
"$folder/venv/bin/python" - "$folder/parts" <<'PYTHON'
import sys

import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds

folder = sys.argv[1]
dd.from_pandas(pd.DataFrame({"row": range(12)}), npartitions=12).to_parquet(folder)
seen = {
    "dask": dd.read_parquet(folder).compute().row.tolist(),
    "pyarrow": ds.dataset(folder, format="parquet").to_table().column("row").to_pylist(),
    "pandas": pd.read_parquet(folder).row.tolist(),
    "polars": pl.read_parquet(f"{folder}/*.parquet")["row"].to_list(),
    "duckdb": [row for (row,) in duckdb.sql(f"select row from '{folder}/*.parquet'").fetchall()],
}
for reader, rows in seen.items():
    print(reader, rows[:6])
by_name = [0, 1, 10, 11, *range(2, 10)]
assert seen.pop("dask") == [*range(12)]
assert all(rows == by_name for rows in seen.values())
PYTHON
