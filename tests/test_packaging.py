"""The lowest versions that are promised are those that .ci/run installs. Oracle: the two files themselves."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
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
