#!/usr/bin/env bash
# Dask 2026.8.0: the variance of groups is taken from sums of squares, that of a whole column about its
# mean. For values about 1e9 with variance 1 (identifiers of time in seconds, amounts in cents), groups
# get a variance of several hundreds or of 0, and nothing warns.
#
# Output seen (truth: 1.045 and 1.052, in all 1.048):
#   groups [262.6693386773547, 0.0]
#   column 1.0482983125705154
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'dask[dataframe]==2026.8.0' pandas==3.1.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import dask.dataframe as dd
import numpy as np
import pandas as pd

noise = np.random.default_rng(1)
noise.normal(8.0, 1.0, 50_000)
table = pd.DataFrame({"group": np.repeat([0, 1], 500), "x": 1e9 + noise.normal(size=1000)})
parts = dd.from_pandas(table, npartitions=4)
groups = parts.groupby("group").x.var().compute()
column = parts.x.var().compute()
print("groups", groups.tolist())
print("column", column)
truth = table.groupby("group").x.var()
assert (abs(groups - truth) > 0.5).all()
assert abs(column - table.x.var()) < 1e-6
PYTHON
