"""``condmask plan``: the API's plan of a column of a file."""

import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import MASK, answer

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

PLAN = ("-c", "income", "--p", "0.3", "--p", "0.6", "--sigma", "300", "--sigma", "900")


def test_a_plan_of_a_file(run, source, tmp_path):
    options = (
        *PLAN,
        "--max-risk",
        "200=0.5",
        "--other",
        "educ",
        "--max-error",
        "mean=60",
        "--max-error",
        "median=90",
    )
    found = answer(run("plan", source, *options, "--json", "--plot", tmp_path / "a.png"))

    x, w = cm.read_column(source, "income"), cm.read_column(source, "educ")
    made = cm.plan(
        x, max_risk={200.0: 0.5}, max_error={"mean": 60.0, "median": 90.0}, other=w,
        p=[0.3, 0.6], sigma=[300.0, 900.0],
    )  # fmt: skip
    assert found == made.to_dict()
    assert (tmp_path / "a.png").stat().st_size > 10_000
    code, text, err = run("plan", source, *options, "--all", "--check", "20")
    assert (code, err) == (0, "")
    assert "most useful" in text
    assert "20 releases: ratios are known to" in text
    assert "frontier" not in text.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (("--reverse-mapping", "--scale", "log"), {"reverse_mapping": True, "scale": "log"}),
        (("--no-reverse-mapping",), {"reverse_mapping": False}),
    ],
)
def test_a_plan_of_one_kind_with_a_cap_on_records(run, source, options, asked):
    command = (
        "plan",
        source,
        "-c",
        "income",
        "--p",
        "0.6",
        "--sigma",
        "0.9",
        "--max-record-risk",
        "200=0.99",
    )
    found = answer(run(*command, *options, "--json"))

    x = cm.read_column(source, "income")
    assert found == cm.plan(x, max_record_risk={200.0: 0.99}, p=[0.6], sigma=[0.9], **asked).to_dict()
    assert found["max_record_risk"] == {"200": 0.99}


def test_codes_are_no_incomes_when_planning(run, source, tmp_path):
    frame = pd.read_parquet(source)
    plain = np.where(np.arange(len(frame)) % 9 == 0, np.nan, frame["income"])
    frame["income"] = np.nan_to_num(plain, nan=-9999.0)
    frame.to_csv(tmp_path / "a.csv", index=False)

    found = answer(run("plan", tmp_path / "a.csv", *PLAN, "--within", "200", "--missing", "-9999", "--json"))
    made = cm.plan(frame["income"], d=200.0, p=[0.3, 0.6], sigma=[300.0, 900.0], missing=-9999)
    assert found == made.to_dict()
    assert (
        found["schemes"] == cm.plan(plain, d=200.0, p=[0.3, 0.6], sigma=[300.0, 900.0]).to_dict()["schemes"]
    )


def test_suggestions_are_printed_as_commands_that_mask(run, tmp_path):
    random = np.random.default_rng(4)
    income = random.lognormal(8.0, 0.4, 1_500).round(-1)
    income[::40] = -8.0
    frame = pd.DataFrame({"my income": income, "region": random.choice(["a", "b"], 1_500)})
    frame.loc[3::70, "my income"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";")
    options = (
        "--p",
        "0.4",
        "--p",
        "0.6",
        "--sigma",
        "400",
        "--sigma",
        "900",
        "--within",
        "200",
        "--strata",
        "region",
    )
    command = ("plan", tmp_path / "a.csv", "-c", "my income", *options, "--delimiter", ";", "--decimal", ".")

    code, _, err = run(*command)
    assert code == 1
    assert "--missing must say whether -8 in my income (38 records, " in err
    assert "; pass --missing -8 if so, --no-missing if not" in err
    code, text, err = run(*command, "--missing", "-8")
    assert (code, err) == (0, "")
    lines = [line for line in text.splitlines() if line.startswith("condmask mask ")]
    assert 1 <= len(lines) <= 3
    for k, line in enumerate(lines):
        words = shlex.split(line)
        words[words.index("OUT")] = str(tmp_path / f"{k}.csv")
        code, _, err = run(*words[1:], "--no-log")
        assert code == 0, err
        assert (
            cm.read_release(tmp_path / f"{k}.csv")["my income"].n
            == 1_500 - frame["my income"].isna().sum() - 38
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-record-risk", "x=.5"), "--max-record-risk must be of the form DISTANCE=RISK, got 'x'"),
        (("--max-risk", "x=.5"), "--max-risk must be of the form DISTANCE=RISK, got 'x'"),
        (("--max-risk", "25=x"), "--max-risk must be of the form NAME=NUMBER, got '25=x'"),
        (("--within", "1", "--plot", "a.doc"), "--plot must end in one of"),
        (("--within", "1", "--check", "1"), "--check must be a whole number of at least 10"),
    ],
)
def test_wrong_usage_of_plan(run, options, message):
    code, _, err = run("plan", "none.csv", *PLAN, *options)

    assert code == 2
    assert message in err


def test_the_column_and_the_options_are_named(run, source):
    for options, said in (
        (("--max-risk", "200=0.01"), "--max-risk at d=200 must be at least"),
        (
            ("--max-risk", "200=0.5", "--max-error", "mean=0.1"),
            "--max-risk and --max-record-risk and --max-error must be",
        ),
    ):
        code, _, err = run("plan", source, *PLAN, *options)
        assert code == 1
        assert err.startswith(f"condmask: error: {said}")
    frame = pd.read_parquet(source).assign(income="a")
    frame.to_parquet(source)
    for command in (("plan", source, *PLAN), ("risk", source, "-c", "income", *MASK)):
        assert "error: income must be numeric" in run(*command, "--within", "9")[2]


def test_a_plan_needs_no_more_than_a_column(run, source):
    found = answer(run("plan", source, "-c", "income", "--p", ".6", "--sigma", "500", "--json"))
    spread = cm.read_column(source, "income").std()
    assert found["d"] == [float(f"{spread / 4:.0e}")]


def test_without_caps_the_safest_comes_first(run, source):
    plan = ("plan", source, "-c", "income", "--p", ".3", "--p", ".6", "--sigma", "300", "--sigma", "900")
    code, printed, _ = run(*plan)
    names = ["\nmost useful:\n", "\nsafest:\n"]
    assert code == 0
    assert "No risk was capped" in printed
    assert printed.index(names[0]) > printed.index(names[1])
    code, printed, _ = run(*plan, "--max-risk", "200=.9")
    assert printed.index(names[0]) < printed.index(names[1])
