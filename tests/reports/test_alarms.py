"""What alarms mean. Oracle: the causes that the package has, and counts of the original."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from condmask.disclosure.audit_result import RAIL, RAIL_WARNING
from condmask.disclosure.causes import COMPUTED
from report_pages import cells

import condmask as cm
from condmask.reports.alarms import MEANING

NAMED_ELSEWHERE = {RAIL, RAIL_WARNING, COMPUTED}


def causes_of_the_source():
    """First arguments of Cause(...), and names that are returned with a remedy."""
    found = set()
    for path in Path(cm.__file__).parent.joinpath("disclosure").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cause":
                first = node.args[0]
                found |= {first.value} if isinstance(first, ast.Constant) else set()
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and "digit" in path.stem:
                first = node.value.elts[0]
                found |= {first.value} if isinstance(first, ast.Constant) else set()
    return found


def test_every_alarm_is_explained():
    assert causes_of_the_source() | NAMED_ELSEWHERE == set(MEANING)


@pytest.mark.usefixtures("undrawn", "unaudited")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_values_that_raise_an_alarm_are_printed_in_the_internal_report_alone(tmp_path):
    """A third of the records share one value; noise leads beyond the data."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random(1_500) < 0.3, 1234.0, rng.uniform(0.0, 3000.0, 1_500).round())
    x[0] = 2999.0
    pd.DataFrame({"x": x}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.5, 800.0, decimals=0)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"x": scheme}, rng=1, accept_visible_coins=True)
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=100, units={"x": "euros"})
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    count = np.count_nonzero(x == 1234)

    assert cells(page, "1,234\u00a0euros") == [[f"{count:,}", f"{count / x.size:.1%}"]]
    assert f"The originals lie between {x.min():,.0f}\u00a0euros and {x.max():,.0f}\u00a0euros" in page
    assert "<strong>What would help: </strong>" in page
    cm.report(None, tmp_path / "b.csv", tmp_path / "d.html", public=True)
    assert "The originals lie between" not in (tmp_path / "d.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn", "unaudited")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_rare_values_that_come_back_are_named(tmp_path):
    x = np.random.default_rng(4).normal(100.0, 10.0, 300).round(2)
    x[7] = 900.0
    pd.DataFrame({"x": x}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 3.0, reverse_mapping=True)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"x": scheme}, rng=1, accept_visible_coins=True)
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=2)

    assert cells((tmp_path / "c.html").read_text(encoding="utf-8"), "900")[0][0] == "8"


@pytest.mark.usefixtures("undrawn", "unaudited")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_what_is_below_the_limits_needs_no_action(tmp_path):
    """Sums with noise leave the range of the data, for too few records to refuse them."""
    x = np.random.default_rng(1).normal(0.0, 1000.0, 2_000)
    pd.DataFrame({"x": x}).to_csv(tmp_path / "a.csv", index=False)
    scheme = {"x": cm.ConditionalMasking(0.6, 1000.0, step=250.0)}
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", scheme, rng=1, round=True)
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=100)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert "may be published" in page
    assert "no action is needed" in page
    assert "What would help" not in page
