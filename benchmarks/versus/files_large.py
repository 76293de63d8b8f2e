"""Masking a file larger than memory: ``python benchmarks/versus/files_large.py``, Linux, some 20 GB of disk.

100,000,000 rows of a Parquet file against 10,000,000, four columns, the ledger included; each job in a
process of its own. Anonymous memory is counted as by files_memory.py.
"""

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import tables
from files_memory import SCHEMES, anonymous, write
from tables import Line

import condmask as cm

N, TIMES = 10_000_000, 10
MOST = 2_000.0  # megabytes
RATIO = 1.3  # of the time that a row takes


def alone(what, source):
    """Masking a file in this process: seconds, those of the processor, and megabytes at most."""
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        target, peak = Path(folder, "b.parquet"), anonymous()
        options = {"workers": 2, "ledger": Path(folder, "ledger.jsonl")}
        job = threading.Thread(
            target=cm.mask_file, args=(source, target, {"income": SCHEMES[what]}), kwargs=options
        )
        started = time.perf_counter()
        job.start()
        while job.is_alive():
            peak = max(peak, anonymous())
            time.sleep(0.01)
        taken, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
        assert pq.read_metadata(target).num_rows == pq.read_metadata(source).num_rows
        return taken, used.ru_utime + used.ru_stime, peak


def measure(args, rows=N):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        sources = {n: Path(folder, f"{n}.parquet") for n in (rows, TIMES * rows)}
        for n, source in sources.items():
            subprocess.run([sys.executable, __file__, "--written", source, str(n)], check=True)
        for what in SCHEMES:
            taken = {}
            for n, source in sources.items():
                run = [sys.executable, "-W", "ignore", __file__, "--job", what, source]
                made = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
                *taken[n], peak = json.loads(made)
                lines += [
                    Line(f"{what}, {n:,} rows", taken[n][0], unit="s"),
                    Line(f"{what}, {n:,} rows: memory of the process", peak, most=MOST, unit="MB"),
                ]
            (clock, used), (clock_of_many, used_of_many) = taken.values()
            lines += [
                Line(
                    f"{what}: time a row, relative to fewer rows, by the clock",
                    clock_of_many / (TIMES * clock),
                    most=RATIO,
                ),
                Line(
                    f"{what}: time a row, relative to fewer rows, by the processor",
                    used_of_many / (TIMES * used),
                    most=RATIO,
                ),
            ]
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--written"]:
        write(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["--job"]:
        print(json.dumps(alone(sys.argv[2], Path(sys.argv[3]))))
    else:
        tables.main(__file__, measure, columns=("ordinary",))
