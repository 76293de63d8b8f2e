"""Whole reports: of every kind of column, the same again, and no browser asks anybody for anything.

Oracle: the bytes of reports, a search for links (leaks.py), a browser.
"""

import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import leaks
import numpy as np
import pandas as pd
import pytest
from report_pages import SCHEME, N, cells

import condmask as cm
from condmask._digits import number
from condmask.disclosure.risk_result import BEST
from condmask.reports.attacker_names import SHORT


def test_the_same_files_give_the_same_report(files, internal, public):
    folder, _ = files
    cm.report(folder / "people.parquet", folder / "released.parquet", folder / "again.html", d=[500, 250])
    assert (folder / "again.html").read_text(encoding="utf-8") == internal

    # nor does a public one depend on an original: it is not even opened
    cm.report(
        folder / "nowhere.csv",
        folder / "released.parquet",
        folder / "again.html",
        public=True,
        force=True,
    )
    assert (folder / "again.html").read_text(encoding="utf-8") == public


# --- nothing leaves the page ---


def test_nothing_leaves_the_page(internal, public):
    for page in (internal, public):
        assert leaks.Links(page).found == []
        assert "default-src 'none'" in page


@pytest.mark.parametrize(
    "part",
    [
        '<img src="http://example.org/a.png">', "<script>1</script>", '<a href="http://example.org">',
        '<svg><use xlink:href="http://example.org/a.svg#b"/></svg>', "<style>@import 'a.css';</style>",
        '<p style="background: url(http://example.org/a.png)">', '<p onclick="f()">',
        '<meta http-equiv="refresh" content="0">',
    ],
)  # fmt: skip
def test_what_leaves_a_page_is_found(public, part):
    assert leaks.Links(public.replace("<main>", f"<main>{part}")).found != []


class Server(BaseHTTPRequestHandler):
    """Gives a page, and keeps what is asked for; every host name leads here."""

    def do_GET(self):
        self.server.asked.append((self.headers["Host"].split(":")[0], self.path))
        self.send_response(200 if self.path in self.server.pages else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.pages.get(self.path, "").encode())

    def log_message(self, *_):
        pass


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=400,3000",
)  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no browser")
def test_a_browser_shows_it_and_asks_for_nothing_else(internal, public, tmp_path):
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", public)
    asking = free.replace("<main>", '<main><img src="http://example.org/a.png">')
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.pages = {"/internal": internal, "/public": public, "/free": free, "/asking": asking}
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    try:
        for page in server.pages:
            finished = subprocess.run(
                [
                    CHROMIUM, *QUIET, f"--host-resolver-rules=MAP * 127.0.0.1:{port}",
                    f"--user-data-dir={tmp_path}", "--dump-dom", f"http://report.test{page}",
                ],
                capture_output=True, text=True, timeout=120, check=True,
            )  # fmt: skip
            assert finished.stdout.count("<svg") == server.pages[page].count("<svg")
            assert finished.stdout.count("</math>") == server.pages[page].count("</math>")
    finally:
        server.shutdown()
        server.server_close()
    own = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com")  # what the browser asks for itself
    asked = [each for each in server.asked if not each[0].endswith(own) and each[1] != "/favicon.ico"]

    assert asked == [*(("report.test", page) for page in server.pages), ("example.org", "/a.png")]


# --- columns of other kinds, other names ---


@pytest.mark.parametrize(
    ("scheme", "change"),
    [
        (cm.ConditionalMasking(0.6, 300.0, decimals=2, strata="region"), lambda x: x),
        (cm.ConditionalMasking(0.6, 500.0, decimals=1), lambda x: x.round(1).astype(np.float32)),
        (cm.ConditionalMasking(0.6, 500.0, decimals=0, donors="permutation"), lambda x: x.astype(int)),
        (
            cm.ConditionalMasking(0.6, 100.0, decimals=2, missing=-99999),
            lambda x: np.where(np.arange(x.size) % 7 == 3, -99999.0, x),
        ),
        (
            cm.ConditionalMasking(0.6, 100.0, decimals=2, missing=-8, missing_as="null"),
            lambda x: np.where(np.arange(x.size) % 7 == 3, -8.0, x),
        ),
    ],
    ids=["strata", "float32", "whole numbers", "codes", "nulls"],
)
@pytest.mark.usefixtures("unaudited", "undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_every_kind_of_column_has_a_report(scheme, change, tmp_path):
    rng = np.random.default_rng(2)
    x = change(rng.lognormal(8.0, 0.5, 400).round(2))
    pd.DataFrame({"income": x, "region": rng.choice(["east", "west"], 400)}).to_parquet(
        tmp_path / "a.parquet"
    )
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": scheme}, nan_policy="omit", rng=1)

    cm.report(tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert page.count("<figure>") == 2
    assert "Is this the original" not in page


@pytest.mark.usefixtures("unaudited")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@pytest.mark.parametrize("n", [2, 3, 12])
def test_few_records_have_a_report(n, tmp_path):
    pd.DataFrame({"income": np.linspace(1000.0, 5000.0, n).round()}).to_csv(tmp_path / "a.csv", index=False)
    cm.mask_file(
        tmp_path / "a.csv",
        tmp_path / "b.csv",
        {"income": cm.ConditionalMasking(0.5, 300.0, decimals=0)},
        rng=1,
    )
    for public in (False, True):
        cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / f"{public}.html", public=public)


@pytest.mark.usefixtures("undrawn")
def test_names_are_no_markup(tmp_path):
    name = "$x^{<script>alert(1)</script>\u202e\x01\"'&"
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.lognormal(8.0, 0.5, 400).round(2), "<b>": rng.normal(size=400)})
    frame.to_parquet(tmp_path / "<i>&.parquet")
    cm.mask_file(tmp_path / "<i>&.parquet", tmp_path / "<u>.parquet", {name: SCHEME}, rng=1)
    for public in (False, True):
        out = tmp_path / f"{public}.html"
        cm.report(tmp_path / "<i>&.parquet", tmp_path / "<u>.parquet", out, public=public)
        page = out.read_text(encoding="utf-8")
        assert leaks.Links(page).found == []
        assert not re.search(r"<[biu]>", page)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;\u202e\ufffd&quot;&#x27;&amp;" in page


@pytest.mark.usefixtures("unaudited", "undrawn")
def test_columns_masked_together_are_told_as_such(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.lognormal(8.0, 0.5, (2, 400)).round(2)
    x[:40], y[20:60] = np.nan, np.nan
    pd.DataFrame({"x": x, "y": y}).to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    schemes = dict.fromkeys("xy", SCHEME)
    csv = cm.CsvFormat(delimiter=";", decimal=",")
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", schemes, csv=csv, nan_policy="omit", rng=1)
    cm.report(
        tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", csv=csv, d={"x": 100, "y": [200, 300]}
    )
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert "The columns were masked together" in page
    assert "are the only ones with their values" in page
    best = cells(page, SHORT[BEST])
    assert [len(each) for each in best] == [1, 1, 2, 2]  # shares and lifts
    there = ~np.isnan(x + y)
    assert cells(page, "correlation with <bdi><code>y</code></bdi>")[0][0] == number(
        np.corrcoef(x[there], y[there])[0, 1],
        cm.read_release(tmp_path / "b.csv", "x").correlation_interval("y", target="file").standard_error,
    ).replace("-", "\u2212")


# --- refused ---


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"path": "report.pdf"}, ValueError, "path must end in one of .html, .htm, got"),
        ({"path": "public.html"}, cm.FileError, "public.html exists; it is replaced only with --force"),
        ({"path": "nowhere/a.html"}, cm.FileError, "no such directory"),
        ({"source": None}, ValueError, "source must be the original where public is False, got None"),
        ({"source": "nowhere.csv"}, cm.FileError, "nowhere.csv"),
        ({"source": "short.parquet"}, ValueError, f"source must have the {N} rows of the release, got 10 in"),
        ({"source": "text.parquet"}, TypeError, "income must be numbers in"),
        ({"source": "gaps.parquet"}, ValueError, "income must be missing in the same rows"),
        ({"release": "people.parquet"}, ValueError, "holds no scheme"),
        ({"d": -1.0}, ValueError, "d must"),
        ({"d": {"age": 1}}, ValueError, "d must be of the masked columns 'income', got 'age'"),
        ({"d": []}, ValueError, "d must hold at least one distance, got none"),
        ({"units": {"age": "years"}}, ValueError, "units must be of the masked columns 'income', got 'age'"),
        ({"units": "euros"}, TypeError, "units must be a dict of columns and their units"),
    ],
)
def test_refused(files, given, error, message):
    folder, frame = files
    frame[:10].to_parquet(folder / "short.parquet")
    frame.assign(income="x").to_parquet(folder / "text.parquet")
    frame.assign(income=frame.income.where(frame.age > 20)).to_parquet(folder / "gaps.parquet")
    options = {"source": "people.parquet", "release": "released.parquet", "path": "new.html"} | given
    for name in ("source", "release", "path"):
        options[name] = None if options[name] is None else folder / options[name]

    with pytest.raises(error, match=re.escape(message)):
        cm.report(options.pop("source"), options.pop("release"), options.pop("path"), **options)
    assert not (folder / "new.html").exists()


def test_other_schemes_are_refused(files, tmp_path):
    cm.mask_file(files[0] / "people.parquet", tmp_path / "b.parquet", {"income": cm.DataSwapping()}, rng=1)

    with pytest.raises(TypeError, match=r"^release must be masked by ConditionalMasking, got DataSwapping"):
        cm.report(None, tmp_path / "b.parquet", tmp_path / "c.html", public=True)


# --- reverse mapping ---


def test_a_public_report_of_reverse_mapping_needs_no_original(files, mapped):
    release, _, public = mapped
    cm.report(files[0] / "nowhere.csv", release, release.parent / "again.html", public=True)

    assert (release.parent / "again.html").read_text(encoding="utf-8") == public


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"strata": "region"}, lambda x: x),
        ({"aggregate_ends": 3, "noise": "laplace"}, lambda x: x.astype(np.float32)),
        (
            {"missing": -8, "missing_as": "null"},
            lambda x: np.where(np.arange(x.size) % 7 == 3, -8, x.astype(int)),
        ),
    ],
    ids=["strata", "ends of single precision", "nulls among whole numbers"],
)
@pytest.mark.usefixtures("unaudited", "undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_every_kind_of_column_by_reverse_mapping_has_a_report(options, change, tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({
        "income": change(rng.lognormal(8.0, 0.5, 300).round(2)), "region": rng.choice(["east", "west"], 300),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True, **options)
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": scheme}, nan_policy="omit", rng=1)

    cm.report(tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert page.count("<figure>") == 2
    assert "all but 1" in page
    assert "Is this the original" not in page
