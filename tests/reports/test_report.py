"""Reports of releases, public and internal.

Oracle: a search for leaks (leaks.py), the objects that the API returns, an XML parser.
"""

import re
from functools import cache
from html import unescape
from types import SimpleNamespace
from xml.etree import ElementTree

import leaks
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scheme_classes import conditional_or_mapped
from worlds import rest_slow

import condmask as cm
from condmask._digits import number
from condmask.reports import charts

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
N = 3_000
SCHEMES = {
    "noise": cm.ConditionalMasking(0.6, 1000.0, decimals=2),
    "mapped": cm.ReverseMapping(0.6, 0.3, scale="log"),
}
D = [250, 500]
UNITS = {"income": "euros a month"}
AXIS = "income (euros a month)"


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """The original, as a frame and in a file."""
    rng = np.random.default_rng(5)
    income = rng.lognormal(8.0, 0.5, N).round(2)
    frame = pd.DataFrame(
        {
            "income": income,
            "age": rng.integers(18, 66, N),
            "schooling": np.round(np.log(income) + rng.normal(0.0, 0.5, N), 3),
            "region": rng.choice(["east", "west"], N),
        }
    )
    path = tmp_path_factory.mktemp("report") / "people.parquet"
    frame.to_parquet(path)
    return SimpleNamespace(frame=frame, path=path)


@pytest.fixture(params=SCHEMES)
def made(request, people):
    return reported(request.param, people.path)


@cache
def reported(name, original):
    """A release and the texts of both reports."""
    folder = original.with_name(name)
    scheme = SCHEMES[name]
    folder.mkdir()
    release = folder / "released.parquet"
    cm.mask_file(original, release, {"income": scheme}, rng=8)
    pages = []
    for given in (None, original):
        cm.report(release, folder / "page.html", original=given, d=D, units=UNITS, force=True)
        pages.append((folder / "page.html").read_text(encoding="utf-8"))
    return SimpleNamespace(release=release, scheme=scheme, public=pages[0], internal=pages[1])


def row(page, name):
    """The cells of the rows of this name."""
    rows = re.findall(rf'<tr><th scope="row">{re.escape(name)}</th>(.*?)</tr>', page)
    return [re.findall("<td>(.*?)</td>", cells) for cells in rows]


def pictures(page):
    return re.findall("<svg.*?</svg>", page, flags=re.DOTALL)


def made_of(frame, scheme, path, **options):
    """The internal report of a table's release, which may show what it likes."""
    schemes = scheme if isinstance(scheme, dict) else {frame.columns[0]: scheme}
    options = {"nan_policy": "omit", "accept": "all"} | options
    cm.report(cm.mask_table(frame, schemes, rng=1, **options), path, original=frame)
    return path.read_text(encoding="utf-8")


# --- what leaves the publisher ---


def test_the_public_report_has_no_figure_hash_or_row_of_the_original(people, made):
    frame = people.frame
    income = people.frame.income.to_numpy()
    hashes = leaks.hashes(people.path, income)
    figures = leaks.figures(income, [frame.age, frame.schooling])
    joint = [income[frame.region == "east"].mean(), np.corrcoef(income, frame.schooling)[0, 1]]
    # the values are released, in another order
    own = joint if made.scheme.reverse_mapping else figures
    words = re.sub("<style>.*?</style>|<svg.*?</svg>", "", made.public, flags=re.DOTALL)
    risk = cm.risk(frame, {"income": made.scheme}, d=D, released=pd.read_parquet(made.release))
    released = set(pd.read_parquet(made.release)["income"])

    assert leaks.told(made.public, own) == []
    assert len(leaks.told(made.internal, figures)) >= 10  # the search finds what is there
    assert [each for each in hashes if each in made.public] == []
    assert [each for each in hashes if each in made.internal] != []
    assert (
        leaks.numbers(made.public) & {f"{value:.2f}" for value in income if value not in released}
        == set()
    )
    assert (
        leaks.numbers(words) & {str(place + 1) for place in risk.records(500).exposed(10)} == set()
    )
    assert people.path.name not in made.public
    assert people.path.name in made.internal


def test_no_line_of_the_original_is_in_a_public_picture(people, made):
    if made.scheme.reverse_mapping:
        pytest.skip("the distribution of the original is that of the release")
    estimate = cm.read_release(made.release, "income")
    x = people.frame.income.to_numpy()
    lines = {charts.MASKED_LINE: pd.read_parquet(made.release)["income"].to_numpy()}
    without, with_it = (
        charts.distribution(estimate, drawn, AXIS, target="population")
        for drawn in (lines, lines | {charts.ORIGINAL_LINE: x})
    )
    public = set().union(*leaks.places(made.public))
    (curve,) = [
        own
        for line in leaks.places(with_it)
        if len(own := line - set().union(*leaks.places(without))) > 50
    ]

    assert without.strip() in made.public
    assert not curve & public
    assert (
        charts.distribution(estimate, lines | {charts.ORIGINAL_LINE: x}, AXIS, target="file")
        != with_it
    )


def test_nothing_leaves_the_page(made):
    for page in (made.public, made.internal):
        assert leaks.Links(page).found == []
        assert "default-src 'none'" in page
        assert "script" not in page


@pytest.mark.parametrize(
    "part",
    [
        '<img src="http://example.org/a.png">',
        "<style>@import 'a.css';</style>",
        '<p onclick="f()">',
    ],
)
def test_what_leaves_a_page_is_found(made, part):
    assert leaks.Links(made.public.replace("<main>", f"<main>{part}")).found != []


def test_names_and_units_are_no_markup(tmp_path):
    name = "$x^{<script>alert(1)</script>\u202e\"'&"
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {name: rng.lognormal(8.0, 0.5, 400).round(2), "<b>": rng.normal(size=400)}
    )
    release = cm.mask_table(frame, {name: cm.ConditionalMasking(0.6, 1000.0, decimals=2)}, rng=1)
    release.write(tmp_path / "<u>.parquet", log=False)
    for original in (None, frame):
        cm.report(
            tmp_path / "<u>.parquet",
            tmp_path / "a.html",
            original=original,
            units={name: "<i>"},
            force=True,
        )
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert leaks.Links(page).found == []
        assert not re.search(r"<[biu]>|<script", page)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;\u202e&#34;&#39;&amp;" in page


# --- what is told ---


NAMES = {"mean": "mean", "s.d.": "standard deviation", "quantile 0.5": "median"}
NAMES |= {f"quantile 0.{k}": f"{k}0% lie at or below" for k in (1, 2, 3, 4, 6, 7, 8, 9)}


def test_estimates_are_those_of_the_release(people, made):
    estimate = cm.read_release(made.release, "income")
    x = np.sort(people.frame.income)
    for statistic, each in estimate.summary().items():
        parts = (each.estimate, each.standard_error, each.low, each.high)
        assert row(made.public, NAMES[statistic]) == [
            [number(part, each.standard_error) for part in parts]
        ]
    wanted = {"mean": x.mean(), "s.d.": np.std(x, ddof=1)}
    wanted |= {
        name: x[int(name[-1]) * N // 10 - 1] for name in NAMES if name.startswith("quantile")
    }
    for statistic, each in estimate.summary(target="file").items():
        parts = (wanted[statistic], each.estimate, each.standard_error)
        original, _, *found, _ = row(made.internal, NAMES[statistic])[0]
        assert [original, *found] == [number(part, each.standard_error) for part in parts]


def test_an_estimate_that_does_not_exist_is_unknown(tmp_path):
    frame = pd.DataFrame({"income": np.random.default_rng(0).normal(100.0, 1.0, 30).round(2)})
    page = made_of(frame, cm.ConditionalMasking(0.3, 200.0, decimals=2), tmp_path / "a.html")

    assert row(page, "standard deviation")[0][2:] == ["unknown"] * 3
    assert "nan" not in re.sub("<svg.*?</svg>", "", page, flags=re.DOTALL)
    short = frame[:12].assign(age=range(12))
    mapped = cm.ReverseMapping(0.3, 20.0)
    page = made_of(short, mapped, tmp_path / "b.html")
    assert row(page, "correlation with age") == []
    assert "income: z must have at least 50 records" in page.partition("<h2>Notes</h2>")[2]


def test_columns_beside_are_the_first_eight_that_are_whole_numbers_and_vary(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"income": rng.lognormal(8.0, 0.5, 300).round(2), "group": np.arange(300) % 2}
    )
    frame = frame.assign(one=1, gap=np.where(frame.group, np.inf, 0.0), text="a")
    names = ["", "mean", *"abcdefgh"]  # no name, as R writes row names, and that of a statistic
    frame[names] = rng.normal(size=(300, 10))
    page = made_of(
        frame, cm.ConditionalMasking(0.6, 500.0, decimals=2, strata="group"), tmp_path / "a.html"
    )

    assert re.findall('row">correlation with (.*?)<', page) == names[:8]
    assert "Is this the original of the release?" not in page
    assert "correlation" not in page.partition("<h2>Notes</h2>")[2].partition("</section>")[0]


def test_risks_are_those_of_the_api(people, made):
    frame = people.frame
    schemes = {"income": made.scheme}
    risk = cm.risk(frame, schemes, d=D, released=pd.read_parquet(made.release))
    low, high = risk["income"].interval("best attacker")
    audit = cm.audit(frame, schemes).figures["income"]
    linkage = risk.linkage()

    for attacker, shares in risk.attackers.items():
        (cells,) = row(made.internal, attacker)
        assert [cell.split(" ")[0] for cell in cells] == [f"{share:.1%}" for share in shares]
    assert f"({low[0]:.1%}\u2013{high[0]:.1%})" in row(made.internal, "best attacker")[0][0]
    assert row(made.internal, "income") == [
        [f"{x:.1%}" for x in (audit.constant, audit.clear, audit.worst)]
    ]
    assert row(made.internal, "among the 10 nearest")[0][0] == f"{linkage.linked[2]:.1%}"
    assert f"of {(risk.records(500).posterior > 0.9).mean():.1%}, and right" in made.internal
    if made.scheme.reverse_mapping:
        insiders = risk.insiders()
        wanted = [f"{share:.1%}" for share in (insiders.exact[3], *insiders.within[3])]
        assert row(made.internal, "all but 20") == [wanted]


def test_analysts_errors_are_predicted_and_actual(people, made):
    each = cm.read_release(made.release, "income").correlation_interval("schooling", target="file")
    z = pd.read_parquet(made.release)["income"]
    actual, masked = (
        np.corrcoef(values, people.frame.schooling)[0, 1] for values in (people.frame.income, z)
    )
    wanted = (actual, masked, each.estimate, each.standard_error, each.estimate - actual)

    shown = [number(value, each.standard_error).replace("-", "\u2212") for value in wanted]
    assert row(made.internal, "correlation with schooling") == [shown]
    if made.scheme.reverse_mapping:
        assert row(made.internal, "mean")[0][3:] == ["0", "0"]


def test_each_distance_has_its_line_of_a_constant_guess(made):
    (picture,) = (each for each in pictures(made.internal) if "best attacker" in each)
    lines = re.findall(r'd="M ([\d.]+) [\d.]+ \nL \1 [\d.]+ \n"[^>]*dasharray', picture)
    dots = re.findall(r'<use [^>]*x="([\d.]+)"', picture)  # of every attacker; one guesses so

    assert len({*lines}) == len(D)
    assert {*lines} <= {*dots}


def test_missing_values_are_not_drawn():
    z = np.random.default_rng(1).lognormal(8.0, 0.5, 400).round(2)
    whole, gaps = (
        charts.distribution(
            SCHEMES["noise"].estimate(x), {charts.MASKED_LINE: x}, "income", target="file"
        )
        for x in (z, np.insert(z, 9, [np.nan] * 100))
    )
    assert whole == gaps


def test_pictures_are_well_formed_and_name_their_column_and_unit(made):
    for page, count in ((made.public, 1), (made.internal, 4)):
        found = [ElementTree.fromstring(picture) for picture in pictures(page)]
        assert len(found) == count
        assert all("income" in "".join(picture.itertext()) for picture in found)
        assert "income (euros a month)" in "".join(found[-1].itertext())


def test_the_same_release_gives_the_same_report_in_a_file_or_not(people, made, tmp_path):
    cm.report(
        cm.read_release(made.release), tmp_path / "a.html", original=people.path, d=D, units=UNITS
    )
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == made.internal
    held = cm.mask_table(people.frame, {"income": made.scheme}, rng=8)
    cm.report(held, tmp_path / "b.html", units=UNITS)
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert row(page, "mean") == row(made.public, "mean")
    assert pictures(page) == pictures(made.public)


# --- pictures ---


@pytest.fixture
def axes_of(monkeypatch):
    """The axes of a picture instead of its text, once all letters have their places."""
    monkeypatch.setattr(charts, "svg", lambda figure: figure)

    def go(draw, *arguments, **options):
        figure = draw(*arguments, **options)
        FigureCanvasAgg(figure).draw()
        return figure.axes[0]

    return go


def boxes(axes):
    """The panel and the legend in pixels; all lies within the picture, of which 360 pixels can be
    read."""
    figure = axes.figure
    (legend,) = [axes.get_legend()] if axes.get_legend() else figure.legends
    size = figure.get_size_inches()
    inner = figure.get_tightbbox()
    assert min(*inner.min, *(size - inner.max)) >= 0.0
    assert min(text.get_fontsize() for text in figure.findobj(Text)) * 360 / (72 * size[0]) > 7
    return axes.get_window_extent(), legend.get_window_extent()


def test_distribution_functions_are_the_shares_at_or_below(made, axes_of):
    estimate = cm.read_release(made.release, "income")
    drawn = {charts.MASKED_LINE: np.arange(3.0)}
    first = axes_of(charts.distribution, estimate, drawn, AXIS, target="file")
    at = first.lines[-1].get_xdata()
    values = np.append(at[::50], [np.nan, *at[200:205]])
    axes = axes_of(
        charts.distribution, estimate, {charts.MASKED_LINE: values}, AXIS, target="file"
    )
    line = axes.lines[-1]
    curve = axes.lines[0]

    assert np.array_equal(
        line.get_ydata(), (values[:, None] <= at).sum(axis=0) / (values.size - 1)
    )
    assert (at[0], at[-1]) == (curve.get_xdata()[0], curve.get_xdata()[-1])
    assert (line.get_label(), line.get_linestyle()) == (charts.MASKED_LINE, "--")
    assert [axes.get_xlabel(), axes.get_ylabel()] == [AXIS, "share of records at or below"]
    assert len(axes.get_legend().get_texts()) == 3
    panel, legend = boxes(axes)
    assert legend.width < panel.width / 2


def test_attackers_stand_in_rows_with_their_intervals(people, made, axes_of):
    risk = cm.risk(people.frame[["income"]][:500], {"income": made.scheme}, d=[250, 500, 10_000])[
        "income"
    ]
    axes = axes_of(charts.attackers, risk, "income")
    who = [label.get_text() for label in axes.get_yticklabels()]
    panel, legend = boxes(axes)

    assert sorted(who) == sorted(risk.attackers)
    drawn = zip(axes.lines[::2], axes.lines[1::2], axes.collections, strict=True)
    for k, (dots, constant, ends) in enumerate(drawn):
        wanted = [(risk.attackers[each][k], row) for row, each in enumerate(who)]
        assert np.array_equal(np.transpose(dots.get_data()), wanted)
        intervals = [[end[k] for end in risk.interval(each)] for each in who]
        assert np.array_equal([segment[:, 0] for segment in ends.get_segments()], intervals)
        assert {*constant.get_xdata()} == {risk.attackers["best constant"][k]}
        assert [constant.get_color(), constant.get_linestyle()] == [dots.get_color(), "--"]
        assert to_hex(ends.get_color()) == dots.get_color().lower()
    texts = axes.figure.legends[0].get_texts()
    assert [text.get_text().split()[-1] for text in texts] == ["250", "500", "10,000"]
    assert len({text.get_window_extent().y0 for text in texts}) == 1
    ticks = axes.get_xticklabels()
    shown = [each.get_text() for each in ticks if each.get_position()[0] < axes.get_xlim()[1]]
    assert shown == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert axes.get_xlabel() == "records whose income is guessed"
    assert legend.y0 >= panel.y1
    heights = axes.transData.transform([(0.0, row) for row in range(len(who))])[:, 1]
    between = heights[0] - heights[1]  # the first one on top
    assert np.allclose([panel.y1 - heights[0], heights[-1] - panel.y0], between / 2)
    assert 1.5 < between / axes.figure.dpi * 72 / 10.0 < 3.0  # letters have 10 points


def test_a_picture_is_the_same_on_another_day(monkeypatch):
    estimate = SCHEMES["noise"].estimate(
        np.random.default_rng(1).lognormal(8.0, 0.5, 100).round(2)
    )
    pages = []
    for day in (1, 2):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(day * 86_400))
        pages.append(charts.distribution(estimate, {}, AXIS, target="file"))

    assert pages[0] == pages[1]


# --- the verdict ---


def test_a_release_that_masking_takes_may_be_published(made):
    assert "may be published" in made.internal
    assert "Masking refuses" not in made.internal


def test_each_finding_stands_once_with_its_remedy(tmp_path):
    x = np.random.default_rng(4).normal(100.0, 10.0, 300).round(2)
    x[7] = 900.0
    frame = pd.DataFrame({"x": x, "w": 2.0 * x})
    scheme = cm.ReverseMapping(0.6, 3.0)
    page = unescape(made_of(frame, scheme, tmp_path / "a.html"))
    found = cm.audit(frame, {"x": scheme})

    assert found.refused
    assert "should not be published" in page
    for finding in found.findings:
        assert page.count(finding.text) == 1
        assert finding.remedy in page


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({"decimals": 4}, 0.0),
        ({"decimals": 1}, 0.05),
        ({"reverse_mapping": True, "aggregate_ends": 3}, None),
    ],
)
def test_more_than_five_predicted_errors_are_too_many(options, unit, tmp_path):
    """Beside rounding to the next step, and beside a twentieth of the s.d. for means at the
    ends."""
    x = np.random.default_rng(2).lognormal(0.0, 0.3, 400).round(4)
    schemes = {"x": conditional_or_mapped(0.6, 0.4, **options)}
    more = {"accept": "all"}
    release = cm.mask_table({"x": x}, schemes, rng=1, round=options.get("decimals") == 1, **more)
    found = release["x"].mean_interval(target="file")
    for far, fits in ((4.9, True), (5.1, False)):
        slack = 0.05 * far / 5.0 * x.std(ddof=1) if unit is None else unit
        shifted = x + found.estimate - x.mean() + far * found.standard_error + slack
        cm.report(release, tmp_path / "a.html", original={"x": shifted}, force=True)
        assert ("Is this the original" in (tmp_path / "a.html").read_text()) is not fits


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"decimals": 2, "strata": "region"}, lambda x: x),
        ({"decimals": 1}, lambda x: x.round(1).astype(np.float32)),
        (
            {"decimals": 2, "missing": -8, "missing_as": "null"},
            lambda x: np.where(x > 5_000.0, -8.0, x),
        ),
        ({"reverse_mapping": True, "aggregate_ends": 3}, lambda x: x.astype(int)),
        ({"decimals": 2}, lambda x: x[:12]),
    ],
    ids=["strata", "float32", "codes", "whole numbers", "few"],
)
def test_every_kind_of_column_has_a_report(options, change, tmp_path):
    rng = np.random.default_rng(2)
    x = change(rng.lognormal(8.0, 0.5, 400).round(2))
    frame = pd.DataFrame({"income": x, "region": rng.choice(["east", "west"], x.size)})
    page = made_of(frame, conditional_or_mapped(0.6, 500.0, **options), tmp_path / "a.html")

    assert "Is this the original" not in page
    assert ("records are too few to measure" in page) is (x.size < 100)


def test_columns_masked_together(tmp_path):
    x, y = np.random.default_rng(3).lognormal(8.0, 0.5, (2, 400)).round(2)
    scheme = cm.ConditionalMasking(0.6, 300.0, decimals=2)
    page = made_of(
        pd.DataFrame({"x": x, "y": y}), dict.fromkeys("xy", scheme), tmp_path / "a.html"
    )

    assert "are the only ones with their values" in page
    (of_x,), (of_y,) = (row(page, f"correlation with {name}") for name in "yx")
    assert of_x[0] == of_y[0]
    assert len(pictures(page)) == 8


# --- refused ---


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"path": "report.pdf"}, ValueError, "path must end in one of .html, .htm, got"),
        (
            {"path": "there.html"},
            cm.FileError,
            "there.html exists; it is replaced only with force=True",
        ),
        ({"path": "nowhere/a.html"}, cm.FileError, "no such directory"),
        ({"release": "people.parquet"}, ValueError, "holds no scheme"),
        ({"original": "nowhere.csv"}, cm.FileError, "nowhere.csv"),
        (
            {"original": "short.parquet"},
            ValueError,
            f"original must be as long as the release, {N} values",
        ),
        ({"original": "text.parquet"}, TypeError, "income must be"),
        ({"original": "gaps.parquet"}, ValueError, "income must be missing in the same rows"),
        ({"d": -1.0}, ValueError, "d must"),
        ({"d": []}, ValueError, "d must hold at least one distance, got none"),
        (
            {"units": {"age": "years"}},
            ValueError,
            "units must be of the masked columns 'income', got 'age'",
        ),
        ({"workers": 0}, ValueError, "workers must be"),
        ({"units": "euros"}, TypeError, "units must be a dict of columns and their units"),
    ],
)
def test_refused(people, made, tmp_path, given, error, message):
    frame = people.frame
    frame.to_parquet(tmp_path / "people.parquet")
    frame[:10].to_parquet(tmp_path / "short.parquet")
    frame.assign(income="x").to_parquet(tmp_path / "text.parquet")
    frame.assign(income=frame.income.where(frame.age > 20)).to_parquet(tmp_path / "gaps.parquet")
    (tmp_path / "there.html").write_text("")
    options = {"release": made.release, "path": "new.html", "original": "people.parquet"} | given
    options |= {name: tmp_path / options[name] for name in ("release", "path", "original")}

    with pytest.raises(error, match=re.escape(message)):
        cm.report(options.pop("release"), options.pop("path"), **options)
    assert not (tmp_path / "new.html").exists()


def test_an_original_of_text_is_read_as_it_is_written(people, tmp_path, caplog):
    frame = people.frame[["income", "age"]][:300]
    frame.to_csv(tmp_path / "people.csv", sep="~", index=False)
    release = cm.mask_table(frame, {"income": SCHEMES["noise"]}, rng=1)
    options = {"original": tmp_path / "people.csv", "csv": cm.CsvFormat(delimiter="~")}
    with caplog.at_level("INFO", "condmask.reports"):
        cm.report(release, tmp_path / "a.html", **options)

    assert caplog.messages == [f"wrote {tmp_path / 'a.html'}"]


def test_other_schemes_are_refused(people, tmp_path):
    release = cm.mask_table(people.frame, {"income": cm.DataSwapping()}, rng=1)
    with pytest.raises(TypeError, match=r"^release must be masked by ConditionalMasking"):
        cm.report(release, tmp_path / "a.html")


def test_a_page_stands_outside_of_its_release_and_tells_no_folder(people, tmp_path):
    (tmp_path / "in").mkdir()
    people.frame[["income"]].to_parquet(tmp_path / "in/people.parquet")
    scheme = cm.ConditionalMasking(0.6, 2_000.0)
    cm.mask_file(tmp_path / "in", tmp_path / "out", {"income": scheme}, accept="all", log=False)

    with pytest.raises(cm.FileError, match="path must stand outside of the files and folders"):
        cm.report(tmp_path / "out", tmp_path / "out/page.html")
    cm.report(tmp_path / "out", tmp_path / "page.html", original=tmp_path / "in/*")
    assert str(tmp_path) not in (tmp_path / "page.html").read_text()


# --- rows in another order ---


@pytest.fixture(scope="module", params=rest_slow(["csv", "parquet", "table"]))
def shuffled(request, tmp_path_factory):
    """A release of rows in a new order, of a table whose rows are in the order of a masked
    column."""
    rng = np.random.default_rng(5)
    income = np.sort(rng.lognormal(8.0, 0.5, N)).round(2)
    income[5] = np.nan
    frame = pd.DataFrame(
        {
            "id": rng.permutation(N) + 70_000,
            "income": income,
            "region": rng.choice(["east", "west"], N),
            "schooling": np.round(
                np.log(np.nan_to_num(income, nan=3_000.0)) + rng.normal(0.0, 0.5, N), 3
            ),
        }
    )
    folder = tmp_path_factory.mktemp("shuffled")
    options = {"shuffle": True, "rng": 4, "nan_policy": "omit"}
    if request.param == "table":
        release = cm.mask_table(frame, {"income": SCHEMES["mapped"]}, **options)
        return SimpleNamespace(frame=frame, original=frame, release=release, data=release.data)
    original, target = (folder / f"{name}.{request.param}" for name in ("original", "released"))
    {"csv": frame.to_csv, "parquet": frame.to_parquet}[request.param](original, index=False)
    release = cm.mask_file(original, target, {"income": SCHEMES["mapped"]}, **options)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[request.param]
    return SimpleNamespace(frame=frame, original=original, release=target, data=read(target))


def test_a_report_of_a_shuffled_release_compares_relations_and_no_rows(shuffled, tmp_path):
    cm.report(shuffled.release, tmp_path / "a.html", original=shuffled.original, d=D)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    frame = shuffled.frame
    risk = cm.risk(frame[["income"]], {"income": SCHEMES["mapped"]}, d=D)
    tables = (frame, shuffled.data)
    of_original, of_release = (table["income"].corr(table["schooling"]) for table in tables)

    original, masked, _, error, _ = row(page, "correlation with schooling")[0]
    digits = float(error)
    assert [original, masked] == [number(each, digits) for each in (of_original, of_release)]
    assert of_original > of_release + 0.3
    assert row(page, "mean")[0][3:] == ["0", "0"]
    assert "not matched with those of the original" in page
    assert "may be published" in page  # as the rows of the original in their order could not
    shares = [cell.split(" ")[0] for cell in row(page, "masked value")[0]]
    assert shares == [f"{share:.1%}" for share in risk.attackers["masked value"]]
    assert row(page, "the nearest") == []
    assert "looked at one by one" not in page


def test_rows_of_a_shuffled_release_are_matched_by_a_column(shuffled, tmp_path):
    """As a join of both tables matches them."""
    cm.report(shuffled.release, tmp_path / "a.html", original=shuffled.original, d=D, match="id")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    joined = shuffled.data[["id"]].merge(shuffled.frame, on="id", how="left")
    risk = cm.risk(joined, {"income": SCHEMES["mapped"]}, d=D, released=shuffled.data)

    assert "are matched by the column <bdi><code>id</code></bdi>" in page
    for attacker, shares in risk.attackers.items():
        (cells,) = row(page, attacker)
        assert [cell.split(" ")[0] for cell in cells] == [f"{share:.1%}" for share in shares]
    assert row(page, "among the 10 nearest")[0][0] == f"{risk.linkage().linked[2]:.1%}"
    cm.report(shuffled.release, tmp_path / "b.html", original=shuffled.frame, d=D, match="id")
    again = (tmp_path / "b.html").read_text(encoding="utf-8")  # of a frame, beside text in a file
    assert row(again, "best attacker") == row(page, "best attacker")


@pytest.mark.parametrize(
    ("match", "change", "said"),
    [
        (
            "region",
            {},
            r"match='region' must have a different value in each record, got 2,998 rows that repeat",
        ),
        ("income", {}, "match must be a column that is not masked, got 'income'"),
        (
            "other",
            {},
            "match must be one of the columns in clear 'id', 'region', 'schooling', got 'other'",
        ),
        (
            "id",
            {"id": np.arange(N)},
            "got 3,000 in the original, and 3,000 in the release, 3,000 of them not in the original",
        ),
        (
            "id",
            {"id": np.append(np.arange(N - 1.0), np.nan)},
            "got 1 missing values in the original",
        ),
        ("id", {"id": None}, "original must have the column 'id'"),
    ],
)
def test_columns_that_match_no_rows_are_refused(match, change, said, shuffled, tmp_path):
    frame = shuffled.frame.assign(**change).dropna(axis="columns", how="all")
    with pytest.raises(ValueError, match=said) as caught:
        cm.report(shuffled.release, tmp_path / "a.html", original=frame, match=match)

    assert "70" not in str(caught.value)  # as every value of the column begins
    assert not (tmp_path / "a.html").exists()


def test_a_public_report_matches_nothing(shuffled, tmp_path):
    with pytest.raises(ValueError, match="match must be left out of a public report"):
        cm.report(shuffled.release, tmp_path / "a.html", match="id")


def test_pictures_of_shuffled_releases_match_rows(shuffled):
    release = (
        cm.read_release(shuffled.release) if not isinstance(shuffled.release, cm.Release) else None
    )
    records, _ = cm.plot_release(shuffled.frame, release or shuffled.release, match="id")
    joined = shuffled.data.merge(shuffled.frame, on="id", suffixes=("_z", "_x")).dropna()

    (points,) = [line for line in records.lines if line.get_label().startswith("a record")]
    drawn = set(zip(*points.get_data(), strict=True))
    assert drawn <= set(zip(joined["income_x"], joined["income_z"], strict=True))
    assert len(drawn) > 900


def test_the_note_on_heavy_tails_names_the_column_that_has_them(tmp_path):
    rng = np.random.default_rng(1)
    sales = pd.DataFrame(
        {"price": rng.normal(100.0, 15.0, 500).round(1), "area": rng.pareto(2.0, 500)}
    )
    scheme = cm.ConditionalMasking(0.6, 5.0, decimals=1)
    release = cm.mask_table(sales, {"price": scheme}, rng=3, accept="all")

    cm.report(release, tmp_path / "report.html")

    notes = re.findall(r'<p class="note">(.*)</p>', (tmp_path / "report.html").read_text())
    (heavy,) = [note for note in notes if "heavy tails" in note]
    assert heavy.startswith("price: heavy tails of &#39;area&#39; (kurtosis ")
