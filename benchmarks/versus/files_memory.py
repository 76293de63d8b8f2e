"""Peak memory of masking a large Parquet file: ``python benchmarks/versus/files_memory.py``, Linux.

Anonymous memory is what the process holds for itself, interpreter and libraries included.
"""

import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from tables import Line

import condmask as cm

N = 10_000_000
SCHEMES = {
    "one pool": cm.ConditionalMasking(0.6, 500.0),
    "strata of two columns": cm.ConditionalMasking(0.6, 500.0, strata=["age", "region"]),
    "reverse mapping": cm.ConditionalMasking(0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=5),
    "reverse mapping within strata": cm.ConditionalMasking(
        0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=5, strata=["age", "region"]
    ),
}


def anonymous():
    """Megabytes held by this process and backed by no file."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return next(int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Anonymous:"))


def write(path, rows, part=1_000_000):
    rng = np.random.default_rng(1)
    fields = [("id", pa.int64()), ("income", pa.float64()), ("age", pa.int64()), ("region", pa.string())]
    schema, regions = pa.schema(fields), np.array(["north", "south", "east"])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, part):
            n = min(part, rows - start)
            columns = [np.arange(start, start + n), rng.lognormal(6, 0.7, n), rng.integers(0, 100, n)]
            region = pa.array(regions[rng.integers(0, 3, n)])
            writer.write_table(pa.table([*columns, region], schema=schema))


def peak_of(source, target, scheme):
    """What masking takes: seconds, and the most megabytes of anonymous memory that the process has."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    peak = anonymous()
    job = threading.Thread(
        target=cm.mask_file, args=(source, target, {"income": scheme}), kwargs={"workers": 2, "ledger": False}
    )
    started = time.perf_counter()
    job.start()
    while job.is_alive():
        peak = max(peak, anonymous())
        time.sleep(0.01)
    return time.perf_counter() - started, peak


def alone(what, rows=N):
    """One way of masking, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "a.parquet"), Path(folder, "b.parquet")
        subprocess.run([sys.executable, __file__, "--written", source, str(rows)], check=True)
        found = peak_of(source, target, SCHEMES[what])
        assert pq.read_metadata(target).num_rows == rows
    return found


def measure(args, rows=N):
    lines = []
    for what in SCHEMES:
        run = [sys.executable, "-W", "ignore", __file__, "--peak", what, str(rows)]
        taken, peak = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout)
        lines += [
            Line(f"{what}, {rows:,} rows", taken, unit="s"),
            Line(f"{what}: memory of the process", peak, most=400.0, unit="MB"),
        ]
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--written"]:
        write(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["--peak"]:
        print(json.dumps(alone(sys.argv[2], int(sys.argv[3]))))
    else:
        tables.main(__file__, measure, columns=("ordinary",))
