"""The tables of docs/performance.rst, written by the scripts that measure.

A script hands `main` a function that checks answers, times, and returns lines. It is run twice,
each time in a process of its own: as the machine is, and without the AVX-512 code of NumPy, whose
sort is several times as fast as its other one, or as slow. Both columns go to
docs/measured/<name>.rst.

Options of every script: ``--before PATH`` adds lines that compare with the code at PATH (a
checkout's src), ``--long`` those that take minutes, ``--rounds`` sets how often each call is
timed; ``--write`` writes the table.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[2] / "docs" / "measured"
OTHER_SORT = "X86_V4 AVX512_ICL"
COLUMNS = {"ordinary": {}, "without AVX-512": {"NPY_DISABLE_CPU_FEATURES": OTHER_SORT}}


class Line(NamedTuple):
    """One figure: a ratio where it has no unit; what is asked of it, at most or at least."""

    what: str
    value: float
    most: float | None = None
    least: float | None = None
    unit: str = ""

    @property
    def asked(self):
        if self.most is not None:
            return f"at most {self.most:g}"
        return "" if self.least is None else f"at least {self.least:,g}"

    @property
    def missed(self):
        return (self.most is not None and self.value > self.most) or (
            self.least is not None and self.value < self.least
        )


def medians(calls, rounds):
    """Median seconds of each call, one after the other in every round; before that each is run
    once."""
    taken = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def watched(call):
    """Seconds that a call takes, and the most megabytes meanwhile that this process holds besides
    files."""
    job = threading.Thread(target=call)
    peak = anonymous()
    start = time.perf_counter()
    job.start()
    while job.is_alive():
        peak = max(peak, anonymous())
        time.sleep(0.01)
    return time.perf_counter() - start, peak


def anonymous():
    """Megabytes held by this process and backed by no file."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return next(
        int(line.split()[1]) / 1024
        for line in rollup.splitlines()
        if line.startswith("Anonymous:")
    )


def to_before(script, before, what, processes=3):
    """The seconds that ``alone(what)`` of a script takes, over those with the code at `before`.

    Processes of the one and the other alternate; medians of theirs.
    """
    taken = {"now": [], "before": []}
    for _ in range(processes):
        for code, found in taken.items():
            extra = {"PYTHONPATH": before} if code == "before" else {}
            found.append(float(run([script, "--alone", what], extra)))
    return statistics.median(taken["now"]) / statistics.median(taken["before"])


def main(script, measure, *, alone=None, columns=tuple(COLUMNS)):
    """Run a script: measure in a process for each column, print the table and write it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", metavar="PATH")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone is not None:
        print(alone(args.alone))
    elif args.once:
        print(json.dumps([machine(), measure(args)]))
    else:
        found = [json.loads(run([script, "--once", *sys.argv[1:]], COLUMNS[c])) for c in columns]
        where = found[0][0]
        lines = [[Line(*line) for line in column] for _, column in found]
        text = rst(where, columns, lines)
        print(text)
        if args.write:
            (MEASURED / f"{Path(script).stem}.rst").write_text(text)
        missed = [
            f"{line.what} ({c})"
            for c, own in zip(columns, lines, strict=True)
            for line in own
            if line.missed
        ]
        if missed:
            sys.exit("missed: " + "; ".join(missed))


def rst(where, columns, lines):
    """A table in reStructuredText: a row for each line, a column for each way of running."""
    rows = [["", *columns, "target"]]
    for together in zip(*lines, strict=True):
        first = together[0]
        what = first.what + (f", {first.unit}" if first.unit else "")
        asked = first.asked + ", missed" * any(line.missed for line in together)
        rows.append([what, *(shown(line.value) for line in together), asked])
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    table = [
        f"   {'* -' if k == 0 else '  -'} {cell}".rstrip()
        for row in rows
        for k, cell in enumerate(row)
    ]
    return "\n".join([f"{where}.", "", ".. list-table::", "   :header-rows: 1", "", *table, ""])


def shown(value):
    """Two digits, two decimals about 1, and every digit of a larger whole part."""
    if 0.5 < abs(value) < 2.0:
        return f"{value:.2f}"
    return f"{value:.2g}" if abs(value) < 10 else f"{value:,.0f}"


def machine():
    """What the figures depend on."""
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    features = [name for name in ("avx2", "avx512f") if llvm.get_host_cpu_features().get(name)]
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{os.cpu_count()} cores of {llvm.get_host_cpu_name()} ({', '.join(features)}), Python {version}, "
        f"NumPy {np.__version__}, numba {numba.__version__}"
    )


def run(arguments, extra):
    """What a script prints, run with more in its environment."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | extra,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return finished.stdout
