"""What a user waits for before and around the work: ``python benchmarks/versus/startup.py``.

Commands in new processes, with kernels kept in a folder of this script's: empty for a first run,
as on a new machine, and filled for later ones. No variable that a user would have to set is set.
"""

import contextlib
import io
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import tables
from tables import Line

sys.path.insert(1, str(Path(__file__).parents[2]))
from benchmarks.startup import COMMANDS, prepare, seconds


def check(folder):
    """The estimate that is timed is one: its median is that of the original."""
    import pyarrow.parquet as pq

    from condmask.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["estimate", str(folder / "masked.parquet")]) == 0
    found = next(
        line for line in printed.getvalue().splitlines() if line.startswith("quantile 0.5")
    )
    median = np.median(pq.read_table(folder / "original.parquet")["x"])
    # s.d. of the estimated median: 1% of it at n = 30,000
    assert abs(float(found.split()[-1].replace(",", "")) / median - 1.0) < 0.06


def measure(args, commands=tuple(COMMANDS)):
    firsts = max(1, args.rounds // 3)
    laters = args.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        check(folder)
        taken = {}
        for command in commands:
            caches = [f"{command} {k}" for k in (*range(firsts), *[0] * laters)]
            times = [seconds(COMMANDS[command], name, cache) for cache in caches]
            taken[command] = statistics.median(times[:firsts]), statistics.median(times[firsts:])
    asked = {"estimate": (3.5, 1.0), "mask": (None, 0.6), "demo": (5.0, None)}
    return [
        Line(f"condmask {command}, {said}", value, most, unit="s")
        for command, both in taken.items()
        for said, value, most in zip(
            ("first run", "later runs"), both, asked.get(command, (None,) * 2), strict=True
        )
    ]


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
