"""The pages of the API leave nothing out. Oracle: what the package itself says is public."""

import inspect
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import condmask
from condmask import kernels

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "api.rst").read_text("utf-8")
PUBLIC = [name for name in condmask.__all__ if name not in ("dask", "kernels")]
CLASSES = [name for name in PUBLIC if inspect.isclass(getattr(condmask, name))]
KERNELS = [module.name for module in pkgutil.iter_modules(kernels.__path__)]


def entries(page):
    """The names that have a page of their own, and the class that is described on this one."""
    tables = re.findall(r"^   ~(condmask\.[\w.]+)$", page, re.MULTILINE)
    return {*tables, *re.findall(r"^\.\. autoclass:: (\S+)$", page, re.MULTILINE)}


def methods(cls):
    """(class that defines it, name, object) of all public methods and properties that are ours."""
    for name in dir(cls):
        home = next(base for base in cls.__mro__ if name in vars(base))
        thing = vars(home)[name]
        ours = home.__module__.startswith("condmask.")
        if ours and not name.startswith("_") and isinstance(
            thing, property | classmethod | staticmethod | type(methods)
        ):  # fmt: skip
            yield home, name, thing


def missing(cls, page):
    """The public methods of a class that the pages leave out, or that have nothing to show there.

    The page of a class has all its own methods, but for Estimate, whose methods have pages.
    """
    found, public = entries(page), {getattr(condmask, name): f"condmask.{name}" for name in CLASSES}
    for home, name, _ in methods(cls):
        place = public.get(home, f"{home.__module__}.{home.__qualname__}")
        there = f"{public[cls]}.{name}" if cls is condmask.Estimate else place
        if there not in found or not inspect.getdoc(getattr(cls, name)):
            yield f"{home.__name__}.{name}"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_page(name):
    assert f"condmask.{name}" in entries(PAGE)


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_is_on_a_page(name):
    assert list(missing(getattr(condmask, name), PAGE)) == []


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_module_has_a_page(name):
    assert f"condmask.kernels.{name}" in entries(PAGE)


@pytest.mark.parametrize("kind", ["class", "module"])
def test_the_page_of_a_class_or_a_module_shows_its_members(kind):
    template = (DOCS / "_templates" / "autosummary" / f"{kind}.rst").read_text("utf-8")

    assert re.search(r"^\.\. auto(class|module)::.*\n   :members:$", template, re.MULTILINE)


def test_pages_have_names_that_every_file_system_tells_apart():
    files = runpy.run_path(str(DOCS / "conf.py"))["autosummary_filename_map"]
    names = [files.get(name, name).lower() for name in entries(PAGE)]

    assert len(names) == len(set(names))


def test_something_is_looked_for():
    # without these, a listing that came out empty would pass all of the above
    assert len(CLASSES) >= 15
    assert len(KERNELS) >= 12
    assert {name for _, name, _ in methods(condmask.Estimate)} >= {"mean", "cdf", "quantile", "n"}
    assert {name for _, name, _ in methods(condmask.RankSwapping)} >= {"mask", "risk", "to_dict"}


def test_a_method_of_an_estimate_that_is_left_out_is_found():
    page = PAGE.replace("   ~condmask.Estimate.gini\n", "")

    assert [name.split(".")[-1] for name in missing(condmask.Estimate, page)] == ["gini"]


def test_what_is_left_out_is_found():
    page = PAGE.replace("   ~condmask.Counts\n", "")

    assert "Counts.update" in list(missing(condmask.Counts, page))
    assert list(missing(condmask.Counts, PAGE)) == []
