"""The pages of the API leave nothing out, the site needs no network, and the README's program runs.

Oracle: what the package itself says is public.
"""

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import condmask
from condmask import kernels
from docs.extensions.offline import faults

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "api.rst").read_text("utf-8")
PUBLIC = [f"condmask.{name}" for name in condmask.__all__ if name not in ("dask", "kernels")]
KERNELS = [f"condmask.kernels.{module.name}" for module in pkgutil.iter_modules(kernels.__path__)]
ESTIMATE = [
    f"condmask.Estimate.{name}"
    for name, thing in inspect.getmembers(condmask.Estimate)
    if not name.startswith("_") and (callable(thing) or isinstance(thing, property))
]


@pytest.mark.parametrize("name", [*PUBLIC, *KERNELS, *ESTIMATE])
def test_every_public_name_has_a_page(name):
    # the page of a class has all its methods, but for Estimate, whose methods have pages
    assert re.search(rf"^( *~|\.\. autoclass:: ){re.escape(name)}$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(getattr(condmask, name[9:]))])
def test_every_public_method_says_what_it_does(name):
    for method, thing in inspect.getmembers(getattr(condmask, name[9:]), inspect.isroutine):
        if not method.startswith("_") and getattr(thing, "__module__", "").startswith("condmask"):
            assert inspect.getdoc(thing), method


def test_pages_and_sections_that_the_code_names_exist():
    code = [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    named = {
        found
        for file in code
        for found in re.findall(r'(docs/\w+\.(?:rst|md))(?:,\s+"([^"]+)")?', file.read_text("utf-8"))
    }

    assert len(named) > 20
    for page, section in named:
        text = (ROOT / page).read_text("utf-8")
        heads = re.findall(r"^(.+)\n[-~=]+$", text, re.MULTILINE) + re.findall(r"^\*(.+?)\.\*", text, re.M)
        assert not section or " ".join(section.split()) in heads, (page, section)


def test_pages_hide_no_setup():
    # what a page needs is on it, so that the run of its examples says that they can be pasted
    hidden = re.compile(r"testsetup|testcleanup|:hide:|:skipif:|doctest: *\+SKIP")
    pages = list(ROOT.glob("docs/**/*.rst"))

    assert len(pages) > 15
    assert [page.name for page in pages if hidden.search(page.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ('<script src="//cdn.example.org/a.js"></script>', 1),
        ('<img srcset="a.png 1x, https://example.org/b.png 2x">', 1),
        ('<style>@import "https://example.org/a.css";</style>', 1),
        ('<p style="background: url(//example.org/a.png)">', 1),
        (r"<pre>\sum</pre><p>\sum</p>", 1),
        ("<p>see :doc:`theory`</p>", 1),
        ('<a href="https://example.org/">elsewhere</a><img src="_images/a.svg">', 0),
    ],
)
def test_what_a_reader_offline_would_miss_is_found(page, count):
    assert len(faults(page)) == count


def test_the_first_python_of_the_readme_runs_when_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    names = {}

    exec(programs[0], names)

    assert list(names["release"]) == ["income"]
    assert names["income"].n == names["release"].records
