"""What does a user wait for before anything is computed?"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COMMANDS = {
    "info": ["info", "masked.parquet"],
    "mask": [
        "mask",
        "small.csv",
        "out.csv",
        "-c",
        "x",
        "--p",
        ".6",
        "--sigma",
        "300",
        "--decimals",
        "2",
        "--force",
        "--no-log",
    ],
    "estimate": ["estimate", "masked.parquet"],
    "demo": ["demo"],
}


def timeraw_import():
    return "import condmask"


def timeraw_import_numpy():
    return "import numpy"


def timeraw_first_estimate():
    return """
    import condmask as cm
    cm.ConditionalMasking(0.6, 1.0).estimate([0.5, 1.5, 2.5]).cdf(1.0)
    """


class Commands:
    """A command in a process of its own: 300 rows to mask, 30,000 to estimate from."""

    params = (list(COMMANDS), ["later", "first"])
    param_names = ("command", "run")
    unit = "s"
    timeout = 300

    def track_seconds(self, command, run):
        """The median of three, on the first run of a machine (no kernel is kept) or on later
        ones."""
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            caches = ["cold1", "cold2", "cold3"] if run == "first" else ["kept"] * 4
            return float(
                np.median([seconds(COMMANDS[command], folder, cache) for cache in caches][-3:])
            )


def prepare(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    import condmask as cm

    x = np.random.default_rng(1).lognormal(7, 0.5, 30_000)
    pq.write_table(pa.table({"x": x}), folder / "original.parquet")
    rows = [f"{k},{value:.2f}\n" for k, value in enumerate(x[:300])]
    (folder / "small.csv").write_text("".join(["id,x\n", *rows]))
    scheme = cm.ConditionalMasking(0.6, 500.0)
    cm.mask_file(folder / "original.parquet", folder / "masked.parquet", {"x": scheme}, log=False)


def seconds(arguments, folder, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / cache)}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "condmask", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
