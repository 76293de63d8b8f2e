"""Peak memory of masking a large Parquet file: ``python benchmarks/versus/files_memory.py``, Linux.

Anonymous memory is what the process holds for itself; the memory-mapped column is file-backed and not in it.
"""

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
SCHEME = cm.ConditionalMasking(0.6, 500.0)


def anonymous():
    """Megabytes held by this process and backed by no file."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return next(int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Anonymous:"))


def write(path, rows, part=1_000_000):
    rng = np.random.default_rng(1)
    schema = pa.schema([("id", pa.int64()), ("income", pa.float64()), ("age", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, part):
            n = min(part, rows - start)
            columns = [np.arange(start, start + n), rng.lognormal(6, 0.7, n), rng.integers(0, 100, n)]
            writer.write_table(pa.table(columns, schema=schema))


def measure(args, rows=N):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "a.parquet"), Path(folder, "b.parquet")
        write(source, rows)
        SCHEME.mask(np.random.default_rng(1).random(1000), accept_visible_coins=True)  # compile
        pa.default_memory_pool().release_unused()
        baseline = peak = anonymous()
        job = threading.Thread(target=cm.mask_file, args=(source, target, {"income": SCHEME}))
        started = time.perf_counter()
        job.start()
        while job.is_alive():
            peak = max(peak, anonymous())
            time.sleep(0.01)
        seconds = time.perf_counter() - started
        assert pq.read_metadata(target).num_rows == rows
    return [
        Line(f"mask_file of {rows:,} rows", seconds, unit="s"),
        Line("memory above that before", peak - baseline, unit="MB"),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
