"""Masking and estimation against another commit:
``python benchmarks/versus/before.py --before PATH``.

PATH is the src of a checkout of that commit. Two processes, one with each code, take turns call by
call, so that whatever else the machine does slows both. A figure is the median of the ratios of
such pairs, over several starts for each call: what a process did before, and where its memory
lies, makes it slower or faster by some percent while it lives. Both must release the same bits and
give the same estimates.
"""

import hashlib
import inspect
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import numpy as np
from tables import Line, main

STARTS = 5
DECILES = np.arange(1, 10) / 10


def jobs(folder, n):
    """What is timed, by name: each call releases or estimates anew, and gives what must not
    differ."""
    import condmask as cm

    x = column(n)
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2)
    mapped = cm.ReverseMapping(0.6, 0.3, scale="log")
    z = scheme.mask(x, rng=1)

    known = inspect.signature(cm.mask_file).parameters
    off = (
        {"ledger": False, "overwrite": True}
        if "ledger" in known
        else {"log": False, "force": True}
    )

    def file(end):
        target = folder / f"released-{os.getpid()}.{end}"
        schemes = {"income": scheme}
        cm.mask_file(folder / f"source.{end}", target, schemes, rng=1, **off)
        return target

    def released():
        path = folder / f"released-{os.getpid()}.parquet"
        if not path.exists():
            file("parquet")
        return cm.read_release(path, "income")

    return {
        "mask an array": lambda: scheme.mask(x, rng=1).tobytes(),
        "mask with reverse mapping": lambda: mapped.mask(x, rng=1).tobytes(),
        "mask a Parquet file": lambda: file("parquet"),
        "mask an Arrow file": lambda: file("arrow"),
        "mask a CSV file": lambda: file("csv"),
        "mean, s.d. and deciles": lambda: _figures(scheme.estimate(z)),
        "intervals of deciles": lambda: (
            scheme.estimate(z).quantile_interval(DECILES).low.tobytes()
        ),
        "deciles of a file": lambda: released().quantile(DECILES).tobytes(),
        "means of groups of a file": lambda: repr(released().group_means("g")),
        "a study, 400 files of 2,000": lambda: repr(
            cm.simulate(_population, scheme, n=2_000, replications=400, rng=1, workers=1)
        ),
    }


def _population(rng, replications, n):
    return rng.normal(0.0, 1_000.0, (replications, n))


def column(n):
    return np.round(np.random.default_rng(1).lognormal(7.5, 0.6, n), 2)


def write_sources(folder, n):
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    rng = np.random.default_rng(2)
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    table = pa.table({"income": column(n), "age": rng.integers(18, 90, n), "g": groups})
    parquet.write_table(table, f"{folder}/source.parquet")
    feather.write_feather(table, f"{folder}/source.arrow", compression="uncompressed")
    csv.write_csv(table, f"{folder}/source.csv")


def _figures(estimate):
    return np.array([estimate.mean(), estimate.std(), *estimate.quantile(DECILES)]).tobytes()


def bits(found):
    """What must not differ; of a file its masked column."""
    from pyarrow import csv, feather, parquet

    if isinstance(found, Path):
        read = {".csv": csv.read_csv, ".arrow": feather.read_table, ".parquet": parquet.read_table}
        return read[found.suffix](found)["income"].to_numpy().tobytes()
    return found if isinstance(found, bytes) else found.encode()


def serve(given):
    """Answer names of jobs, a line each, with seconds and a digest of what the job gave."""
    warnings.simplefilter("ignore")
    folder, n = given.rsplit(" ", 1)
    known = jobs(Path(folder), int(n))
    for line in sys.stdin:
        start = time.perf_counter()
        found = known[line.strip()]()
        taken = time.perf_counter() - start
        print(taken, hashlib.sha256(bits(found)).hexdigest(), flush=True)


def measure(args, n=1_000_000):
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        write_sources(folder, n)
        for name, _ in product(jobs(Path(folder), 1_000), range(STARTS)):
            with ExitStack() as stack:
                servers = {
                    code: stack.enter_context(_started(f"{folder} {n}", extra))
                    for code, extra in _codes(args.before)
                }
                ratios.setdefault(name, []).extend(
                    _ratios(servers, name, -(-args.rounds // STARTS))
                )
    return [
        Line(f"{name}, relative to before", statistics.median(found), most=1.03)
        for name, found in ratios.items()
    ]


def _codes(before):
    here = str(Path(__file__).parents[2] / "src")
    return ("now", {"PYTHONPATH": here}), ("before", {"PYTHONPATH": before})


def _started(given, extra):
    arguments = [sys.executable, __file__, "--alone", given]
    return subprocess.Popen(
        arguments, env=os.environ | extra, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _ratios(servers, name, rounds):
    ratios = []
    for turn in range(rounds + 1):
        order = list(servers) if turn % 2 else list(servers)[::-1]
        answers = {code: _asked(servers[code], name) for code in order}
        assert len({digest for _, digest in answers.values()}) == 1, (
            f"{name}: other bits than before"
        )
        if turn:  # the first loads what is kept
            ratios.append(answers["now"][0] / answers["before"][0])
    return ratios


def _asked(server, name):
    server.stdin.write(name + "\n")
    server.stdin.flush()
    taken, digest = server.stdout.readline().split()
    return float(taken), digest


if __name__ == "__main__":
    main(__file__, measure, alone=serve)
