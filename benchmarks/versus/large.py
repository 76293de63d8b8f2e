"""Statistics of large Parquet files: ``python benchmarks/versus/large.py``, Linux, by hand.

Mean, s.d. and deciles with intervals, means of groups by a column of text, and a regression, from
1e7 and from 1e8 rows of a release: seconds, and the most anonymous memory that the process has (as
tables.py counts it), reading included.
"""

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from tables import Line
from unaudited import UNAUDITED

import condmask as cm

ROWS = 100_000_000
PART = 1_000_000
FEW = 10_000
GROUPS = 50
SCHEMES = {
    "noise on a grid": cm.ConditionalMasking(0.6, 500.0),
    "reverse mapping": cm.ReverseMapping(0.6, 0.5, scale="log", aggregate_ends=5),
}
CALLS = {
    "mean, s.d. and deciles": lambda e: e.summary(),
    "means of 50 groups": lambda e: e.group_means("region"),
    "regression on two columns": lambda e: e.regress(["age", "bonus"]),
}


def release(folder, what, rows):
    """Write a masked file of so many rows."""
    rng = np.random.default_rng(1)
    source = Path(folder, "source.parquet")
    n = min(rows, PART)
    region = pa.array([f"region {k}" for k in range(GROUPS)]).take(
        pa.array(rng.integers(0, GROUPS, n))
    )
    clear = {
        "age": rng.integers(18, 80, n),
        "bonus": rng.lognormal(0.0, 0.5, n).round(2),
        "region": region,
    }
    columns = pa.table({"income": rng.lognormal(6.0, 0.7, n), **clear})
    with pq.ParquetWriter(source, columns.schema) as file:
        for _ in range(rows // n):
            file.write_table(columns)
    schemes = {"income": SCHEMES[what]}
    cm.mask_file(source, Path(folder, f"{rows}.parquet"), schemes, log=False, **UNAUDITED)


def statistics(folder, what, rows):
    """Seconds and megabytes of each statistic."""
    few, many = (Path(folder, f"{size}.parquet") for size in (FEW, rows))
    for call in CALLS.values():
        call(cm.read_release(few, "income"))  # kernels are compiled
    calls = [lambda c=call: c(cm.read_release(many, "income")) for call in CALLS.values()]
    return [tables.watched(call) for call in calls]


def alone(given):
    """One job in a process of its own."""
    warnings.simplefilter("ignore")
    job, folder, what, rows = given.split("|")
    return json.dumps({"release": release, "statistics": statistics}[job](folder, what, int(rows)))


def measure(args, rows=ROWS):
    lines = []
    for what in SCHEMES:
        with tempfile.TemporaryDirectory() as folder:
            sizes = rows // 10, rows
            for size in (FEW, *sizes):
                tables.run([__file__, "--alone", f"release|{folder}|{what}|{size}"], {})
            found = (
                tables.run([__file__, "--alone", f"statistics|{folder}|{what}|{n}"], {})
                for n in sizes
            )
            few, many = map(json.loads, found)
        for call, (before, _), (taken, peak) in zip(CALLS, few, many, strict=True):
            ratio = taken / before / 10.0
            lines += [
                Line(f"{call}, {what}, {rows:,} rows", taken, unit="s"),
                Line(f"{call}, {what}: memory of the process", peak, most=1000.0, unit="MB"),
                Line(
                    f"{call}, {what}: time a row, relative to that of {rows // 10:,}",
                    ratio,
                    most=1.3,
                ),
            ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, alone=alone, columns=("ordinary",))
