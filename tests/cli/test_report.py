"""``condmask report``: the API's report of a release."""

import pandas as pd
import pytest
from command_line import answer

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Without the picture that takes long."""
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))


@pytest.fixture
def release(source, tmp_path):
    pd.read_parquet(source, columns=["income", "age"]).to_parquet(source)
    cm.mask_file(source, tmp_path / "masked.parquet", {"income": cm.ConditionalMasking(0.6, 400.0)}, rng=3)
    return tmp_path / "masked.parquet"


def test_both_reports(run, source, release, tmp_path):
    out = tmp_path / "report.html"

    code, text, err = run("report", release, out, "--original", source, "--within", "100", "--within", "200")
    assert (code, err) == (0, "")
    assert text == f"internal report in {out}: do not publish it\n"
    cm.report(source, release, tmp_path / "own.html", d=[100, 200])
    assert out.read_bytes() == (tmp_path / "own.html").read_bytes()
    code, _, err = run("report", release, out, "--public")
    assert (code, err) == (1, f"condmask: error: {out} exists; it is replaced only with --force\n")
    found = answer(run("report", release, out, "--public", "--force", "--json", "--units", "income=euros"))
    assert found == {"report": str(out), "kind": "public"}
    cm.report(None, release, tmp_path / "own.html", public=True, force=True, units={"income": "euros"})
    assert out.read_bytes() == (tmp_path / "own.html").read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("a.html", "--public", "--within", "-1"), 2, "--within must"),
        (("a.html", "--public", "--workers", "0"), 2, "--workers must"),
        (("a.html", "--public", "--units", "euros"), 2, "--units must be NAME=UNIT, got 'euros'"),
        (("a.html",), 2, "--original must be given, or --public, which does without it"),
        (("a.html", "--public", "--original", "a.csv"), 2, "--original must be left out with --public"),
        (("a.txt", "--public"), 1, "must end in one of .html, .htm, got a.txt"),
        (("a.html", "--public"), 1, "none.parquet: no such file or directory"),
    ],
)
def test_refused(run, options, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, _, err = run("report", "none.parquet", *options)

    assert found == code
    assert message in err
    assert len(err.strip().splitlines()) == 1
