"""How to cite, and what is cited, agree in all places. Oracle: pyproject.toml and the page of literature."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import condmask

ROOT = Path(__file__).parents[1]
DOI = re.compile(r"\b10\.\d{4,9}/[^\s>,`\"}\]]*[\w)]")
PAGE = (ROOT / "docs" / "literature.rst").read_text("utf-8")
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
    assert dois(path.read_text("utf-8")) <= dois(PAGE)


def test_every_work_is_there_once():
    links = re.findall(r"<https://doi\.org/(\S+)>`__", PAGE)

    assert len(links) == len(set(links)) >= 8
    assert set(links) == dois(PAGE)
