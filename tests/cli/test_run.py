"""``condmask run``: a plan, carried out by the API."""

import pandas as pd
import pytest
from command_line import answer

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html

PLAN = """
source = "original.parquet"
target = "released.parquet"
[columns.income]
p = 0.6
sigma = 400.0
[report]
public = "public.html"
"""


@pytest.fixture
def plan(source, monkeypatch):
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))
    pd.read_parquet(source, columns=["income", "age"]).to_parquet(source)
    path = source.parent / "plan.toml"
    path.write_text(PLAN)
    return path


def test_a_plan_is_carried_out(run, plan):
    folder = plan.parent

    code, text, err = run("run", plan, "--dry-run")
    assert (code, err) == (0, "")
    assert text.endswith("nothing was written\n")
    assert not (folder / "released.parquet").exists()
    code, text, err = run("run", plan)
    assert (code, err) == (0, "")
    assert text.splitlines()[0] == f"masked values in {folder / 'released.parquet'}"
    assert text.splitlines()[-1] == f"report in {folder / 'public.html'}"
    code, _, err = run("run", plan)
    assert (code, err.count("\n")) == (1, 1)
    assert "released.parquet exists; it is replaced only with --force" in err
    found = answer(run("run", plan, "--force", "--json"))
    assert found["target"] == str(folder / "released.parquet")
    assert found["reports"] == [str(folder / "public.html")]
    assert found["schemes"]["income"] == cm.read_schemes(folder / "released.parquet")["income"].to_dict()


def test_a_wrong_plan_is_refused_in_one_sentence(run, plan):
    plan.write_text(PLAN + "where = 1")

    code, _, err = run("run", plan)
    assert code == 1
    assert err == f"condmask: error: {plan}: report may have internal, public, within, got 'where'\n"
