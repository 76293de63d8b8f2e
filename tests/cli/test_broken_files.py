"""Files that are cut, changed or something else are refused in one line, in CSV, Parquet and recipes."""

import numpy as np
import pandas as pd
import pytest
from command_line import MASK
from hostile import broken

pytestmark = pytest.mark.usefixtures("unaudited")

RECIPE = 'source = "a.csv"\ntarget = "c.csv"\nlog = false\n[columns.income]\np = 0.6\nsigma = 300.0\n'
COMMANDS = {
    "a.csv": ("audit", "a.csv", "-c", "income", *MASK, "--strata", "town"),
    "a.parquet": ("audit", "a.parquet", "-c", "income", *MASK, "--strata", "town"),
    "b.csv": ("estimate", "b.csv", "--quantile", ".5"),
    "b.csv.condmask.json": ("info", "b.csv"),
    "recipe.toml": ("run", "recipe.toml", "--dry-run"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_broken_file_is_one_line(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(8)
    frame = pd.DataFrame({"income": random.lognormal(8, 0.5, 200).round(), "town": ["a", "b"] * 100})
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    assert run("mask", "a.csv", "b.csv", "-c", "income", *MASK, "--accept-visible-coins")[0] == 0
    content, refused = (tmp_path / name).read_bytes(), 0

    for k in range(40):
        (tmp_path / name).write_bytes(broken(content, np.random.default_rng([8, k])))
        code, _, err = run(*COMMANDS[name])
        lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
        assert code in (0, 1, 2), err
        assert len(lines) == (code != 0), err
        refused += code != 0
    assert refused >= 10
