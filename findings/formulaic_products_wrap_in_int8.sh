#!/usr/bin/env bash
# formulaic 1.2.2: an interaction is multiplied in the type of the columns. Ages in int8, as pandas'
# downcast and most survey formats store them, wrap: 100 x 100 is 16, without a warning.
#
# Output seen:
#   [16, 20] int8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q formulaic==1.2.2 pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import formulaic
import pandas as pd

table = pd.DataFrame({"age": [100, 5], "hours": [100, 4]}, dtype="int8")
product = formulaic.model_matrix("age:hours", table)["age:hours"]
print(product.tolist(), product.dtype)
assert product.tolist() == [16, 20]
assert product.dtype == "int8"
PYTHON
