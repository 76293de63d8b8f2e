"""Answers and ratios in one run.

The scripts beside this file check their answers and run, on little data. Then, with
``--benchmark-enable``, ratios at one x; every entry asserts its answer::

    python -m pytest benchmarks/versus --benchmark-enable
"""

import importlib
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import condmask as cm
from benchmarks import coverage, data, limits

sys.path.insert(0, str(Path(__file__).parent))  # as a script has it
peers = importlib.import_module("peers")
tables = importlib.import_module("tables")

N = 1_000_000
FEW = 100_000  # where something is timed, and where it is not
QUICK = Namespace(rounds=1, before=None, long=False)
SIZES = {
    "grid": 200_000,
    "mask": 100_000,
    "study": 100,
    "large": 20_000,
    "files": 100_000,
    "exact": 100_000,
    "linear": 20_000,
    "intervals": 50_000,
    "risk": 100_000,
    "report": 10_000,
    "executors": 20,
    "study_intervals": 8,
}


@pytest.mark.parametrize("name", SIZES)
def test_script(name):
    lines = importlib.import_module(name).measure(QUICK, SIZES[name])

    assert len(lines) >= 2
    assert all(np.isfinite(line.value) for line in lines)


def test_start_up():
    lines = importlib.import_module("startup").measure(QUICK, ["info", "estimate"])

    assert len(lines) == 4
    assert all(np.isfinite(line.value) for line in lines)


def test_the_commit_before_has_the_same_answers(monkeypatch):
    script = importlib.import_module("before")
    monkeypatch.setattr(script, "STARTS", 1)
    here = Namespace(rounds=1, before=str(Path(cm.__file__).parents[1]), long=False)
    lines = script.measure(here, 2_000)

    assert len(lines) == 10
    assert all(np.isfinite(line.value) for line in lines)


def test_table():
    fast, slow = (
        tables.Line("this, relative to that", value, most=1.0) for value in (0.123, 12.3)
    )
    rows = tables.rst("here", ("one", "other"), [[fast], [slow]]).splitlines()

    assert rows[0] == "here."
    assert rows[-4:] == [
        "   * - this, relative to that",
        "     - 0.12",
        "     - 12",
        "     - at most 1, missed",
    ]
    assert (fast.missed, slow.missed) == (False, True)


@pytest.mark.parametrize("study", coverage.STUDIES)
def test_a_cell_of_coverage(study):
    name = coverage.named(study)[0]
    text = coverage.table({name: coverage.run(study, name, 2, 1)})

    assert f"   * - {' '.join(name.split('  '))}" in text


@pytest.mark.parametrize("law", coverage.LAWS)
def test_the_population_of_coverage_is_that_of_a_large_file(law):
    population = coverage.LAWS[law]
    q = np.array([0.03, 0.29, 0.5, 0.92])
    x, w = (each[0] for each in population(np.random.default_rng(1), 1, 200_000))

    assert (population.cdf(population.quantile(q)) >= q - 1e-9).all()
    assert abs(x.mean() - population.mean()) < 6.0 * population.std() / x.size**0.5  # 2 in 10^9
    assert abs(x.std() / population.std() - 1.0) < 0.03  # t_4, the roughest: 1% of 200,000 draws
    assert abs(np.corrcoef(x, w)[0, 1] - population.correlation()) < 0.03


def test_a_row_of_limits(capsys):
    limits.alone("grid", "estimate summary", 1_000)

    assert len(capsys.readouterr().out.split()) == 2


def sums(n, p, method, workers):
    scheme = cm.ConditionalMasking(p, data.SIGMA, step=0.0)
    return scheme.estimate(data.masked(n, p, step=0.0), workers=workers).cdf(300.0, method=method)


SERIES = {
    "SciPy ndtr loop, p=.6": lambda n: peers.plain_series(
        data.masked(n, step=0.0), 300.0, 0.6, data.SIGMA, 1e-10
    ),
    **{
        f"{method}, p={p}, {workers} worker{'s' * (workers > 1)}": (
            lambda n, p=p, method=method, workers=workers: sums(n, p, method, workers)
        )
        for method in ("series",)
        for p in (0.6, 0.501, 0.9)
        for workers in (1, 2)
    },
}


@pytest.mark.benchmark(group="T_1 at one x, 1e6 rows, tol 1e-10")
@pytest.mark.parametrize("who", SERIES)
def test_series(benchmark, who):
    n = FEW if benchmark.disabled else N
    found = benchmark.pedantic(SERIES[who], args=(n,), rounds=3, warmup_rounds=1)

    # the s.d. of T_1 is below 1/sqrt(n) for p >= .5; six of them
    assert abs(found - np.mean(data.original(n) <= 300.0)) < 6.0 / np.sqrt(n)
