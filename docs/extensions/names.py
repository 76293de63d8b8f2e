"""Names of the package in sentences become links to their pages.

These are names in double backquotes: ``mask_table``, ``cm.Counts``, ``income.gini()``, and a method by its
name alone where that has an underscore. In docstrings, whose single ones may be arguments, it takes an
underscore, a capital or a dot.
"""

import inspect
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import condmask

WRITTEN = re.compile(
    r"(?:(?:cm|condmask)\.)?(?:(?P<of>\w+(?:\[[^\]]*\])?)\.)?(?P<name>\w+)(?P<call>\(.*\))?", re.DOTALL
)
# what these names hold in the examples, where several classes have a method of the name
HELD = {
    "scheme": "ConditionalMasking", "release": "Release", "counts": "Counts", "estimate": "Estimate",
    "made": "Plan", "population": "NormalCopula",
}  # fmt: skip
KINDS = property | classmethod | staticmethod | type(lambda: None)
QUOTED, NO_WORD = nodes.literal | nodes.title_reference, re.compile(r"[A-Z_.]")
OTHERS = {"np", "pd", "pl", "dd", "self", "table", "frame", "math", "logging"}


def methods():
    """Where each method of a public class is documented: by its name and the class."""
    found = {}
    classes = {name: getattr(condmask, name) for name in condmask.__all__}
    for name, cls in [(name, cls) for name, cls in classes.items() if inspect.isclass(cls)]:
        for method in [each for each in dir(cls) if not each.startswith("_")]:
            home = next(base for base in cls.__mro__ if method in vars(base))
            if home.__module__.startswith("condmask.") and isinstance(vars(home)[method], KINDS):
                here = home is cls or name == "Estimate"  # which has a page for each, wherever it is from
                place = f"condmask.{name}" if here else f"{home.__module__}.{home.__qualname__}"
                found.setdefault(method, {})[name] = f"{place}.{method}"
    return found


METHODS = methods()


def target(text):
    """What a name stands for, such as condmask.Estimate.gini; None for other words."""
    found = WRITTEN.fullmatch(text)
    if found is None:
        return None
    of, name, call = found["of"], found["name"], found["call"]
    if of is None and name in condmask.__all__ and not inspect.ismodule(getattr(condmask, name)):
        return f"condmask.{name}"
    places = METHODS.get(name, {})
    if of in places or HELD.get(of) in places:
        return places[of if of in places else HELD[of]]
    plain = of is None and call is None and "_" not in name  # an argument, or just a word
    if plain or of in OTHERS:
        return None
    return places.get("Estimate") or (next(iter(places.values())) if len(set(places.values())) == 1 else None)


class Links(SphinxTransform):
    """Puts a reference round each name in a sentence."""

    default_priority = 500

    def apply(self, **_):
        for literal in list(self.document.findall(lambda node: isinstance(node, QUOTED))):
            single = isinstance(literal, nodes.title_reference)
            name = None if single and not NO_WORD.search(literal.astext()) else target(literal.astext())
            if name is None or isinstance(
                literal.parent, nodes.reference | nodes.title | addnodes.pending_xref
            ):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refdoc=self.env.docname
            )
            literal.replace_self(link)
            link += literal


def setup(app):
    """Called by Sphinx."""
    app.add_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
