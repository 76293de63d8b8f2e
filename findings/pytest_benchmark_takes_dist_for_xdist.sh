#!/usr/bin/env bash
# pytest-benchmark 5.3.1 with pytest-xdist 3.8.0: `--dist=worksteal` in addopts, without `-n`, counts as
# xdist at work, although all tests run in one process. Benchmarks are then disabled with a warning; where
# warnings are errors, the session ends with a traceback after the tests have passed.
#
# Output seen: exit code other than 0 with --dist=worksteal, 0 with --dist=no.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pytest==9.0.3 pytest-benchmark==5.3.1 pytest-xdist==3.8.0
cat > "$folder/test_sum.py" <<'PYTHON'
def test_sum(benchmark):
    assert benchmark(sum, [1, 2]) == 3
PYTHON
cd "$folder"
run() {
  "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider --benchmark-enable -W error "--dist=$1" test_sum.py
}
run no
if run worksteal; then
  echo "changed: benchmarks run with --dist=worksteal"
  exit 1
fi
echo "benchmarks end with an error under --dist=worksteal"
