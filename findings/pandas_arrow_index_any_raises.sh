#!/usr/bin/env bash
# pandas 3.1.1 with pyarrow 26.0.1: comparing an Index of string[pyarrow] with a label gives an Arrow
# array on which `numpy.any` raises, and the message proposes a newer pyarrow, which is the newest. An
# Index of pandas' own str compares to a NumPy array, on which it works.
#
# Output seen:
#   str True
#   string[pyarrow] TypeError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import pandas as pd
import pyarrow as pa

seen = {}
for dtype in ("str", pd.ArrowDtype(pa.string())):
    index = pd.Index(["a", "b"], dtype=dtype)
    try:
        seen[str(dtype)] = bool(np.any(index == "a"))
    except TypeError as error:
        seen[str(dtype)] = type(error).__name__
for name, result in seen.items():
    print(name, result)
assert seen == {"str": True, "string[pyarrow]": "TypeError"}
PYTHON
