"""Reports: what they say, what the public one must not, and that no browser asks anybody for anything.

Oracle: NumPy on the original, the functions of the API that a report calls, a search for leaks (leaks.py).
"""

import hashlib
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import leaks
import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask._digits import number
from condmask.files.csv import CsvFile
from condmask.files.parquet import ParquetFile
from condmask.reports import charts
from condmask.reports.html import Html
from condmask.reports.original import correlation, figures
from condmask.reports.release_view import Told

N = 3000
SCHEME = cm.ConditionalMasking(0.6, 1000.0, decimals=2)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An original, a release of it, and both reports."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(5)
    income = rng.lognormal(8.0, 0.5, N).round(2)
    frame = pd.DataFrame({
        "income": income, "age": rng.integers(18, 66, N),
        "schooling": np.round(np.log(income) + rng.normal(0.0, 0.5, N), 3),
        "region": rng.choice(["east", "west"], N),
    })  # fmt: skip
    frame.to_parquet(folder / "people.parquet")
    cm.mask_file(folder / "people.parquet", folder / "released.parquet", {"income": SCHEME}, rng=8)
    cm.report(folder / "people.parquet", folder / "released.parquet", folder / "internal.html", d=[250, 500])
    cm.report(None, folder / "released.parquet", folder / "public.html", public=True)
    return folder, frame


@pytest.fixture(scope="module")
def internal(files):
    return (files[0] / "internal.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def public(files):
    return (files[0] / "public.html").read_text(encoding="utf-8")


@pytest.fixture
def undrawn(monkeypatch):
    """Reports without the picture that takes longest."""
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))


def cells(page, name):
    """The cells of the rows of this name."""
    rows = re.findall(rf'<tr><th scope="row">{name}</th>(.*?)</tr>', page)
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


# --- what they say ---


def test_the_scheme_and_versions_are_told(internal, public):
    for page in (internal, public):
        assert SCHEME.sentence() in page
        assert f"condmask {cm.__version__}" in page
        assert "It is not differential privacy" in page
        assert "Never publish two maskings of one file" in page


def test_estimates_are_those_of_the_release(files, public):
    found = cm.read_release(files[0] / "released.parquet", "income").summary()

    for name, shown in (("mean", "mean"), ("quantile 0.9", "quantile 0.9"), ("quantile 0.5", "median")):
        each = found[name]
        parts = (each.estimate, each.standard_error, each.low, each.high)
        assert cells(public, shown) == [[number(part, each.standard_error) for part in parts]]


def test_errors_are_predicted_and_actual(files, internal):
    folder, frame = files
    each = cm.read_release(folder / "released.parquet", "income").summary(target="file")["mean"]
    _, beside = cells(internal, "mean")
    masked = pd.read_parquet(folder / "released.parquet")["income"]
    values = (frame.income.mean(), masked.mean(), each.estimate, each.standard_error)

    assert beside[:4] == [number(value, each.standard_error) for value in values]
    off = each.estimate - frame.income.mean()
    assert beside[4] == number(off, each.standard_error).replace("-", "\u2212")
    assert float(beside[5].replace("\u2212", "-")) == pytest.approx(off / each.standard_error, abs=0.051)


def test_figures_of_the_original_are_those_of_pandas():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 12))
    w[3] = np.nan
    frame = pd.DataFrame({"x": x, "w": w})
    found = figures(x, ["mean", "s.d.", "quantile 0.1", "quantile 0.5", "correlation with w"], {"w": w})

    assert found["mean"] == pytest.approx(frame.x.mean(), rel=1e-12)
    assert found["s.d."] == pytest.approx(frame.x.std(), rel=1e-12)
    assert found["quantile 0.1"] == np.sort(x)[1]
    assert found["quantile 0.5"] == np.sort(x)[5]
    assert found["correlation with w"] == pytest.approx(frame.x.corr(frame.w), rel=1e-12)
    assert np.isnan(correlation(np.ones(3), np.arange(3.0)))


def test_risks_are_those_of_the_release(files, internal):
    folder, frame = files
    z = pd.read_parquet(folder / "released.parquet")["income"]
    found = cm.release_risk(
        frame.income, z, SCHEME, d=[250, 500], others=frame[["age", "schooling"]], audit=False
    )

    for attacker, share in found.attackers.items():
        shown = cells(internal, attacker)[0]
        assert [each.split("%")[0] for each in shown] == [f"{100 * value:.1f}" for value in share]
    coins = cm.audit(frame, {"income": SCHEME})
    assert cells(internal, "coins guessed") == [[f"{100 * coins.guessed:.1f}%"]]


def test_most_exposed_records_are_named_by_their_place(files, internal):
    folder, frame = files
    z = pd.read_parquet(folder / "released.parquet")["income"]
    exposed = cm.record_risk(frame.income, z, SCHEME, d=500.0).exposed(10)
    table = internal[internal.index("Most exposed records") :]

    assert re.findall(r'<th scope="row">([\d,]+)</th>', table)[:10] == [f"{row + 1:,}" for row in exposed]


def test_both_hashes_are_in_the_internal_one(files, internal, public):
    folder, _ = files
    original, release = (
        hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("people.parquet", "released.parquet")
    )

    assert original in internal
    assert release in internal
    assert release in public
    assert original not in public


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
        overwrite=True,
    )
    assert (folder / "again.html").read_text(encoding="utf-8") == public


@pytest.mark.usefixtures("undrawn")
def test_another_original_is_noticed(files):
    folder, frame = files
    frame.assign(income=2.0 * frame.income).to_parquet(folder / "other.parquet")
    cm.report(folder / "other.parquet", folder / "released.parquet", folder / "other.html")

    assert "Is this the original of the release?" in (folder / "other.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.usefixtures("unaudited", "undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_each_column_of_a_release_is_read_once(suffix, tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(100.0, 10.0, (400, 5)).round(1), columns=["x", "y", "z", "age", "height"])
    frame.loc[::5, "y"] = np.nan
    frame["region"] = rng.choice(["east", "west"], 400)
    frame["name"] = [f"n{k}" for k in range(400)]
    frame.to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 5.0, decimals=1, strata="region")
    released = tmp_path / f"b{suffix}"
    schemes = dict.fromkeys(("x", "y", "z"), scheme)
    cm.mask_file(tmp_path / "a.parquet", released, schemes, nan_policy="omit", rng=1)
    reads = []

    def counted(read):
        def one(table, names, labels=()):
            if table.path == released:
                reads.extend([*names, *labels])
            yield from read(table, names, labels)

        return one

    for reader in (ParquetFile, CsvFile):
        monkeypatch.setattr(reader, "parts", counted(reader.parts))

    for public in (True, False):
        reads.clear()
        source = None if public else tmp_path / "a.parquet"
        cm.report(source, released, tmp_path / f"{public}.html", public=public)

        assert {"x", "y", "z", "age", "height", "region"} <= set(reads) <= set(frame)
        assert len(reads) == len(set(reads))


# --- what a public report must not say ---


def test_no_figure_of_the_original_is_in_the_public_one(files, internal, public):
    frame = files[1]
    own = leaks.figures(frame.income.to_numpy(), [frame.age, frame.schooling])

    assert leaks.told(public, own) == []
    assert len(leaks.told(internal, own)) >= 10  # the search finds what is there


def test_no_hash_of_the_original_is_in_the_public_one(files, internal, public):
    folder, frame = files
    found = leaks.hashes(folder / "people.parquet", frame.income.to_numpy())

    assert [each for each in found if each in public] == []
    assert [each for each in found if each in internal] != []


def test_no_single_record_is_in_the_public_one(files, public):
    folder, frame = files
    released = set(pd.read_parquet(folder / "released.parquet")["income"])
    hidden = [f"{value:.2f}" for value in frame.income if value not in released]
    rows = cm.record_risk(
        frame.income, pd.read_parquet(folder / "released.parquet")["income"], SCHEME, d=500.0
    )

    assert len(hidden) > N / 3
    assert leaks.numbers(public) & {each.rstrip("0").rstrip(".") for each in hidden} == set()
    assert leaks.numbers(public) & set(hidden) == set()
    assert leaks.numbers(public) & {str(row + 1) for row in rows.exposed(10)} == set()
    assert "people.parquet" not in public


def test_no_line_of_the_original_is_in_a_public_picture(files, public):
    folder, frame = files
    told = Told(folder / "released.parquet", 1)
    estimate, z = told.file["income"], told.values("income")
    with_it = charts.distributions(estimate, z, frame.income.to_numpy(), "population")
    without = charts.distributions(estimate, z)
    shared = set().union(*leaks.places(without))
    own = [line - shared for line in leaks.places(with_it)]
    (curve,) = [line for line in own if len(line) > 50]  # the only line of many points that is there with it

    assert without in public
    assert not curve & set().union(*leaks.places(public))
    assert "<metadata" not in public
    assert "base64" not in public  # all pictures are text, and searched


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
    assert [len(each) for each in cells(page, "best attacker")] == [1, 1, 2, 2]  # shares and lifts
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


MAPPED = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True)


@pytest.fixture(scope="module")
def mapped(files, tmp_path_factory):
    """A release of the same original by reverse mapping, and both reports."""
    folder = tmp_path_factory.mktemp("mapped")
    people, release = files[0] / "people.parquet", folder / "released.parquet"
    cm.mask_file(people, release, {"income": MAPPED}, rng=3, accept_visible_coins=True)
    cm.report(people, release, folder / "internal.html", d=[250, 500])
    cm.report(None, release, folder / "public.html", public=True)
    pages = [(folder / f"{name}.html").read_text(encoding="utf-8") for name in ("internal", "public")]
    return release, *pages


def test_reverse_mapping_is_told_in_plain_words(mapped):
    for page in mapped[1:]:
        assert MAPPED.sentence() in page
        assert "All values of the original are in the release, each once: the largest and the total" in page
        assert "Every value of the original is in the release" in page
        assert "the exponential of" not in page  # nothing of noise as it is released
        assert "what is computed from a masked column as if it were the original is wrong" not in page
    assert "Audit of the coins" in mapped[1]


def test_risks_of_reverse_mapping_are_those_of_the_release(files, mapped):
    frame, z = files[1], pd.read_parquet(mapped[0])["income"]
    others = frame[["age", "schooling"]]
    found = cm.release_risk(frame.income, z, MAPPED, d=[250, 500], others=others, audit=False)
    insiders = cm.insider_risk(frame.income, MAPPED, d=[250, 500])

    for attacker, share in found.attackers.items():
        shown = cells(mapped[1], attacker)[0]
        assert [each.split("%")[0] for each in shown] == [f"{100 * value:.1f}" for value in share]
    worst = cells(mapped[1], "a record's released value, at the most".replace("'", "&#x27;"))
    assert worst == [[f"{100 * value:.1f}%" for value in found.worst]]
    assert (
        cells(mapped[1], "all but 20")[0][0]
        == f"{100 * insiders.exact[3]:.1f}% ({100 * insiders.additive_exact[3]:.1f}%)"
    )
    assert [each for each in cells(mapped[1], "mean") if "0" in each[3:5]]  # the mean of the file is exact


def test_the_public_report_of_reverse_mapping_tells_nothing_of_records(files, mapped):
    folder, frame = files
    release, internal, public = mapped
    income, deciles = frame.income.to_numpy(), cm.read_release(release, "income").summary()
    told = {
        number(part, each.standard_error)
        for each in deciles.values()
        for part in (each.estimate, each.low, each.high)
    }
    hashes = leaks.hashes(folder / "people.parquet", income)

    # the values are in the release; the public report shows deciles of these and no other
    assert leaks.numbers(public) & {f"{value:.2f}" for value in income} <= {
        each.replace(",", "") for each in told
    }
    # what goes with the other columns is the original's alone
    joint = [np.corrcoef(income, frame[other])[0, 1] for other in ("age", "schooling")]
    joint += [income[frame.region == region].mean() for region in ("east", "west")]
    assert leaks.told(public, joint) == []
    assert [each for each in hashes if each in public] == []
    assert [each for each in hashes if each in internal] != []
    rows = cm.record_risk(frame.income, pd.read_parquet(release)["income"], MAPPED, d=500.0).exposed(10)
    shown = leaks.numbers(re.sub("<style>.*?</style>|<svg.*?</svg>", "", public, flags=re.DOTALL))
    assert shown & {str(row + 1) for row in rows} == set()
    assert "people.parquet" not in public
    assert leaks.Links(public).found == leaks.Links(internal).found == []


def test_a_public_report_of_reverse_mapping_needs_no_original(files, mapped):
    release, _, public = mapped
    cm.report(files[0] / "nowhere.csv", release, release.parent / "again.html", public=True)

    assert (release.parent / "again.html").read_text(encoding="utf-8") == public


def test_another_original_of_reverse_mapping_is_refused(files, mapped):
    folder, frame = files
    frame.assign(income=2.0 * frame.income).to_parquet(folder / "twice.parquet")

    with pytest.raises(ValueError, match="z must hold the values of x in another order"):
        cm.report(folder / "twice.parquet", mapped[0], folder / "twice.html")


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


@pytest.mark.usefixtures("unaudited", "undrawn")
def test_guard_rails_that_do_not_hold_are_told(tmp_path):
    rng = np.random.default_rng(4)
    x, y = rng.normal(100.0, 10.0, (2, 200)).round(2)
    x[7] = 900.0
    pd.DataFrame({"x": x, "y": y, "z": x + rng.normal(0.0, 1.0, 200)}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 3.0, reverse_mapping=True)
    cm.mask_file(
        tmp_path / "a.csv", tmp_path / "b.csv", {"x": scheme, "y": scheme}, rng=1, accept_visible_coins=True
    )
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=2.0)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert "Masking would refuse it: " in page
    assert "of x with a rare value get" in page
    assert "it gives much of &#x27;x&#x27; away" in page
    assert "The columns were masked together" in page
