#!/usr/bin/env bash
# pyreadstat 1.3.7: `write_dta` stores int8 and int16 as Stata's long, and float32 as double; pandas' to_stata
# keeps byte, int and float. A file of codes gets two to four times as long on the way through pyreadstat.
#
# Output seen:
#   pyreadstat {'small': 'int32', 'medium': 'int32', 'real': 'double'}
#   pandas {'small': 'int8', 'medium': 'int16', 'real': 'float32'}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyreadstat==1.3.7 pandas==3.1.1
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import sys

import pandas as pd
import pyreadstat

folder = sys.argv[1]
table = pd.DataFrame({"small": [1, 2], "medium": [1, 2], "real": [1.5, 2.5]})
table = table.astype({"small": "int8", "medium": "int16", "real": "float32"})
pyreadstat.write_dta(table, f"{folder}/a.dta")
table.to_stata(f"{folder}/b.dta", write_index=False)
by_pyreadstat = pyreadstat.read_dta(f"{folder}/a.dta")[1].readstat_variable_types
by_pandas = {name: str(kind) for name, kind in pd.read_stata(f"{folder}/b.dta").dtypes.items()}
print("pyreadstat", by_pyreadstat)
print("pandas", by_pandas)
assert by_pyreadstat == {"small": "int32", "medium": "int32", "real": "double"}
assert by_pandas == {"small": "int8", "medium": "int16", "real": "float32"}
PYTHON
