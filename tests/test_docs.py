"""The pages leave nothing public out, need no network, and agree with each other and with pyproject.toml.

Oracles: what the package itself says is public; pyproject.toml; the page of literature."""

import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest
import yaml

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


DOI = re.compile(r"\b10\.\d{4,9}/[^\s>,`\"}\]]*[\w)]")
LITERATURE = (ROOT / "docs" / "literature.rst").read_text("utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
TEXTS = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.rst"), ROOT / "README.md", ROOT / "CITATION.cff"]
SOURCES = [path for path in TEXTS if DOI.search(path.read_text("utf-8"))]


def dois(text):
    # the last bracket belongs to the link in Markdown, and to the name where one was opened in it
    found = DOI.findall(text)
    return {each if each.count("(") >= each.count(")") else each[:-1] for each in found}


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert CITATION["version"] == project["version"] == condmask.__version__
    assert CITATION["license"] == project["license"]


def test_the_newest_entry_of_the_changelog_is_this_version_and_has_a_date():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    headings = [heading for heading in headings if heading != "[Unreleased]"]
    assert re.fullmatch(rf"\[{re.escape(condmask.__version__)}\] - \d{{4}}-\d\d-\d\d", headings[0])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_work_that_is_cited_is_on_the_literature_page(path):
    assert dois(path.read_text("utf-8")) <= dois(LITERATURE)


def test_every_work_is_there_once():
    links = re.findall(r"<https://doi\.org/(\S+)>`__", LITERATURE)

    assert len(links) == len(set(links)) >= 8
    assert set(links) == dois(LITERATURE)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FLOORS = dict(
    re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", text.partition(";")[0]).groups()
    for text in [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    if not text.startswith("condmask[")
)
PINNED = dict(
    re.findall(r"^([\w-]+)==([\d.]+)\.\*$", (ROOT / ".ci" / "lowest.txt").read_text(), re.MULTILINE)
)
NEEDED = [
    re.match(r"[\w-]+", text)[0]
    for text in (
        *PROJECT["dependencies"],
        *(text for extra in ("dask", "files", "plot") for text in EXTRAS[extra] if "[" not in text),
    )
]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_site_says_what_an_extra_is_for(extra):
    assert f"``{extra}``" in (ROOT / "docs" / "installation.rst").read_text()


@pytest.mark.parametrize("name", sorted({*PINNED, *NEEDED, "pandas", "polars"}))
def test_the_lowest_version_is_tested(name):
    assert PINNED[name] == FLOORS[name].removesuffix(".0") or PINNED[name] == FLOORS[name]
