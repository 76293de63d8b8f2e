#!/usr/bin/env bash
# formulaic 1.2.2: with na_action="ignore" a missing number stays NaN, but a missing category gets zeros
# in all indicators, as the reference category has: the person without a region is counted in the first.
#
# Output seen:
#      Intercept  income  region[T.south]
#   0        1.0     1.0                0
#   1        1.0     2.0                1
#   2        1.0     NaN                0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q formulaic==1.2.2 pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import formulaic
import pandas as pd

table = pd.DataFrame({"income": [1.0, 2.0, None], "region": ["north", "south", None]})
matrix = formulaic.model_matrix("income + region", table, na_action="ignore")
print(matrix)
assert matrix["income"].isna().tolist() == [False, False, True]
assert matrix["region[T.south]"].tolist() == [0, 1, 0]
PYTHON
