#!/usr/bin/env bash
# pyarrow 26.0.1: `compute.mean` of decimals comes back with the precision and scale of the column,
# while `quantile`, `variance` and `stddev` of it are doubles. The mean of 1.5, 2.5 and 4.0 is 2.7,
# not 2.67: compared with a mean from another source it seems off by a hundredth.
#
# Output seen:
#   mean decimal128(10, 1) 2.7
#   quantile double 2.5
#   stddev double 1.0274023338281628
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pyarrow==26.0.1
"$folder/venv/bin/python" - <<'PYTHON'
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

x = pa.array([Decimal("1.5"), Decimal("2.5"), Decimal("4.0")], pa.decimal128(10, 1))
mean = pc.mean(x)
quantile = pc.quantile(x, 0.5)
deviation = pc.stddev(x)
print("mean", mean.type, mean)
print("quantile", quantile.type, quantile[0])
print("stddev", deviation.type, deviation)
assert mean.type == x.type
assert mean.as_py() == Decimal("2.7")
assert quantile.type == deviation.type == pa.float64()
PYTHON
