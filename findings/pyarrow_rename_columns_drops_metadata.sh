#!/usr/bin/env bash
# pyarrow 26.0.1: `Table.rename_columns` returns a table without the metadata of the schema; `select`,
# `filter` and `sort_by` keep it. Notes of a release are lost where a column only gets another name.
#
# Output seen:
#   select {b'note': b'masked'}
#   filter {b'note': b'masked'}
#   sort_by {b'note': b'masked'}
#   rename_columns None
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyarrow==26.0.1
"$folder/venv/bin/python" - <<'PYTHON'
import pyarrow as pa
import pyarrow.compute as pc

table = pa.table({"x": [2.0, 1.0]}).replace_schema_metadata({"note": "masked"})
seen = {
    "select": table.select(["x"]).schema.metadata,
    "filter": table.filter(pc.field("x") > 1.0).schema.metadata,
    "sort_by": table.sort_by("x").schema.metadata,
    "rename_columns": table.rename_columns(["y"]).schema.metadata,
}
for name, metadata in seen.items():
    print(name, metadata)
kept = {b"note": b"masked"}
assert seen == {"select": kept, "filter": kept, "sort_by": kept, "rename_columns": None}
PYTHON
