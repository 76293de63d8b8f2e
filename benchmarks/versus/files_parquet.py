"""Masking a Parquet file against pyarrow, which reads and rewrites it.

``python benchmarks/versus/files_parquet.py``: five columns, written by pyarrow as it does by default. A run
is a process of its own, as a user starts one: imports and the loading of kernels are in it, but not their
compilation. "Again" is a second call in one process. pyarrow reads with all cores and writes with one.
"""

import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from tables import Line

import condmask as cm

N = 10_000_000
SCHEME = cm.ConditionalMasking(0.6, 500.0)
PLAIN = "import sys, pyarrow.parquet as pq; pq.write_table(pq.read_table(sys.argv[1]), sys.argv[2])"
MASKED = (
    "import sys, condmask as cm; scheme = cm.ConditionalMasking(0.6, 500.0); "
    "cm.mask_file(*sys.argv[1:3], {'income': scheme}, ledger=False, overwrite=True, workers=int(sys.argv[3]))"
)


def people(n):
    """Two continuous columns, two of few values, and one that counts."""
    random = np.random.default_rng(1)
    return pa.table({
        "id": np.arange(n),
        "income": random.lognormal(6.0, 0.7, n),
        "age": random.integers(18, 90, n),
        "region": pa.array(np.array(["north", "south", "east"])[random.integers(0, 3, n)]),
        "score": random.normal(size=n),
    })  # fmt: skip


def few_values(n):
    """Little to encode: what takes pyarrow the least time."""
    random = np.random.default_rng(1)
    columns = {f"c{k}": random.integers(0, 100, n) for k in range(4)}
    return pa.table({"income": random.lognormal(6.0, 0.7, n), **columns})


def check(source, target):
    """Other columns as they were, and masked values on the grid."""
    before, after = pq.read_table(source), pq.read_table(target)
    assert after.drop_columns(["income"]).equals(before.drop_columns(["income"]))
    steps = after["income"].to_numpy() / SCHEME.step
    assert (steps == np.rint(steps)).all()


def seconds(code, *arguments):
    """What a process takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)], check=True)
    return time.perf_counter() - start


def measure(args, n=N):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        source, plain, target = (Path(folder, f"{name}.parquet") for name in ("in", "plain", "out"))
        for what, table in (("five columns", people), ("few values", few_values)):
            pq.write_table(table(n), source)

            def again(workers):
                def call():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", cm.ReleaseWarning)
                        cm.mask_file(
                            source, target, {"income": SCHEME}, ledger=False, overwrite=True, workers=workers
                        )

                return call

            runs = {"pyarrow": (PLAIN, source, plain)}
            runs |= {workers: (MASKED, source, target, workers) for workers in (1, 2)}
            taken = {name: [] for name in runs}
            for _ in range(1 + args.rounds // 3):
                for name, run in runs.items():
                    taken[name].append(seconds(*run))
            check(source, target)
            run = {name: statistics.median(times[1:] or times) for name, times in taken.items()}
            warm = tables.medians(
                {"pyarrow": lambda: pq.write_table(pq.read_table(source), plain), 1: again(1), 2: again(2)},
                1 + args.rounds // 3,
            )
            size = f"{what}, {n:,} rows"
            lines.append(Line(f"pyarrow, read and written, {size}", run["pyarrow"], unit="s"))
            for workers, said in ((1, "one worker"), (2, "two workers")):
                least = 0.5 if workers == 2 else None
                speed = run["pyarrow"] / run[workers]
                lines.append(Line(f"masked, {said}, {size}: times as fast", speed, least=least))
            lines.append(Line(f"again, two workers, {size}: times as fast", warm["pyarrow"] / warm[2]))
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
