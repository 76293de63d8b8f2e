"""The pages of the API leave nothing out. Oracle: what the package itself says is public."""

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import condmask
from condmask import kernels

DOCS = Path(__file__).parents[1] / "docs"
PAGE = "\n".join((DOCS / name).read_text() for name in ("api.rst", "estimate.rst"))
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
PUBLIC = [name for name in condmask.__all__ if name != "kernels"]
CLASSES = [name for name in PUBLIC if inspect.isclass(getattr(condmask, name))]
KERNELS = [module.name for module in pkgutil.iter_modules(kernels.__path__)]


def entries(page):
    """What a page documents: the kind and the options of each directive, by name."""
    return {name: (kind, options) for kind, name, options in DIRECTIVE.findall(page)}


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
    """The public methods of a class that a page leaves out, or that have nothing to show there."""
    found, public = entries(page), {getattr(condmask, name): f"condmask.{name}" for name in CLASSES}
    for home, name, _ in methods(cls):
        _, options = found.get(public.get(home, f"{home.__module__}.{home.__qualname__}"), ("", ""))
        there = ":members:\n" in options or f"{public[cls]}.{name}" in found
        if not there or not inspect.getdoc(getattr(cls, name)):
            yield f"{home.__name__}.{name}"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_on_the_page(name):
    kind, _ = entries(PAGE).get(f"condmask.{name}", ("", ""))

    assert kind == ("class" if name in CLASSES else "function")


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_is_on_the_page(name):
    assert list(missing(getattr(condmask, name), PAGE)) == []


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_module_is_on_the_page(name):
    assert entries(PAGE).get(f"condmask.kernels.{name}") == ("module", "   :members:\n")


def test_something_is_looked_for():
    # without these, a listing that came out empty would pass all of the above
    assert len(CLASSES) >= 15
    assert len(KERNELS) >= 12
    assert {name for _, name, _ in methods(condmask.Estimate)} >= {"mean", "cdf", "quantile", "n"}
    assert {name for _, name, _ in methods(condmask.RankSwapping)} >= {"mask", "risk", "to_dict"}


def test_a_method_of_an_estimate_that_is_left_out_is_found():
    page = PAGE.replace(".. automethod:: condmask.Estimate.gini\n", "")

    assert [name.split(".")[-1] for name in missing(condmask.Estimate, page)] == ["gini"]


def test_what_is_left_out_is_found():
    page = PAGE.replace(".. autoclass:: condmask.Counts\n   :members:\n", ".. autoclass:: condmask.Counts\n")

    assert "Counts.update" in list(missing(condmask.Counts, page))
    assert list(missing(condmask.Counts, PAGE)) == []
