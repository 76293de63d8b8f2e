"""What the site makes by itself: links from names to their pages.

Oracle: what a reader would expect of each line.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer

from docs.extensions.names import target
from docs.extensions.names_in_code import linked
from docs.extensions.stubs import remove_old


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mask_table", "condmask.mask_table"),
        ("cm.Counts", "condmask.Counts"),
        ("cdf(t)", "condmask.Estimate.cdf"),
        ("expectation_interval", "condmask.Estimate.expectation_interval"),
        ("income.plot_cdf()", "condmask.Estimate.plot_cdf"),
        ('release["income"].correlation(release["bonus"])', "condmask.Estimate.correlation"),
        ("condmask.Estimate.gini", "condmask.Estimate.gini"),
        ('release.write("masked.parquet")', "condmask.Release.write"),
        ("scheme.mask", "condmask.ConditionalMasking.mask"),
        ("scheme.risk()", "condmask.scheme.Scheme.risk"),
        ("bandwidth", None),  # the argument
        ("mean", None),
        ("np.mean()", None),
        ("to_frame()", None),  # of several classes
        ("condmask mask", None),
        ("p = 0.6", None),
    ],
)
def test_a_name_in_a_sentence(text, expected):
    assert target(text) == expected


def page(*lines):
    """A page with an example, coloured as Sphinx does it."""
    example = "".join(f">>> {line}\n" for line in lines)
    coloured = highlight(example, PythonConsoleLexer(), HtmlFormatter())
    return f'<div class="highlight-pycon notranslate">{coloured}</div>'


def links(*lines):
    return re.findall(r'class="in-code" href="([^"]*)"', linked(page(*lines), lambda name: name))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["release = cm.mask_table(frame, schemes)"], ["condmask.mask_table"]),
        (["e = scheme.estimate(scheme.mask(x, rng=2))", "e.gini()"], ["condmask.Estimate.gini"]),
        (["scheme.estimate(masked).mean()"], ["condmask.Estimate.mean"]),
        (
            ['i = cm.read_release("a.csv", "b")', "i.std()"],
            ["condmask.read_release", "condmask.Estimate.std"],
        ),
        (
            ['r = cm.read_release("a.csv")', 'r["b"].std()', 'r.write("b.csv")'],
            ["condmask.read_release", "condmask.Estimate.std", "condmask.Release.write"],
        ),
        (["x = cm.Counts(scheme)", "x = np.ones(3)", "x.update(1)"], ["condmask.Counts"]),
        (["earnings.mean()", 'people["income"].median()', "abs(x).std()"], []),
        (["made = cm.plan(x, **asked)", "made.check(rng=1)"], ["condmask.plan", "condmask.Plan.check"]),
    ],
)
def test_names_in_an_example(lines, expected):
    assert links(*lines) == expected


def test_an_example_reads_as_before_and_other_text_stays():
    text = page("print(scheme.estimate(x).mean(), cm.audit(x, scheme))")
    found = linked(f"<p>cm.audit</p>{text}", lambda name: name)

    assert found != text
    assert re.sub(r"</?a[^>]*>", "", found) == f"<p>cm.audit</p>{text}"


def test_what_is_documented_nowhere_gets_no_link():
    text = page("cm.audit(x, scheme)")

    assert linked(text, lambda name: None) == text


def test_pages_of_names_that_are_listed_no_more_are_removed(tmp_path):
    (tmp_path / "api").mkdir()
    for name in ("condmask.plan", "condmask.Plan-class", "condmask.gone"):
        Path(tmp_path, "api", f"{name}.rst").write_text("", encoding="utf-8")
    (tmp_path / "api.rst").write_text("API\n\n   ~condmask.plan\n   ~condmask.Plan\n", encoding="utf-8")

    config = SimpleNamespace(autosummary_filename_map={"condmask.Plan": "condmask.Plan-class"})
    remove_old(SimpleNamespace(config=config, srcdir=tmp_path))

    assert {path.stem for path in Path(tmp_path, "api").iterdir()} == {"condmask.plan", "condmask.Plan-class"}
