"""What do public calls take: memory and time, of few records and of many?

    python -m benchmarks.limits FOLDER --write docs/measured/limits.rst

Linux. Each call runs in a process of its own for each size. Memory is what the process holds for
itself at most, beyond what it held when condmask was imported and the data were there; times are
those of the processor at the larger size. Each call is kept in FOLDER when it is done;
``--only plan`` takes some.
"""

import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import condmask as cm
from benchmarks import cells

SIZES = (100_000, 1_000_000)
MB = 2.0**20
STEP = 0.002  # s between two looks at the memory
SCHEMES = {
    "grid": cm.ConditionalMasking(0.6, 500.0),
    "reverse": cm.ReverseMapping(0.6, 0.5, scale="log", aggregate_ends=5),
}
OPEN = {"accept": "all"}  # what an audit would refuse is measured all the same


class Data:
    """What calls are given: a table of four columns, as arrays, as a file and as a release of a
    scheme."""

    def __init__(self, folder, n, kind):
        rng = np.random.default_rng(1)
        self.folder = Path(folder)
        self.scheme = SCHEMES[kind]
        self.schemes = {"income": SCHEMES[kind]}
        self.x = rng.lognormal(6.0, 0.7, n)
        self.w = self.x + rng.normal(0.0, 800.0, n)
        self.table = {
            "income": self.x,
            "wealth": self.w,
            "age": rng.integers(0, 100, n),
            "region": rng.integers(0, 3, n),
        }
        release = cm.mask_table({"income": self.x, "age": self.table["age"]}, self.schemes, **OPEN)
        self.z = np.asarray(release.data["income"])
        self.people = self.folder / "people.parquet"
        self.released = self.folder / "released.parquet"
        self.target = self.folder / "target.parquet"
        pq.write_table(pa.table(self.table), self.people)
        release.write(self.released, log=False)
        self.t = np.linspace(0.0, 3000.0, 1000)

    @property
    def estimate(self):
        """A new one, which knows nothing from the call before."""
        return self.scheme.estimate(self.z)


CALLS = {
    "scheme.mask": lambda d: d.scheme.mask(d.x, **OPEN),
    "mask_table": lambda d: cm.mask_table(d.table, d.schemes, **OPEN),
    "mask_table by name": lambda d: cm.mask_table(d.table, ["income"], **OPEN),
    "audit": lambda d: cm.audit(d.table, d.schemes),
    "risk": lambda d: cm.risk(d.x, d.scheme, d=250.0),
    "risk released": lambda d: cm.risk(d.x, d.scheme, d=250.0, released=d.z),
    "plan": lambda d: cm.plan(d.x, other=d.w),
    "compare": lambda d: cm.compare(d.x, d.scheme, d=250.0, replications=10),
    "simulate": lambda d: cm.simulate(
        cm.Resampled(d.x), {"it": d.scheme}, n=d.x.size // 10, replications=20
    ),
    "estimate summary": lambda d: d.estimate.summary(),
    "estimate cdf": lambda d: d.estimate.cdf(d.t),
    "estimate cdf bandwidth": lambda d: d.estimate.cdf(d.t, bandwidth="scott"),
    "estimate quantile_interval": lambda d: d.estimate.quantile_interval([0.1, 0.5]),
    "estimate cdf_interval": lambda d: d.estimate.cdf_interval(d.t),
    "estimate cdf_band": lambda d: d.estimate.cdf_band(),
    "estimate gini_interval": lambda d: d.estimate.gini_interval(),
    "estimate correlation_interval": lambda d: d.estimate.correlation_interval(d.w),
    "estimate group_means": lambda d: d.estimate.group_means(d.table["age"]),
    "estimate regress": lambda d: d.estimate.regress({"wealth": d.w, "age": d.table["age"]}),
    "compare_distributions": lambda d: cm.compare_distributions(d.estimate, d.estimate),
    "mask_file": lambda d: cm.mask_file(d.people, d.target, d.schemes, log=False, **OPEN),
    "read_release summary": lambda d: cm.read_release(d.released, "income").summary(),
    "read_release group_means": lambda d: cm.read_release(d.released, "income").group_means("age"),
    "report": lambda d: cm.report(
        d.released, d.folder / "a.html", original=d.people, d={"income": 250.0}
    ),
}


def alone(kind, name, n):
    """One call, in this process: prints megabytes beyond what was held before, and seconds."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        data = Data(folder, int(n), kind)
        before = held()
        peak = [0.0]
        done = threading.Event()
        watch = threading.Thread(target=watched, args=(peak, done))
        watch.start()
        start = time.process_time()
        CALLS[name](data)
        taken = time.process_time() - start
        done.set()
        watch.join()
    print(max(peak[0] - before, 0.0), taken)


def watched(peak, done):
    """Keep the largest memory until it is done."""
    while not done.wait(STEP):
        peak[0] = max(peak[0], held())


def held():
    """Megabytes that this process holds for itself: no pages of files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return (
        sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))
        / 1024.0
    )


def run(name, replications, seed):
    """Megabytes and seconds at each size, the median of several runs."""
    kind, call = name.split(" ", 1)
    found = []
    for n in SIZES:
        command = [sys.executable, "-m", "benchmarks.limits", "--alone", kind, call, str(n)]
        runs = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            for _ in range(replications)
        ]
        found.append(np.median(np.array(runs, dtype=float), axis=0).tolist())
    return found


def table(found):
    """A row for each call."""
    heads = [f"MB, {SIZES[0]:,} records", f"MB, {SIZES[1]:,}", "bytes a record", "s"]
    lines = [["", *heads]]
    for name, ((few, _), (many, seconds)) in found.items():
        each = max(0.0, (many - few) * MB / (SIZES[1] - SIZES[0]))
        lines.append([name, f"{few:,.0f}", f"{many:,.0f}", f"{each:.0f}", f"{seconds:.2g}"])
    return cells.rows(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        alone(*sys.argv[2:])
    else:
        names = [f"{kind} {call}" for kind in SCHEMES for call in CALLS]
        cells.finish(cells.parser(__doc__, 1).parse_args(), names, run, table)
