"""A study takes the map of other processes, and gives the same bits; the page on them runs.

Oracle: one thread. `travelling` pickles as a pool of processes does.
"""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import condmask as cm
from condmask._blocks import BLOCK

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "examples" / "executors").glob("*.py"))

RNG = np.random.default_rng(1)
X = RNG.lognormal(8.0, 0.5, BLOCK + 100).round(2)
AGE = RNG.uniform(18.0, 66.0, X.size)

GRID = cm.ConditionalMasking(0.6, 1000.0, decimals=2)


STUDY = """
import numpy as np
import condmask as cm
x = np.random.default_rng(1).lognormal(8.0, 0.5, 5_000)
scheme = cm.ConditionalMasking(0.6, 1000.0, reverse_mapping=True)
if {after}:
    scheme.estimate(scheme.mask(x, rng=1, accept_visible_coins=True)).pseudo_values()
noise = {{"noise": cm.ConditionalMasking(0.6, 1000.0)}}
print(cm.simulate(cm.paper_population(), noise, n=200, replications=2, rng=1).values.tolist())
"""


def travelling(function, task):
    """A task as a pool of processes does it: all that it needs, and what comes of it, is pickled."""
    here, given = pickle.loads(pickle.dumps((function, task)))
    return pickle.loads(pickle.dumps(here(given)))


def study(workers):
    asked = {"n": 20_000, "replications": 8, "confidence_levels": [0.9], "risk_distances": [500.0]}
    return cm.simulate(cm.Resampled(X, AGE), {"a": GRID}, rng=1, workers=workers, **asked).values


def test_another_process_gives_the_bits_of_one_thread():
    sent = []

    def workers(function, tasks):
        for task in tasks:
            sent.append(task)
            yield travelling(function, task)

    np.testing.assert_equal(study(workers), study(1))
    assert sent


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
