"""What takes ``workers=`` takes the map of other processes, and gives the same bits; the page on them runs.

Oracle: one thread. `travelling` pickles as a pool of processes does.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from study_runs import SCHEMES
from study_workers import travelling

import condmask as cm
from condmask._blocks import BLOCK
from condmask.studies import attacker

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "examples" / "executors").glob("*.py"))

RNG = np.random.default_rng(1)
X = RNG.lognormal(8.0, 0.5, BLOCK + 100).round(2)  # two blocks
AGE = RNG.uniform(18.0, 66.0, X.size)
REGION = np.array(["east", "west"])[RNG.integers(0, 2, X.size)]
POINTS = np.linspace(1_000.0, 9_000.0, 70)  # two tasks of points
Q = np.linspace(0.01, 0.99, 70)

GRID = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
FREE = cm.ConditionalMasking(0.6, 1000.0, step=0.0)
CYCLE = cm.ConditionalMasking(0.6, 1000.0, noise="laplace", donors="permutation", decimals=2)
POOLED = cm.ConditionalMasking(0.6, 1000.0, donors="permutation", decimals=2, strata="region")
REVERSED = cm.ConditionalMasking(0.6, 1000.0, reverse_mapping=True)


def masked(scheme, **options):
    return lambda workers: scheme.mask(X, rng=1, workers=workers, accept_visible_coins=True, **options)


def estimated(scheme, ask, n=X.size):
    z = scheme.mask(X[:n], rng=1, accept_visible_coins=True)
    return lambda workers: ask(scheme.estimate(z, workers=workers))


def table(scheme, **options):
    columns = {"income": X, "age": AGE, "region": REGION}

    def run(workers):
        release = cm.mask_table(
            columns, {"income": scheme}, rng=1, workers=workers, accept_visible_coins=True, **options
        )
        return [release.data["income"], release["income"].quantile([0.1, 0.5])]

    return run


def study(workers):
    asked = {"n": 20_000, "replications": 8, "confidence_levels": [0.9], "risk_distances": [500.0]}
    return cm.simulate(cm.Resampled(X, AGE), SCHEMES, rng=1, workers=workers, **asked).sums


def comparison(workers):
    found = cm.compare(X[:5000], REVERSED, d=200.0, other=AGE[:5000], replications=20, rng=1, workers=workers)
    return found.to_dict()


TRAVELS = {
    "mask": masked(GRID),
    "mask, permutation": masked(CYCLE),
    "mask, strata": masked(POOLED, strata=REGION),
    "mask, rows": masked(FREE, rows=(BLOCK - 5, BLOCK + 5)),
    "table": table(GRID),
    "series": estimated(FREE, lambda e: e.cdf(POINTS, method="series"), 2_000),
    "simulate": study,
    "compare": comparison,
}
STAYS = {  # what sorts and counts is done where the column is
    "reverse mapping": masked(REVERSED),
    "table by reverse mapping": table(REVERSED),
    "estimate after reverse mapping": estimated(REVERSED, lambda e: str(e.summary())),
    "summary": estimated(FREE, lambda e: str(e.summary())),
    "quantiles": estimated(GRID, lambda e: e.quantile(Q)),
}


@pytest.fixture(autouse=True)
def rough(monkeypatch):
    """Fewer simulated records than the attacker of a comparison looks at."""
    monkeypatch.setattr(attacker, "RECORDS", 10_000)


def by_processes(run):
    """What comes of it, and how many tasks travelled."""
    sent = []

    def workers(function, tasks):
        for task in tasks:
            sent.append(task)
            yield from travelling(function, [task])

    return run(workers), len(sent)


@pytest.mark.parametrize("name", TRAVELS)
def test_what_travels_has_the_bits_of_one_thread(name):
    found, sent = by_processes(TRAVELS[name])

    np.testing.assert_equal(found, TRAVELS[name](1))
    assert sent > 0


@pytest.mark.parametrize("name", STAYS)
def test_what_stays_has_the_bits_of_one_thread(name):
    found, sent = by_processes(STAYS[name])

    np.testing.assert_equal(found, STAYS[name](1))
    assert sent == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("scheme", [GRID, REVERSED], ids=["noise", "reversed"])
def test_files_have_the_bits_of_one_thread(suffix, scheme, tmp_path):
    pd = pytest.importorskip("pandas")
    source = tmp_path / f"a.{suffix}"
    frame = pd.DataFrame({"income": X})
    frame.to_csv(source, index=False) if suffix == "csv" else frame.to_parquet(source)

    def run(workers):
        target = tmp_path / f"b.{suffix}"
        cm.mask_file(
            source, target, {"income": scheme}, rng=1, workers=workers, log=False, force=True,
            accept_visible_coins=True,
        )  # fmt: skip
        estimate = cm.read_release(target, "income", workers=workers)
        return [pd.read_csv(target) if suffix == "csv" else pd.read_parquet(target), estimate.quantile(Q)]

    (data, quantiles), sent = by_processes(run)

    expected = run(1)
    pd.testing.assert_frame_equal(data, expected[0], check_exact=True)
    np.testing.assert_array_equal(quantiles, expected[1])
    assert (sent > 0) == (scheme is GRID)


# --- the page ---


@pytest.mark.slow  # they start processes, and Python in them
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_scripts_of_the_page_run_as_they_stand(script):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout == "14.444\n"


def test_the_page_shows_every_script():
    page = (DOCS / "dask.rst").read_text()

    assert len(SCRIPTS) == 3
    for script in SCRIPTS:
        assert f".. literalinclude:: examples/executors/{script.name}\n" in page
