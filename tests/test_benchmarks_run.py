"""Every benchmark runs once, at its first and smallest parameters."""

import importlib
import inspect
import itertools
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import condmask as cm

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
            elif hasattr(thing, "params") and thing.__module__ == module.__name__:
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
        "estimate": 3,
        "grid": 8,
        "kernels": 4,
        "mask": 2,
        "startup": 4,
        "study": 2,
    }


def test_limits_are_measured_of_every_call_that_takes_records():
    from benchmarks import limits

    kinds = (type, type(cm))  # results, errors and modules
    calls = {name.partition(",")[0] for name in limits.CALLS}
    public = {name for name in cm.__all__ if not isinstance(getattr(cm, name), kinds)}
    methods = {f"Estimate.{name}" for name, method in vars_of(cm.Estimate)}
    small = {"paper_population", "read_schemes"}  # no records, or the calls of others
    alike = {"mean", "std", "variance", "covariance", "correlation", "expectation", "gini", "lorenz"}
    alike |= {"median", "median_interval", "mean_interval", "std_interval", "interquartile_range"}
    alike |= {"bandwidth", "of_release", "N"}

    assert public - small <= calls
    assert methods - {f"Estimate.{name}" for name in alike} <= calls


def vars_of(cls):
    return [
        (name, method)
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    ]


def test_the_table_of_limits_marks_what_is_beyond_them():
    from benchmarks import limits

    def cell(name, memory, answer):
        return {"name": name, "memory": memory, "seconds": [1.0, 2.0], "answer": answer}

    fine = 255.0 + 64.0 * limits.SIZES[1] / 2.0**20
    text = limits.table([cell("risk", [9.0, fine], [0.9, 5.0]), cell("audit", [9.0, fine + 2.0], [1.5, 1.4])])

    risk, audit = text.split("   * - ")[2:]
    assert risk.endswith("0.9\n     -\n")
    assert audit.rstrip().endswith("1.4\n     - memory, Ctrl-C")


@pytest.mark.parametrize(("run", "parameters", "setup"), [pytest.param(*c[1:], id=c[0]) for c in found()])
def test_it_runs(run, parameters, setup):
    if setup is not None:
        setup(*parameters)
    result = run(*parameters)
    if run.__name__.startswith("timeraw_"):
        exec(textwrap.dedent(result), {})


# --- tables in the documentation, which take hours ---


def test_the_table_of_coverage_is_made_from_cells():
    from benchmarks import coverage

    quick = [cell for cell in coverage.cells() if cell[-2:] == (0.6, 200)][:1]
    quick += [cell for cell in coverage.cells() if cell[1] in coverage.OTHERS and cell[4] == 0.6][:4]
    text = coverage.table([coverage.run(cell, 2, 1) for cell in quick])

    assert len(coverage.cells()) == len({name for name, *_ in coverage.cells()}) == 284
    for cell in quick:
        assert f'   "{cell[0]}", "2", ' in text
    for group in coverage.GROUPS:
        assert f', "{group}", ' in text


@pytest.mark.parametrize(
    ("cell", "group", "shares", "letter"),
    [
        ("normal-normal-sample-0.6-2000", "mean", (0.941, 0.959), ""),
        ("normal-normal-sample-0.6-2000", "mean", (0.934, 0.95), "x"),
        ("normal-normal-sample-0.6-2000", "mean", (0.93, 0.95), "?"),
        ("zeros-normal-sample-0.6-2000", "quantiles", (0.97, 0.97), "b"),
        ("zeros-normal-sample-0.6-2000", "quantiles", (0.97, 0.92), "?"),
        ("normal-normal-reverse-0.6-2000", "mean", (0.95, 1.0), "a"),
        ("normal-normal-reverse-0.6-200", "quantiles", (0.97, 1.0), "ac"),
        ("zeros-normal-reverse-0.6-2000", "correlation", (0.95, 0.93), "d"),
        ("t4-laplace-sample-0.6-2000", "standard deviation", (0.91, 0.93), "d"),
        ("t4-laplace-sample-0.6-2000", "standard deviation", (0.98, 0.95), "?"),
    ],
)
def test_shares_that_are_far_off_are_explained_where_they_are_known_to_be(cell, group, shares, letter):
    from benchmarks import coverage

    (known,) = (each for each in coverage.cells() if each[0] == cell)
    assert coverage.why(known, group, shares) == letter


def test_the_table_in_the_documentation_explains_what_is_far_off():
    from benchmarks import coverage

    lines = (Path(coverage.__file__).parents[1] / "docs/measured/coverage.rst").read_text().splitlines()
    assert not [line for line in lines if line.endswith('?"')]


@pytest.mark.slow
def test_the_table_of_bands_is_made_from_cells():
    from benchmarks import bands

    names = [name for name, *_ in bands.cells()]
    chosen = [cell for cell in bands.cells() if cell[0] in ("normal-sample-0.6", "mixture-reverse-0.6")]
    found = [bands.run(cell, 2, 1) for cell in chosen]

    assert len(names) == len(set(names)) == 30
    for result in found:
        assert set(result["counted"]) == set(bands.HEADS)
        assert all(0 <= count <= 2 for count in result["counted"].values())
    assert found[1]["counted"]["file"] == 2  # which is known
    assert bands.scheme_of(0.6, "reverse").reverse_mapping
    text = bands.table(found)
    assert "   * - normal-sample-0.6\n" in text
    assert "   * - mixture-reverse-0.6\n" in text


def test_the_table_of_rearranging_is_made_from_cells():
    from benchmarks import rearranging

    ratios = rearranging.run(("laplace", 0.5, 100), 60, 1)
    cells = [(data, p, n) for data in rearranging.PLAIN for p in rearranging.PS for n in rearranging.SIZES]
    text = rearranging.table(dict.fromkeys(cells, ratios), 60)

    assert 0.6 < ratios["ends"][0] < 1.0  # .85 with a standard error of .05
    assert text.count("   * - ends") == 2 * len(rearranging.SIZES)


def test_the_table_at_equal_risk_is_made_from_columns(monkeypatch):
    from benchmarks import equal_risk
    from condmask.studies import attacker

    monkeypatch.setattr(attacker, "RECORDS", 10_000)
    w = np.random.default_rng(1).normal(size=300)
    x = np.exp(0.3 * w + 0.5 * np.random.default_rng(2).normal(size=300))
    found = equal_risk.run(x, w, 10, 1)
    text = equal_risk.table({"amounts": found}, 10)

    exact = {row["method"] for row in found if row["deciles"] == 0.0}
    assert exact > {
        "reverse mapping",
        "reverse mapping, p = 0.3",
        "reverse mapping, p = 0.1",
        "rank swapping",
    }
    assert text.count("   * - amounts\n") == len(found) == 10
    assert {name for name, _ in equal_risk.columns().items()} == {
        "weekly earnings",
        "weekly incomes",
        "net assets",
    }


def test_the_table_of_mended_intervals_has_what_they_were():
    from benchmarks import faults

    name = "normal-file-quantiles-sample-0.3-200"
    found = faults.run((name,), 2, 1)

    assert set(faults.BEFORE) == set(faults.CELLS) == {name for (name,) in faults.cells()}
    assert f"   * - {name}\n     - 2\n     - quantile 0.05\n     - .996\n" in faults.table([found])
    for law in faults.LAWS.values():  # quantiles belong to the distribution function, moments to the draws
        places = np.asarray(law.ppf((0.03, 0.29, 0.5, 0.92)))
        assert (np.asarray(law.cdf(places)) >= np.array([0.03, 0.29, 0.5, 0.92]) - 1e-9).all()
        assert (np.asarray(law.cdf(places - 1e-6)) <= np.array([0.03, 0.29, 0.5, 0.92]) + 1e-9).all()
        x = np.asarray(law.rvs(20_000, np.random.default_rng(1)))
        assert abs(x.mean() - law.mean()) < 5.0 * law.std() / 20_000**0.5  # 6 in 10^7
        assert abs(x.std() / law.std() - 1.0) < 0.05  # t_4, the roughest: 2% of 20,000 draws


def test_the_table_of_mended_linear_intervals_has_what_they_were():
    from benchmarks import faults_linear as faults

    names = ("groups-normal-0.6-200", "correlation-normal-0.6-0.9-150", "shares-0.05-200", "tails-t4-0.6-150")
    text = faults.table([faults.run((name,), 2, 1) for name in names])

    assert set(faults.BEFORE) == {name for name in faults.CELLS if not name.startswith("tails")}
    for name in names:
        assert f"   * - {name}\n     - 2\n     - {faults.CELLS[name][0][0]}\n" in text
    assert "     - holds its estimate\n     - .627\n" in text


def test_the_tables_of_reverse_mapping_have_shares_and_the_largest_bias(monkeypatch):
    from benchmarks import reverse_linear as study

    monkeypatch.setattr(study, "true", lambda data: np.zeros(len(study.STATISTICS)))
    cells = [cell for cell in study.cells() if cell[0] in ("coverage-log-0.6-200", "bias-ties-0.3-50")]
    found = [study.run(cell, 2, 1) for cell in cells]

    text = study.table(found)

    assert "   * - log 0.6 200\n     - 0." in text
    assert f"   * - ties\n     - {max(map(abs, found[1]['found'])):.3f}\n" in text


def test_the_table_of_linear_coverage_has_light_and_heavy_tails_apart():
    from benchmarks import linear_coverage as study

    cells = [cell for cell in study.cells() if cell[0].endswith("-sample-0.3-200")]
    found = [study.run(cell, 2, 1) for cell in cells]
    for each, share in zip(found, (0.5, 0.25, 0.75, 0.125), strict=True):
        each["found"] = np.full_like(each["found"], share)

    assert len(study.cells()) == 24
    assert [each["replications"] for each in found] == [2] * 4
    assert study.run(("x", "normal", "sample", 0.3, 2_000), 10, 1)["replications"] == 3
    assert study.table(found).count("     - .500 (.250-.750); .125 (.125-.125)\n") == 2 * len(
        study.STATISTICS
    )


def test_the_population_of_linear_coverage_is_that_of_a_large_file():
    from benchmarks import linear_coverage as study

    for name in ("normal", "lognormal"):
        law = study.LAWS[name]
        large = study.of_file(*study.drawn(law, np.random.default_rng(1), 1_000_000))
        # seven standard errors of a million records, at most .0015 of any of these
        np.testing.assert_allclose(study.of_population(law), large, rtol=0.0, atol=0.02)


def test_the_table_of_heavy_tails_has_the_extremes_over_p():
    from benchmarks import heavy_tails as study

    warned, above = study.run("pareto3", 150, 0.6, "permutation", 100, 1)
    cells = itertools.product(study.NAMES, study.SIZES, study.PS, study.DONORS)
    text = study.table({cell: (cell[2], 1.0) for cell in cells}, 100)

    assert 0.5 < warned < above  # .8 with a standard error of .04
    assert study.run("normal", 150, 0.6, "sample", 20, 1) == (0.0, 0.0)
    assert text.count("     - 0.30-0.80\n") == text.count("     - 1.00\n") == 10
