"""One table as many files, for tests."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

FORMATS = ["parquet", "arrow", "csv"]


def people(n=2_000, seed=5):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(6, 0.7, n).round(2)
    return pa.table({
        "id": np.arange(n),
        "income": np.where(rng.random(n) < 0.05, -99_999.0, income),
        "bonus": rng.lognormal(4, 0.7, n).round(2),
        "region": np.array(["north", "south, east", 'the "west"'])[rng.integers(0, 3, n)],
    })  # fmt: skip


def write(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=700)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    else:
        csv.write_csv(table, path)
    return path


def names(parts, suffix, folder=""):
    return [f"{folder}part-{k:05}.{suffix}" for k in range(parts)]


def write_parts(table, folder, suffix, cuts, of=names):
    """A table cut before these rows; ``of`` names the files."""
    bounds = [0, *sorted(cuts), table.num_rows]
    for name, start, stop in zip(of(len(bounds) - 1, suffix), bounds, bounds[1:], strict=False):
        write(table.slice(start, stop - start), folder / name)
    return folder
