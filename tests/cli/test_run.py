"""``condmask run``: a recipe, carried out by the API."""

import json

import pandas as pd
import pytest

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html

RECIPE = """
source = "original.parquet"
target = "released.parquet"
[columns.income]
p = 0.6
sigma = 400.0
[report]
public = "public.html"
"""


@pytest.fixture
def recipe(source, monkeypatch):
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))
    pd.read_parquet(source, columns=["income", "age"]).to_parquet(source)
    path = source.parent / "recipe.toml"
    path.write_text(RECIPE)
    return path


def test_a_recipe_is_carried_out(run, recipe):
    folder = recipe.parent

    code, text, err = run("run", recipe, "--dry-run")
    assert (code, err) == (0, "")
    assert text.endswith("nothing was written\n")
    assert not (folder / "released.parquet").exists()
    code, text, err = run("run", recipe)
    assert (code, err) == (0, "")
    assert text.splitlines()[0] == f"masked values in {folder / 'released.parquet'}"
    assert text.splitlines()[-1] == f"report in {folder / 'public.html'}"
    code, _, err = run("run", recipe)
    assert (code, err.count("\n")) == (1, 1)
    assert "released.parquet exists; it is replaced only with --force" in err
    code, _, err = run("run", recipe, "--force")
    assert (code, err.count("\n")) == (1, 1)
    assert "the same values are in" in err
    code, text, err = run("run", recipe, "--force", "--json", "--again")
    assert (code, err) == (0, "")
    found = json.loads(text)
    assert found["target"] == str(folder / "released.parquet")
    assert found["reports"] == [str(folder / "public.html")]
    assert found["schemes"]["income"] == cm.read_schemes(folder / "released.parquet")["income"].to_dict()


def test_a_wrong_recipe_is_refused_in_one_sentence(run, recipe):
    recipe.write_text(RECIPE + "where = 1")

    code, _, err = run("run", recipe)
    assert code == 1
    assert err == f"condmask: error: {recipe}: report may have internal, public, within, units, got 'where'\n"
