#!/usr/bin/env bash
# pyreadstat 1.3.7: `write_sav` gives a text variable the width of its longest value, whatever
# `variable_format` says: A10 is read back as A2. Longer values no longer fit when files are added in SPSS.
#
# Output seen:
#   {'s': 'A2'}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyreadstat==1.3.7 pandas==3.1.1
"$folder/venv/bin/python" - "$folder/w.sav" <<'PYTHON'
import sys

import pandas as pd
import pyreadstat

path = sys.argv[1]
pyreadstat.write_sav(pd.DataFrame({"s": ["ab"]}), path, variable_format={"s": "A10"})
formats = pyreadstat.read_sav(path)[1].original_variable_types
print(formats)
assert formats == {"s": "A2"}
PYTHON
