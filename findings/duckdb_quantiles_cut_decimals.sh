#!/usr/bin/env bash
# DuckDB 2.0.1: median and quantile_cont of a DECIMAL come back in the column's own type, and what lies
# between two values is cut off, not rounded; avg of the same column is a DOUBLE. The quartile of 1.50
# and 2.25 is 1.6875 and comes back as 1.68. A share of a cent is lost in each quantile of amounts.
#
# Output seen:
#   DECIMAL(18,2) 1.68
#   DECIMAL(18,2) 1.87
#   DOUBLE 1.875
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q duckdb==2.0.1
"$folder/venv/bin/python" - <<'PYTHON'
import duckdb

values = "(select 1.50::decimal(18,2) as x union all select 2.25)"
seen = []
for statistic in ("quantile_cont(x, .25)", "median(x)", "avg(x)"):
    [row] = duckdb.sql(f"select typeof({statistic}), {statistic}::varchar from {values}").fetchall()
    print(*row)
    seen.append(row)
assert seen == [("DECIMAL(18,2)", "1.68"), ("DECIMAL(18,2)", "1.87"), ("DOUBLE", "1.875")]
PYTHON
