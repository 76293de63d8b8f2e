"""Refusals are settled step by step, and one printed command line passes.

Oracle: the release made by the settings, or by the command line pasted into the shell, passes.
"""

import shlex

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
N = 600


def wages(rng, n=N):
    return rng.lognormal(7.5, 0.5, n).round()


def with_gaps(rng):
    table = pd.DataFrame({"wage": wages(rng), "bonus": wages(rng), "age": rng.integers(18, 80, N)})
    table.loc[rng.choice(N, 15, replace=False), "bonus"] = np.nan
    return table, ["wage", "bonus"]


def with_names(rng):
    names = [f"P{7 * k}" for k in rng.permutation(N)]
    return pd.DataFrame({"person": names, "wage": wages(rng)}), ["wage"]


def in_order(rng):
    return pd.DataFrame({"wage": np.sort(wages(rng)), "age": rng.integers(18, 80, N)}), ["wage"]


def with_total(rng):
    table = pd.DataFrame({"wage": wages(rng), "bonus": wages(rng)})
    return table.assign(total=table["wage"] + table["bonus"]), ["wage"]


def with_copy(rng):
    return pd.DataFrame({"wage": wages(rng)}).assign(euros=lambda t: 2 * t["wage"]), ["wage"]


def with_codes(rng):
    wage = wages(rng)
    wage[rng.choice(N, 60, replace=False)] = -9.0
    return pd.DataFrame({"wage": wage, "age": rng.integers(18, 80, N)}), ["wage"]


def with_all(rng):
    table, names = with_gaps(rng)
    table["person"] = [f"P{7 * k}" for k in range(N)]
    table["total"] = table["wage"] * 1.5
    return table.sort_values("wage", ignore_index=True), names


TABLES = [with_gaps, with_names, in_order, with_total, with_copy, with_codes, with_all]
STEPS = {
    "with_gaps": ["records with rare gaps left out"],
    "with_names": ["'person' not released"],
    "in_order": ["rows in a new order, which nobody can undo"],
    "with_total": ["'total' not released"],
    "with_copy": ["'euros' not released"],
    "with_codes": ["-9 taken for missing values"],
    "with_all": [
        "records with rare gaps left out",
        "rows in a new order, which nobody can undo",
        "'person' not released",
        "'total' not released",
    ],
}


@pytest.fixture(params=TABLES, ids=lambda table: table.__name__)
def case(request):
    return request.param.__name__, *request.param(np.random.default_rng(3))


@pytest.fixture
def shell(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(line):
        words = shlex.split(line)
        assert words[0] == "condmask"
        code = main(words[1:])
        return code, *capsys.readouterr()

    return run


def test_a_table_is_refused_and_settled_by_the_changes_that_messages_name(case):
    name, table, columns = case

    release = cm.mask_table(table, columns, fix=True)

    assert [*release.steps] == STEPS[name]
    dropped = {step.split("'")[1] for step in release.steps if "not released" in step}
    assert {*release.data} == {*table} - dropped
    assert len(release.data) == release.records


def test_check_prints_a_command_that_passes_and_writes_nothing(case, shell, tmp_path):
    _, table, columns = case
    table.to_csv("of people.csv", index=False)
    there = sorted(tmp_path.iterdir())

    masked = " ".join(f"-c {name}" for name in columns)
    code, out, err = shell(f"condmask check 'of people.csv' {masked} --log log")

    assert code in (0, 3), err
    assert sorted(tmp_path.iterdir()) == there
    command = out.splitlines()[-1]
    assert command.startswith("condmask mask 'of people.csv' 'of people-masked.csv' -c ")
    assert shell(command)[0] in (0, 3)
    assert (tmp_path / "of people-masked.csv").exists()


def test_mask_says_each_change_and_keeps_it_with_the_release(shell, tmp_path):
    table, _ = with_all(np.random.default_rng(3))
    table.to_parquet("a.parquet")

    code, _, err = shell(
        "condmask mask a.parquet b.parquet -c wage -c bonus --fix --drop age --no-log"
    )

    assert code == 3, err
    released = pd.read_parquet("b.parquet")
    assert [*released] == ["wage", "bonus"]
    steps = cm.read_release("b.parquet").steps
    assert [*steps] == STEPS["with_all"]
    assert all(f"settled: {step}" in err for step in steps)
    assert "15 of 600 records were left out" in err
    assert len(released) == 585


def test_schemes_of_the_publisher_are_settled_too():
    rng = np.random.default_rng(1)
    wage = np.append(wages(rng), 40_000.0)  # which would come back
    table = {"wage": wage, "tax": 5.0 * wage}
    scheme = cm.ReverseMapping(0.6, 0.1, scale="log")
    with pytest.raises(cm.ReleaseError, match="C7 wage"):
        cm.mask_table(table, {"wage": scheme})

    release = cm.mask_table(table, {"wage": scheme}, fix=True)

    assert [*release.data] == ["wage"]
    assert release.schemes["wage"].aggregate_ends >= 3
    assert release.steps[0].startswith("wage masked by ReverseMapping(p=0.6")


def test_what_only_people_can_decide_is_refused_still(shell, tmp_path):
    pd.DataFrame({"wage": wages(np.random.default_rng(1), 30)}).to_parquet("a.parquet")
    code, _, err = shell("condmask mask a.parquet b.parquet -c wage --fix --no-log")
    assert code == 1
    assert "C6 a donor pool has 30 records" in err
    with pytest.raises(cm.CondmaskError, match="drop must be columns that are neither masked"):
        cm.mask_table({"a": [1.0, 2.0], "b": [1, 2]}, ["a"], drop="a")
    with pytest.raises(cm.CondmaskError, match=r"no column 'x'"):
        cm.mask_file("a.parquet", "b.parquet", ["wage"], drop="x", log=False)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dropped_columns_are_nowhere_in_the_release(suffix, tmp_path):
    table, _ = with_names(np.random.default_rng(2))
    source = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        table.to_csv(source, index=False)
    else:
        table.to_parquet(source)
    target = tmp_path / f"b.{suffix}"

    cm.mask_file(source, target, ["wage"], drop=["person"], log=False)

    assert b"person" not in target.read_bytes()
    assert cm.read_release(target)["wage"].mean() == pytest.approx(table["wage"].mean(), rel=0.02)


def test_a_warning_names_the_column_that_tells_most():
    rng = np.random.default_rng(4)
    wage = rng.normal(3_000.0, 500.0, 1_500).round()
    level = (wage + rng.normal(0.0, 70.0, wage.size)).round()
    table = {"wage": wage, "age": rng.integers(18, 80, wage.size), "level": level}

    audit = cm.audit(table, {"wage": cm.ReverseMapping(0.6, 150.0)})

    (finding,) = (each for each in audit.findings if each.code == "C12")
    assert finding.remedy == "coarsen or drop level"
