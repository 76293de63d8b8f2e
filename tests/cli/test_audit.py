"""``condmask audit``, and what ``condmask mask`` refuses."""

import json
import shlex

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_whole_numbers_that_the_default_step_would_show_are_refused(run, source, tmp_path, suffix):
    if suffix == ".csv":
        pq.read_table(source).to_pandas().to_csv(source.with_suffix(".csv"), index=False)
    target = tmp_path / f"out{suffix}"
    command = ("mask", source.with_suffix(suffix), target, "-c", "age", "--p", "0.6", "--sigma", "5")

    code, _, err = run(*command)

    assert (code, target.exists()) == (1, False)
    (line,) = err.splitlines()
    assert "pass --step 1;" in line
    assert "--accept-visible-coins" in line
    assert run(*command, "--accept-visible-coins")[0] == 0


def test_the_audit_tells_figures_causes_and_a_proposal(run, source):
    command = ("audit", source, "-c", "educ", "--p", "0.6", "--sigma", "2", "--decimals", "1")
    code, out, _ = run(*command)

    assert code == 0
    assert "guessed right" in out
    assert "proposal" in out
    found = json.loads(run(*command, "--json")[1])
    assert found["visible"]
    assert found["guessed"] > 0.85
    assert found["causes"][0]["name"] == "grid"


def test_an_audit_takes_strata_and_several_columns(run, source):
    options = ("--p", "0.6", "--sigma", "300", "--strata", "region")

    found = json.loads(run("audit", source, "-c", "income", "-c", "bonus", *options, "--json")[1])

    assert set(found["schemes"]) == {"income", "bonus"}
    assert found["schemes"]["income"]["strata"] == "region"


def test_a_column_that_is_not_there_is_one_sentence(run, source):
    code, _, err = run("audit", source, "-c", "wage", "--p", "0.6", "--sigma", "300")

    assert code == 1
    assert "no column 'wage'" in err


def test_an_audit_prints_commands_that_release(run, source, tmp_path):
    frame = pd.read_parquet(source)
    frame["income"] = np.where(frame.index % 5 > 0, frame["income"].round(-2), frame["income"].round(0))
    frame.to_csv(tmp_path / "rounded.csv", index=False)
    options = ("-c", "income", "--p", "0.6", "--sigma", "500", "--decimals", "0")
    out = run("audit", tmp_path / "rounded.csv", *options)[1]

    first, second = (shlex.split(line)[1:] for line in out.splitlines() if line.startswith("condmask mask"))

    assert "--reverse-mapping" in first
    assert "--step" in second
    first[first.index("OUT")] = str(tmp_path / "released.csv")
    assert run(*first)[0] == 0


def test_commands_have_the_donors_of_the_proposal(run, tmp_path):
    income = np.random.default_rng(1).lognormal(8.0, 0.5, 3_000).round(-1)
    pd.DataFrame({"income": income}).to_csv(tmp_path / "rounded.csv", index=False)
    options = ("-c", "income", "--p", "0.6", "--sigma", "500", "--decimals", "0", "--donors", "sample")

    out = run("audit", tmp_path / "rounded.csv", *options)[1]

    assert "pass --donors permutation" in out
    commands = [line for line in out.splitlines() if line.startswith("condmask mask")]
    assert commands
    assert not any("sample" in each for each in commands)


def test_a_thorough_audit_says_what_a_trained_attacker_reaches(run, source):
    command = ("audit", source, "-c", "educ", "--p", "0.6", "--sigma", "2", "--decimals", "1")
    plain, found = (json.loads(run(*command, *more, "--json")[1]) for more in ((), ("--thorough",)))

    assert "trained" not in plain
    assert found["trained"] > 0.85
    assert found["guessed"] == max(plain["guessed"], found["trained"])
