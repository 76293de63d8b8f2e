#!/usr/bin/env bash
# narwhals 2.29.0 on pyarrow 26.0.1: decimal128 with a negative scale (multiples of 100) raises when the type
# is read, and decimal32, decimal64 and decimal256 are Unknown, so that such columns do not count as numbers.
#
# Output seen:
#   decimal128(5, 2) Decimal
#   decimal128(5, -2) ValueError
#   decimal32(5, 2) Unknown
#   decimal256(50, 2) Unknown
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q narwhals==2.29.0 pyarrow==26.0.1
"$folder/venv/bin/python" - <<'PYTHON'
from decimal import Decimal

import narwhals as nw
import pyarrow as pa

types = [pa.decimal128(5, 2), pa.decimal128(5, -2), pa.decimal32(5, 2), pa.decimal256(50, 2)]
seen = []
for kind in types:
    column = pa.chunked_array([pa.array([Decimal(300)], kind)])
    try:
        seen.append(type(nw.from_native(column, series_only=True).dtype).__name__)
    except ValueError as error:
        seen.append(type(error).__name__)
    print(kind, seen[-1])
assert seen[0] == "Decimal"
assert seen[1:] == ["ValueError", "Unknown", "Unknown"]
PYTHON
