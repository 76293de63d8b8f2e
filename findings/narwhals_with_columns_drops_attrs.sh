#!/usr/bin/env bash
# narwhals 2.29.0 on pandas 3.1.1: `with_columns` returns a frame without `attrs`; `select` and `filter` keep them.
# Notes on a frame (units, or that a column was masked) are lost where a column is added or replaced by narwhals.
#
# Output seen:
#   select {'unit': 'euro'}
#   filter {'unit': 'euro'}
#   with_columns {}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q narwhals==2.29.0 pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import narwhals as nw
import pandas as pd

frame = pd.DataFrame({"x": [1.0, 2.0]})
frame.attrs["unit"] = "euro"
wrapped = nw.from_native(frame)
seen = {
    "select": wrapped.select("x").to_native().attrs,
    "filter": wrapped.filter(nw.col("x") > 0.0).to_native().attrs,
    "with_columns": wrapped.with_columns(y=nw.lit(1)).to_native().attrs,
}
for name, attrs in seen.items():
    print(name, attrs)
assert seen == {"select": {"unit": "euro"}, "filter": {"unit": "euro"}, "with_columns": {}}
PYTHON
