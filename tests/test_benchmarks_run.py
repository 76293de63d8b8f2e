"""Every benchmark runs once, at its first and smallest parameters."""

import importlib
import inspect
import textwrap
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
PREFIXES = ("time_", "timeraw_", "peakmem_", "track_")


def found():
    """(name, method or function, its first parameters, setup)."""
    cases = []
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem in ("__init__", "data"):
            continue
        module = importlib.import_module(f"benchmarks.{path.stem}")
        for name, thing in vars(module).items():
            if name.startswith(PREFIXES):
                cases.append((f"{path.stem}.{name}", thing, (), None))
            elif inspect.isclass(thing) and thing.__module__ == module.__name__:
                suite = thing()
                first = tuple(values[0] for values in suite.params)
                cases += [
                    (
                        f"{path.stem}.{name}.{method}",
                        getattr(suite, method),
                        first,
                        getattr(suite, "setup", None),
                    )
                    for method in vars(thing)
                    if method.startswith(PREFIXES)
                ]
    return cases


def test_all_are_found():
    modules = Counter(name.split(".")[0] for name, *_ in found())

    assert modules == {
        "accuracy": 1,
        "estimate": 3,
        "grid": 9,
        "kernels": 5,
        "lattice": 6,
        "levels": 5,
        "mask": 2,
        "startup": 4,
        "study": 1,
    }


@pytest.mark.parametrize(("run", "parameters", "setup"), [pytest.param(*c[1:], id=c[0]) for c in found()])
def test_it_runs(run, parameters, setup):
    if setup is not None:
        setup(*parameters)
    result = run(*parameters)
    if run.__name__.startswith("timeraw_"):
        exec(textwrap.dedent(result), {})
