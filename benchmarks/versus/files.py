"""Masking files against pyarrow, which reads and rewrites them:
``python benchmarks/versus/files.py``, Linux.

Five columns, of which one is masked. Each job is a process of its own; its time is without imports
and the loading of kernels, which a first file brings; its memory is what the process holds besides
mapped files. ``--long`` adds 1e8 rows in one Parquet file and in 100, which take some 20 GB of
disk.
"""

import json
import statistics
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import tables
from tables import Line

import condmask as cm

N = 10_000_000
TIMES = 10
FILES = 100
SCHEME = cm.ConditionalMasking(0.6, 1000.0, decimals=2)


def people(n, seed):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(n),
            "income": random.lognormal(8.0, 0.5, n).round(2),
            "age": random.integers(18, 90, n),
            "region": pa.array(np.array(["north", "south", "east"])[random.integers(0, 3, n)]),
            "score": random.normal(size=n),
        }
    )


def write(source, n):
    """People in one file, or in many in a folder."""
    if source.suffix == ".csv":
        pa.csv.write_csv(people(n, 1), source)
    elif source.suffix == ".parquet":
        with pq.ParquetWriter(source, people(1, 1).schema) as writer:
            for seed in range(-(-n // 1_000_000)):
                writer.write_table(people(min(n, 1_000_000), seed))
    else:
        source.mkdir()
        for seed in range(FILES):
            pq.write_table(people(n // FILES, seed), source / f"{seed:02}.parquet")


def rewrite(source, target):
    if source.suffix == ".csv":
        pa.csv.write_csv(pa.csv.read_csv(source), target)
    else:
        pq.write_table(pq.read_table(source), target)


def mask(source, target):
    cm.mask_file(source, target, {"income": SCHEME}, workers=2, log=False)


def check(source, target):
    """Other columns are as they were, and masked values on the grid, in the first file."""
    if source.is_dir():
        source, target = (next(iter(sorted(one.glob("*.parquet")))) for one in (source, target))
    read = pa.csv.read_csv if source.suffix == ".csv" else pq.read_table
    before = read(source)
    after = read(target)
    assert after.drop_columns(["income"]).equals(before.drop_columns(["income"]))
    steps = after["income"].to_numpy() / SCHEME.step
    np.testing.assert_allclose(steps, np.rint(steps), rtol=0.0, atol=1e-6)


def alone(given):
    """Seconds and megabytes of one job."""
    warnings.simplefilter("ignore")
    job, source = given.split(" ", 1)
    with tempfile.TemporaryDirectory(dir=Path(source).parent) as folder:
        target = Path(folder, Path(source).name)
        pq.write_table(people(1_000, 1), Path(folder, "few.parquet"))
        {"mask": mask, "rewrite": rewrite}[job](
            Path(folder, "few.parquet"), Path(folder, "warm.parquet")
        )
        found = tables.watched(
            lambda: {"mask": mask, "rewrite": rewrite}[job](Path(source), target)
        )
        if job == "mask":
            check(Path(source), target)
        return json.dumps(found)


def measure(args, n=N):
    cases = {"Parquet": ("people.parquet", n), "CSV": ("people.csv", n // 10)}
    if args.long:
        cases |= {
            "Parquet, long": ("people.parquet", TIMES * n),
            f"{FILES} files": ("people", TIMES * n),
        }
    lines = []
    for what, (name, rows) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, name)
            write(source, rows)
            found = {"mask": [], "rewrite": []}
            for _ in range(1 if rows > N else 1 + args.rounds // 3):
                for job, taken in found.items():
                    taken.append(
                        json.loads(tables.run([__file__, "--alone", f"{job} {source}"], {}))
                    )
        seconds = {
            job: statistics.median(time for time, _ in taken) for job, taken in found.items()
        }
        peak = max(held for _, held in found["mask"])
        lines += [
            Line(f"{what}, {rows:,} rows", seconds["mask"], unit="s"),
            Line(
                f"{what}: times as fast as pyarrow",
                seconds["rewrite"] / seconds["mask"],
                least=0.5,
            ),
            Line(f"{what}: memory of the process", peak, most=2000.0, unit="MB"),
        ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, alone=alone, columns=("ordinary",))
