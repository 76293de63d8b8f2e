"""The tests of the core need nothing but what the extra ``test-core`` installs.

Oracle: the imports in the syntax trees of these tests, and of the modules in ``tests`` that they
import."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import core
import pytest

TESTS = Path(__file__).parent
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())["project"]
REQUIREMENTS = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test-core"]
IMPORT_NAMES = {"scikit-learn": "sklearn"}
FILES = [path for path in sorted(TESTS.glob("*/test_*.py")) if core.is_core(path)]


def installed():
    """Return the names under which the packages of the extra are imported."""
    names = {re.match(r"[\w-]+", text)[0] for text in REQUIREMENTS}
    return {IMPORT_NAMES.get(name, name) for name in names}


def imported(path, read):
    """Return the packages that a file imports, directly or by a module of ``tests``.

    ``read`` collects the files that were read.
    """
    if path in read:
        return set()
    read.add(path)
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
            if node.module == "condmask" and "cli" in {alias.name for alias in node.names}:
                names.add("cyclopts")  # the command line is made with it
    packages = set()
    for name in names:
        helper = TESTS / f"{name}.py"
        if helper.exists():
            packages |= imported(helper, read)
        else:
            packages.add(name)
    return packages - {"condmask", "fixed_keys"} - sys.stdlib_module_names


def test_the_core_has_tests_in_each_of_its_folders():
    assert {path.parent.name for path in FILES} == core.FOLDERS


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_tests_of_the_core_import_only_what_the_extra_installs(path):
    assert imported(path, set()) <= installed()


def test_this_check_finds_another_package():
    path = TESTS / "estimates" / "test_masked_regression.py"

    assert "statsmodels" in imported(path, set()) - installed()


def test_the_extra_has_the_versions_of_the_extra_of_all_tests():
    extras = PROJECT["optional-dependencies"]
    others = {text for name, extra in extras.items() if name != "test-core" for text in extra}

    assert {*extras["test-core"]} <= others
