"""``condmask info`` lists the schemes in a file.

Oracle: the API on the same file.
"""

import numpy as np
import pandas as pd
import pytest
from command_line import answer

import condmask as cm
from condmask.releases.release import read_schemes

pytestmark = pytest.mark.usefixtures("unaudited")


def test_info_shows_rows_columns_and_schemes(run, masked):
    schemes = read_schemes(masked)
    columns = ["income", "bonus", "age", "educ", "gaps", "region"]

    assert answer(run("info", masked, "--json")) == {
        "rows": 2000, "columns": columns, "schemes": {name: s.to_dict() for name, s in schemes.items()}
    }  # fmt: skip
    code, out, err = run("info", masked)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "2,000 rows, 6 columns, 2 masked",
        f"income  {schemes['income']!r}",
        f"bonus   {schemes['bonus']!r}",
        "not masked: age, educ, gaps, region",
    ]


def test_info_says_how_much_more_undone_columns_vary(run, tmp_path):
    x = np.random.default_rng(1).normal(100.0, 15.0, 3000).round(1)
    pd.DataFrame({"x": x}).to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 5.0, reverse_mapping=True, aggregate_ends=3)
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"x": scheme})

    expected = cm.read_release(tmp_path / "b.parquet", "x").N
    assert answer(run("info", tmp_path / "b.parquet", "--json"))["N"] == {"x": expected}
    _, out, _ = run("info", tmp_path / "b.parquet")
    assert f"varies {expected:.2f} times as much as without noise" in out


def test_info_says_by_what_quantiles_are_available(run, source, masked, tmp_path):
    scheme = cm.ConditionalMasking(0.6, 400.0, strata="region")
    cm.mask_file(source, tmp_path / "b.parquet", {"income": scheme}, log=False)

    said = "quantiles are available by region, too: condmask estimate --group"
    assert said in run("info", tmp_path / "b.parquet")[1].splitlines()
    assert "quantiles are available" not in run("info", masked)[1]
