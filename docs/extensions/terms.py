"""The first use of a term on a page becomes a link to the glossary, where no ``:term:`` does so already.

Only words that mean nothing else are looked for: "release" and "record" are terms, too, but every page has
them everywhere.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

TERMS = [
    "attacker", "disclosure risk", "donor pool", "donor", "heap", "insider", "lift", "pseudo-value",
    "reverse mapping", "stratum", "strata", "swap probability", "swap status", "T_1", "T_b",
]  # fmt: skip
USED = re.compile(rf"\b({'|'.join(TERMS)})(?:e?s)?\b")
WITHOUT = (
    "glossary",
    "changelog",
    "literature",
    "citing",
    "contributing",
    "code_of_conduct",
    "api",
    "estimate",
)


def split(text, seen):
    """A text as words and links; terms that were `seen` get none."""
    parts, end = [], 0
    for found in USED.finditer(text):
        if found[1] not in seen:
            seen.add(found[1])
            link = addnodes.pending_xref(
                "", refdomain="std", reftype="term", reftarget=found[1], refexplicit=True, refwarn=True
            )
            link += nodes.inline("", found[0], classes=["xref", "std", "std-term"])
            parts += [nodes.Text(text[end : found.start()]), link]
            end = found.end()
    return [*parts, nodes.Text(text[end:])]


class Terms(SphinxTransform):
    """Links to the glossary, in paragraphs."""

    default_priority = 880  # after quotes were made

    def apply(self, **_):
        if self.env.docname.startswith(WITHOUT):
            return
        links = self.document.findall(addnodes.pending_xref)
        seen = {link["reftarget"] for link in links if link.get("reftype") == "term"}
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.paragraph) and USED.search(text):
                parts = split(text.astext(), seen)
                for part in parts:
                    if isinstance(part, addnodes.pending_xref):
                        part["refdoc"] = self.env.docname
                text.parent.replace(text, parts)


def setup(app):
    """Called by Sphinx."""
    app.add_transform(Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
