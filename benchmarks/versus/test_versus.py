"""Answers and ratios in one run.

The scripts beside this file check their answers and run, on little data. Then, with ``--benchmark-enable``,
ratios at one x; every entry asserts its answer before it is timed::

    python -m pytest benchmarks/versus --import-mode=importlib --benchmark-enable
"""

import importlib
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import condmask as cm
from benchmarks import data

sys.path.insert(0, str(Path(__file__).parent))  # as a script has it
peers = importlib.import_module("peers")
tables = importlib.import_module("tables")

N = 1_000_000
QUICK = Namespace(rounds=1, before=None, long=False)
SIZES = {
    "grid": 200_000, "mask": 100_000, "lattice": 20_000, "study": 100, "analysis_memory": 2_000,
    "files_memory": 200_000, "files_large": 20_000, "audit": 200_000, "exact": 100_000,
    "linear": 20_000, "intervals": 50_000, "risk": 1_000_000, "report": 10_000,
}  # fmt: skip


@pytest.mark.parametrize("name", SIZES)
def test_script(name):
    lines = importlib.import_module(name).measure(QUICK, SIZES[name])

    assert len(lines) >= 2
    assert all(np.isfinite(line.value) for line in lines)


def test_start_up():
    lines = importlib.import_module("startup").measure(QUICK, ["info", "estimate"])

    assert len(lines) == 4
    assert all(np.isfinite(line.value) for line in lines)


def test_table():
    fast, slow = (tables.Line("this, to that", value, most=1.0) for value in (0.123, 12.3))
    rows = tables.rst("here", ("one", "other"), [[fast], [slow]]).splitlines()

    assert rows[0] == "here."
    assert rows[-4:] == ["   * - this, to that", "     - 0.12", "     - 12", "     - at most 1"]
    assert (fast.missed, slow.missed) == (False, True)


def sums(p, method, workers):
    scheme = cm.ConditionalMasking(p, data.SIGMA, step=0.0)
    estimate = scheme.estimate(data.masked(N, p, step=0.0), workers=workers)
    return lambda: estimate.cdf(300.0, method=method)


SERIES = {
    "SciPy ndtr loop, p=.6": lambda: peers.plain_series(
        data.masked(N, step=0.0), 300.0, 0.6, data.SIGMA, 1e-10
    ),
    **{
        f"{method}, p={p}, {workers} worker{'s' * (workers > 1)}": (
            lambda p=p, method=method, workers=workers: sums(p, method, workers)()
        )
        for method in ("series", "interpolant")
        for p in (0.6, 0.501, 0.9)
        for workers in (1, 2)
    },
}


@pytest.mark.benchmark(group="T_1 at one x, 1e6 rows, tol 1e-10")
@pytest.mark.parametrize("who", SERIES)
def test_series(benchmark, who):
    # the s.d. of T_1 at n = 1e6 is below 1e-3 for p >= .5; six of them
    assert abs(SERIES[who]() - np.mean(data.original(N) <= 300.0)) < 6e-3
    benchmark.pedantic(SERIES[who], rounds=7, warmup_rounds=1)
