#!/usr/bin/env bash
# pyreadstat 1.3.7: with `user_missing=True`, an integer of a .dta file that is missing (.) comes back as a
# number, 0 or another, where a special missing value (.a) stands before it in the column. pandas and
# `user_missing=False` read it as missing.
#
# Output seen (the third number varies):
#   pyreadstat ['a', 5, 0, 7]
#   pandas [nan, 5.0, nan, 7.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyreadstat==1.3.7 pandas==3.1.1
"$folder/venv/bin/python" - "$folder/a.dta" <<'PYTHON'
import sys

import pandas as pd
import pyreadstat

path = sys.argv[1]
table = pd.DataFrame({"x": pd.Series(["a", 5, None, 7], dtype=object)})
pyreadstat.write_dta(table, path, missing_user_values={"x": ["a"]})
read = pyreadstat.read_dta(path, user_missing=True)[0].x.tolist()
by_pandas = pd.read_stata(path).x
print("pyreadstat", read)
print("pandas", by_pandas.tolist())
assert read[0] == "a"
assert isinstance(read[2], int)
assert by_pandas.isna().tolist() == [True, False, True, False]
PYTHON
