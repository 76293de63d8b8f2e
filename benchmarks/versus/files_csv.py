"""Masking a CSV file against reading and rewriting it by pyarrow: ``python benchmarks/versus/files_csv.py``.

Five columns: a number of the record, an income in cents, whole years, a region, and a score of 17 digits.
"""

import csv
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import tables
from tables import Line

import condmask as cm

P, N, LONG = 0.6, 1_000_000, 10_000_000
SCHEMES = {
    "an income in cents": {"income": cm.ConditionalMasking(P, 1000.0, decimals=2)},
    "a score, on the default grid": {"score": cm.ConditionalMasking(P, 0.3)},
    "both": {
        "income": cm.ConditionalMasking(P, 1000.0, decimals=2),
        "score": cm.ConditionalMasking(P, 0.3),
    },
}


def people(n):
    random = np.random.default_rng(1)
    return pa.table({
        "id": np.arange(n),
        "income": random.lognormal(8.0, 0.5, n).round(2),
        "age": random.integers(18, 90, n),
        "region": pa.array(np.array(["north", "south", "east"])[random.integers(0, 3, n)]),
        "score": random.normal(size=n),
    })  # fmt: skip


def rewrite(source, target):
    pa.csv.write_csv(pa.csv.read_csv(source), target)


def check(source, target, schemes):
    """The masked columns are on the grid and others as they were, by Python's reader; for the first rows."""
    with source.open(newline="") as one, target.open(newline="") as other:
        for before, after, _ in zip(csv.DictReader(one), csv.DictReader(other), range(1_000), strict=False):
            for name, text in before.items():
                if name not in schemes:
                    assert after[name] == text
                else:
                    steps = float(after[name]) / schemes[name].step
                    assert abs(steps - round(steps)) < 1e-6


def measure(args, n=None):
    rows = (n,) if n else (N, LONG) if args.long else (N,)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for count in rows:
            source, plain, target = (Path(folder, f"{name}.csv") for name in ("in", "plain", "out"))
            pa.csv.write_csv(people(count), source)

            def masked(schemes, workers, source=source, target=target):
                def call():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", cm.ReleaseWarning)
                        cm.mask_file(source, target, schemes, workers=workers, ledger=False, overwrite=True)

                return call

            calls = {"pyarrow": lambda source=source, plain=plain: rewrite(source, plain)}
            for what, schemes in SCHEMES.items():
                masked(schemes, 2)()
                check(source, target, schemes)
                calls |= {(what, workers): masked(schemes, workers) for workers in (1, 2)}
            t = tables.medians(calls, args.rounds if count == N else min(args.rounds, 3))
            size = f"{count:,} rows"
            lines.append(Line(f"pyarrow, read and written, {size}", 1e3 * t["pyarrow"], unit="ms"))
            for what in SCHEMES:
                for workers, said in ((1, "one worker"), (2, "two workers")):
                    speed = t["pyarrow"] / t[what, workers]
                    least = 0.5 if workers == 2 else None
                    lines.append(Line(f"{what}, {said}, {size}: times as fast", speed, least=least))
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
