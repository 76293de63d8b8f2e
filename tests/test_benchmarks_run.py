"""Every benchmark runs once, at its first and smallest parameters, and so does a cell of every long study."""

import importlib
import textwrap
from pathlib import Path

import numpy as np
import pytest

from benchmarks import coverage, limits

FOLDER = Path(__file__).parents[1] / "benchmarks"
SUITES = ("estimate", "grid", "kernels", "mask", "startup", "study")
PREFIXES = ("time_", "timeraw_", "peakmem_", "track_")


def found():
    """(name, method or function, its first parameters, setup)."""
    for name in SUITES:
        for own, thing in vars(importlib.import_module(f"benchmarks.{name}")).items():
            if own.startswith(PREFIXES):
                yield f"{name}.{own}", thing, (), None
            elif hasattr(thing, "params") and isinstance(thing, type):
                suite, first = thing(), tuple(values[0] for values in thing.params)
                for method in vars(thing):
                    if method.startswith(PREFIXES):
                        setup = getattr(suite, "setup", None)
                        yield f"{name}.{own}.{method}", getattr(suite, method), first, setup


CASES = list(found())


@pytest.mark.parametrize(
    ("run", "parameters", "setup"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_it_runs(run, parameters, setup):
    if setup is not None:
        setup(*parameters)
    result = run(*parameters)
    if run.__name__.startswith("timeraw_"):
        exec(textwrap.dedent(result), {})


@pytest.mark.parametrize("study", coverage.STUDIES)
def test_a_cell_of_coverage(study):
    name = coverage.named(study)[-1]
    text = coverage.table({name: coverage.run(study, name, 2, 1)})

    assert f"   * - {' '.join(name.split('  '))}" in text


def test_the_population_of_coverage_is_that_of_a_large_file():
    for law in coverage.LAWS.values():
        x, w = (each[0] for each in law(np.random.default_rng(1), 1, 200_000))
        places = law.quantile([0.03, 0.29, 0.5, 0.92])

        assert (law.cdf(places) >= np.array([0.03, 0.29, 0.5, 0.92]) - 1e-9).all()
        assert abs(x.mean() - law.mean()) < 6.0 * law.std() / x.size**0.5  # 2 in 10^9
        assert abs(x.std() / law.std() - 1.0) < 0.03  # t_4, the roughest: 1% of 200,000 draws
        assert abs(np.corrcoef(x, w)[0, 1] - coverage.CORRELATION) < 0.03


def test_a_row_of_limits(capsys):
    limits.alone("grid", "estimate summary", 1_000)

    assert len(capsys.readouterr().out.split()) == 2
    assert "   * - scheme.mask" in limits.table({"scheme.mask": [[1.0, 0.1], [9.0, 0.2]]})
