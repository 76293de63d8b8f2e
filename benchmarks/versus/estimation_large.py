"""Estimating from large Parquet files: ``python benchmarks/versus/estimation_large.py``, Linux, by hand.

Mean, s.d. and deciles with intervals, from 1e7 and from 1e8 rows: the most anonymous memory that the process
has (as tables.py counts it), seconds a row, and the speed of merely reading the column with as many
threads: into an array, and batch by batch, each dropped once it is decoded. Files are written block by block
with the metadata of a release.
"""

import json
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
from condmask._blocks import ordered_map
from condmask.estimates.origin import NOWHERE
from condmask.files.about import Published

ROWS = 100_000_000
SCHEMES = {
    "the default grid": cm.ConditionalMasking(0.6, 500.0),
    "whole numbers": cm.ConditionalMasking(0.6, 500.0, decimals=0),
    "reverse mapping": cm.ConditionalMasking(0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=5),
    "no grid": cm.ConditionalMasking(0.6, 500.0, step=0),
}


def write(path, scheme, rows, part=1_000_000):
    """Incomes as the scheme masks them, in the rows of a part."""
    published = Published((rows,), {"income": scheme}, {"income": NOWHERE}).to_dict()
    schema = pa.schema([("income", pa.float64())], metadata={"condmask": json.dumps(published)})
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, part):
            x = rng.lognormal(6.0, 0.7, min(part, rows - start))
            if not scheme.reverse_mapping:  # which releases the same values in another order
                x = np.where(rng.random(x.size) < 0.6, rng.permutation(x), x + rng.normal(0.0, 500.0, x.size))
                x = x if scheme.grid is None else scheme.grid.values(scheme.grid.units(x))
            writer.write_table(pa.table([x], schema=schema))


def read(path, workers):
    """The column as an array."""
    return pq.read_table(path, columns=["income"], use_threads=workers > 1)["income"].to_numpy()


def decode(path, workers):
    """The column, batch by batch, of which none is kept."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        batches = file.iter_batches(batch_size=65_536, columns=["income"], use_threads=False)
        return sum(ordered_map(lambda batch: batch.num_rows, batches, workers))


def estimate(path, workers):
    return cm.read_release(path, "income", workers=workers).summary()


def alone(what, rows, rounds):
    """One scheme, in a process of its own: memory, seconds of estimating and of reading, by workers."""
    warnings.simplefilter("ignore", cm.EstimateWarning)
    with tempfile.TemporaryDirectory() as folder:
        few, path = Path(folder, "few.parquet"), Path(folder, "a.parquet")
        for target, size in ((few, 100_000), (path, rows)):
            run = [sys.executable, __file__, "--written", target, what, str(size)]
            subprocess.run(run, check=True)
        estimate(few, 2)  # kernels are compiled
        (_, peak), taken = tables.watched(lambda: estimate(path, 2)), {}
        for workers in (1, 2):
            found = {call: [] for call in (estimate, read, decode)}
            for _ in range(rounds):
                for call, times in found.items():
                    start = time.perf_counter()
                    call(path, workers)
                    times.append(time.perf_counter() - start)
            taken[workers] = [statistics.median(times) for times in found.values()]
    return peak, taken


def measure(args, rows=ROWS):
    lines = []
    for what, scheme in SCHEMES.items():
        found = []
        for size in (rows // 10, rows):
            run = [sys.executable, __file__, "--measured", what, str(size), str(1 + args.rounds // 7)]
            found.append(
                json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout)
            )
        (_, few), (peak, many) = found
        asked = {} if scheme.law is not None and scheme.grid is None else {"most": 1000.0}
        lines += [
            Line(f"{what}, {rows:,} rows", many["1"][0], unit="s"),
            Line(f"{what}: memory of the process", peak, unit="MB", **asked),
            Line(
                f"{what}: time a row, relative to that of {rows // 10:,}",
                many["1"][0] / few["1"][0] / 10.0,
                most=1.3,
            ),
        ]
        if scheme.grid is not None:
            for workers, said in (("1", "one worker"), ("2", "two workers")):
                estimating, reading, decoding = many[workers]
                lines += [
                    Line(f"{what}, {said}: speed, relative to reading", reading / estimating, least=0.7),
                    Line(
                        f"{what}, {said}: speed, relative to decoding alone", decoding / estimating, least=0.7
                    ),
                ]
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--written"]:
        write(Path(sys.argv[2]), SCHEMES[sys.argv[3]], int(sys.argv[4]))
    elif sys.argv[1:2] == ["--measured"]:
        print(json.dumps(alone(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        tables.main(__file__, measure, columns=("ordinary",))
