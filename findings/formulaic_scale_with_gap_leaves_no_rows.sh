#!/usr/bin/env bash
# formulaic 1.2.2: scale(x) takes the mean with the gaps, which is NaN; all rows become NaN and are
# dropped, although the rule for gaps ("drop") speaks of rows that have one. `x` alone keeps three of four.
#
# Output seen:
#   x 3
#   scale(x) 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q formulaic==1.2.2 pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import formulaic
import pandas as pd

table = pd.DataFrame({"x": [1.0, 2.0, None, 4.0]})
seen = {formula: len(formulaic.model_matrix(formula, table)) for formula in ("x", "scale(x)")}
for formula, rows in seen.items():
    print(formula, rows)
assert seen == {"x": 3, "scale(x)": 0}
PYTHON
