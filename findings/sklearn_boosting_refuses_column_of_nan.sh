#!/usr/bin/env bash
# scikit-learn 1.9.1: HistGradientBoostingRegressor takes missing values, and constant columns, but raises
# where a column has no value at all, with a message about windows of arrays that names no column.
#
# Output seen:
#   some missing: fitted
#   constant: fitted
#   all missing: ValueError: window shape cannot be larger than input array shape
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q scikit-learn==1.9.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

X = np.random.default_rng(1).normal(size=(200, 2))
y = X[:, 0].copy()
columns = {
    "some missing": np.where(np.arange(200) % 3 == 0, np.nan, X[:, 1]),
    "constant": np.ones(200),
    "all missing": np.full(200, np.nan),
}
seen = {}
for name, column in columns.items():
    X[:, 1] = column
    try:
        HistGradientBoostingRegressor(max_iter=2).fit(X, y)
        seen[name] = "fitted"
    except ValueError as error:
        seen[name] = f"ValueError: {error}"
    print(f"{name}: {seen[name]}")
assert seen["some missing"] == seen["constant"] == "fitted"
assert seen["all missing"].startswith("ValueError: window shape")
PYTHON
