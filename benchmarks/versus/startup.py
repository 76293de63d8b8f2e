"""What a user waits for before and around the work: ``python benchmarks/versus/startup.py``.

Commands in new processes, with kernels kept in a folder of this script's: empty for a first run, as on a new
machine, and filled for later ones. No variable that a user would have to set is set.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from tables import Line

ROWS, SIGMA = 30_000, 8000.0


def seconds(arguments, cache):
    """The time and the output of a command."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "CONDMASK_CACHE")}
    start = time.perf_counter()
    finished = subprocess.run(
        [sys.executable, *arguments],
        env=environment | {"XDG_CACHE_HOME": str(cache)}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return time.perf_counter() - start, finished.stdout


def first_and_later(arguments, folder, firsts, laters, check=None):
    """Median seconds with an empty cache folder, and with that of the run before."""
    times = {"first": [], "later": []}
    for k in range(firsts):
        taken, text = seconds(arguments, folder / f"cache {k}")
        times["first"].append(taken)
        assert check is None or check(text), text
    times["later"] = [seconds(arguments, folder / "cache 0")[0] for _ in range(laters)]
    return [statistics.median(found) if found else np.nan for found in times.values()]


def measure(args):
    incomes = np.random.default_rng(1).lognormal(10.0, 0.5, ROWS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, masked = folder / "people.parquet", folder / "masked.parquet"
        pq.write_table(pa.table({"income": incomes}), source)
        mask = ["-m", "condmask", "mask", source, masked, "--force", "-c", "income", "--p", "0.6"]
        mask += ["--sigma", str(SIGMA)]
        median = np.median(incomes)

        def close(text):
            # s.d. of the estimated median: below .05 of the true one at n = 30,000
            line = next(line for line in text.splitlines() if line.startswith("quantile 0.5"))
            return abs(float(line.split()[-1].replace(",", "")) / median - 1.0) < 0.1

        rounds = max(1, args.rounds // 3)
        mask_first, mask_later = first_and_later(mask, folder / "mask", rounds, args.rounds)
        estimate_first, estimate_later = first_and_later(
            ["-m", "condmask", "estimate", masked], folder / "estimate", rounds, args.rounds, close
        )
        demo_first, demo_later = first_and_later(["-m", "condmask", "demo"], folder / "demo", rounds, rounds)
        numpy = first_and_later(["-c", "import numpy"], folder, 1, args.rounds)[1]
        package = first_and_later(["-c", "import numpy, condmask"], folder, 1, args.rounds)[1]
    return [
        Line("condmask estimate of 30,000 rows, first run", estimate_first, 3.5, unit="s"),
        Line("the same, later runs", estimate_later, 1.0, unit="s"),
        Line("condmask mask of 30,000 rows, first run", mask_first, unit="s"),
        Line("the same, later runs", mask_later, 0.8, unit="s"),
        Line("condmask demo, first run", demo_first, 5.0, unit="s"),
        Line("the same, later runs", demo_later, unit="s"),
        Line("import condmask after import numpy", 1e3 * (package - numpy), unit="ms"),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
