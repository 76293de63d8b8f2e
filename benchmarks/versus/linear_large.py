"""Linear statistics of large Parquet files: ``python benchmarks/versus/linear_large.py``, Linux, by hand.

Means of groups by a column of text, a total with weights, a regression on three columns and the interval of a
correlation, from 1e7 and from 1e8 rows: the most anonymous memory that the process has (as tables.py
counts it) and seconds a row, reading included. Files are written with the metadata of a release.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from tables import Line

import condmask as cm
from condmask.estimates.origin import NOWHERE
from condmask.files.about import Published
from condmask.files.tables import SUMS

ROWS = 100_000_000
GROUPS = 50
SCHEMES = {
    "additive noise": cm.ConditionalMasking(0.6, 500.0),
    "reverse mapping": cm.ConditionalMasking(0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=5),
}
CALLS = {
    "means of 50 groups": lambda e: e.group_means("region").estimate,
    "a total with weights": lambda e: e.total("weight").estimate,
    "regression on three columns": lambda e: e.regress(["age", "size", "bonus"]).estimate,
    "correlation and its interval": lambda e: e.correlation_interval("bonus").estimate,
}


def write(path, scheme, rows, part=1_000_000):
    """Incomes as the scheme masks them and columns in clear, the same in every part."""
    sizes = [min(part, rows - start) for start in range(0, rows, part)]
    published = Published(tuple(sizes), {"income": scheme}, {"income": NOWHERE}).to_dict()
    numbers = [(name, pa.float64()) for name in ("income", "weight", "age", "size", "bonus")]
    schema = pa.schema([*numbers, ("region", pa.string())], metadata={"condmask": json.dumps(published)})
    rng, n, regions = (
        np.random.default_rng(1),
        min(part, rows),
        np.array([f"region {k}" for k in range(GROUPS)]),
    )
    age, size = rng.integers(18, 80, n).astype(float), rng.integers(1, 9, n).astype(float)
    bonus = rng.lognormal(0.0, 0.5, n).round(2)
    z = scheme.mask(rng.lognormal(6.0, 0.7, n) * (1.0 + 0.2 * bonus) + age, rng=1, accept_visible_coins=True)
    columns = [z, rng.integers(10, 100, n) / 10.0, age, size, bonus, regions[rng.integers(0, GROUPS, n)]]
    table = pa.table([pa.array(column) for column in columns], schema=schema)
    with pq.ParquetWriter(path, schema) as writer:
        for size in sizes:
            writer.write_table(table.slice(0, size))
        sums = [float(z[:size].sum()) for size in sizes]
        writer.add_key_value_metadata({SUMS: json.dumps({"income": sums})})


def taken_by(path, what):
    """Seconds, and the most megabytes of anonymous memory, from opening the release on."""
    found = []
    taken = tables.watched(lambda: found.append(CALLS[what](cm.read_release(path, "income"))))
    assert np.isfinite(found[0]).all()
    return taken


def alone(what, rows):
    """What each statistic takes under one scheme, in a process of its own."""
    warnings.simplefilter("ignore", cm.EstimateWarning)
    with tempfile.TemporaryDirectory() as folder:
        few, path = Path(folder, "few.parquet"), Path(folder, "a.parquet")
        for target, size in ((few, 100_000), (path, rows)):
            subprocess.run([sys.executable, __file__, "--written", target, what, str(size)], check=True)
        for call in CALLS:
            taken_by(few, call)  # kernels are compiled
        return [taken_by(path, call) for call in CALLS]


def measure(args, rows=ROWS):
    lines = []
    for what in SCHEMES:
        few, many = (
            json.loads(
                subprocess.run(
                    [sys.executable, "-W", "ignore", __file__, "--measured", what, str(size)],
                    check=True, stdout=subprocess.PIPE, text=True,
                ).stdout
            )
            for size in (rows // 10, rows)
        )  # fmt: skip
        for call, (before, _), (taken, peak) in zip(CALLS, few, many, strict=True):
            lines += [
                Line(f"{call}, {what}, {rows:,} rows", taken, unit="s"),
                Line(f"{call}, {what}: memory of the process", peak, most=1000.0, unit="MB"),
                Line(
                    f"{call}, {what}: time a row, relative to that of {rows // 10:,}",
                    taken / before / 10.0,
                    most=1.3,
                ),
            ]
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--written"]:
        write(Path(sys.argv[2]), SCHEMES[sys.argv[3]], int(sys.argv[4]))
    elif sys.argv[1:2] == ["--measured"]:
        print(json.dumps(alone(sys.argv[2], int(sys.argv[3]))))
    else:
        tables.main(__file__, measure, columns=("ordinary",))
