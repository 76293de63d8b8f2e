"""What takes ``workers=`` takes the map of other processes, and gives the same bits; the page on them runs.

Oracle: one thread. `travelling` pickles as a pool of processes does.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_workers import travelling

import condmask as cm
from condmask._blocks import BLOCK

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "examples" / "executors").glob("*.py"))

RNG = np.random.default_rng(1)
X = RNG.lognormal(8.0, 0.5, BLOCK + 100).round(2)  # two blocks
AGE = RNG.uniform(18.0, 66.0, X.size)
POINTS = np.linspace(1_000.0, 9_000.0, 70)  # two tasks of points

GRID = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
FREE = cm.ConditionalMasking(0.6, 1000.0, step=0.0)
CYCLE = cm.ConditionalMasking(0.6, 1000.0, noise="laplace", donors="permutation", decimals=2)
REVERSED = cm.ConditionalMasking(0.6, 1000.0, reverse_mapping=True)


STUDY = """
import numpy as np
import condmask as cm
x = np.random.default_rng(1).lognormal(8.0, 0.5, 5_000)
scheme = cm.ConditionalMasking(0.6, 1000.0, reverse_mapping=True)
if {after}:
    scheme.estimate(scheme.mask(x, rng=1, accept_visible_coins=True)).pseudo_values()
noise = {{"noise": cm.ConditionalMasking(0.6, 1000.0)}}
print(cm.simulate(cm.paper_population(), noise, n=200, replications=2, rng=1).sums.tolist())
"""


def masked(scheme, **options):
    return lambda workers: scheme.mask(X, rng=1, workers=workers, accept_visible_coins=True, **options)


def estimated(scheme, ask, n=X.size):
    z = scheme.mask(X[:n], rng=1, accept_visible_coins=True)
    return lambda workers: ask(scheme.estimate(z, workers=workers))


def file(workers, folder):
    pd.DataFrame({"income": X}).to_csv(folder / "a.csv", index=False)
    options = {"rng": 1, "log": False, "force": True, "accept_visible_coins": True}
    cm.mask_file(folder / "a.csv", folder / "b.csv", {"income": GRID}, workers=workers, **options)
    return [
        (folder / "b.csv").read_bytes(),
        cm.read_release(folder / "b.csv", "income", workers=workers).mean(),
    ]


def study(workers):
    asked = {"n": 20_000, "replications": 8, "confidence_levels": [0.9], "risk_distances": [500.0]}
    return cm.simulate(cm.Resampled(X, AGE), {"a": GRID}, rng=1, workers=workers, **asked).sums


TRAVELS = {
    "mask": masked(GRID),
    "mask, permutation": masked(CYCLE),
    "series": estimated(FREE, lambda e: e.cdf(POINTS, method="series"), 2_000),
    "simulate": study,
}
STAYS = {  # what sorts and counts is done where the column is
    "reverse mapping": masked(REVERSED),
    "quantiles": estimated(GRID, lambda e: e.quantile(np.linspace(0.01, 0.99, 70))),
}


def by_processes(run):
    """What comes of it, and how many tasks travelled."""
    sent = []

    def workers(function, tasks):
        for task in tasks:
            sent.append(task)
            yield from travelling(function, [task])

    return run(workers), len(sent)


@pytest.mark.parametrize("name", [*TRAVELS, *STAYS])
def test_another_process_gives_the_bits_of_one_thread(name):
    run = {**TRAVELS, **STAYS}[name]

    found, sent = by_processes(run)

    np.testing.assert_equal(found, run(1))
    assert (sent > 0) == (name in TRAVELS)


def test_files_have_the_bits_of_one_thread(tmp_path):
    found, sent = by_processes(lambda workers: file(workers, tmp_path))

    assert found == file(1, tmp_path)
    assert sent > 0


def test_the_page_shows_every_script_and_that_of_processes_runs_as_it_stands():
    page, script = (DOCS / "dask.rst").read_text(), DOCS / "examples" / "executors" / "on_processes.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert len(SCRIPTS) == 3
    for each in SCRIPTS:
        assert f".. literalinclude:: examples/executors/{each.name}\n" in page
    assert (done.returncode, done.stdout) == (0, "14.444\n"), done.stderr


def test_a_study_has_the_same_bits_whatever_a_process_did_before():
    alone, after = (
        subprocess.run([sys.executable, "-c", STUDY.format(after=after)], capture_output=True, check=True)
        for after in (False, True)
    )

    assert alone.stdout == after.stdout
