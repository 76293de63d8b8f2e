"""Formulas as MathML, by latex2mathml when the site is built: readers need no network and no scripts."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)


def inline(writer, node):
    """A formula within a sentence."""
    writer.body.append(mathml(node, node.astext(), "inline"))
    raise nodes.SkipNode


def displayed(writer, node):
    """A formula on lines of its own; several lines are aligned."""
    text = node.astext().strip()
    if r"\\" in re.sub(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", "", text, flags=re.DOTALL):
        text = rf"\begin{{align*}}{text}\end{{align*}}"
    writer.body.append(f'<div class="math">{mathml(node, text, "block")}</div>\n')
    raise nodes.SkipNode


def mathml(node, text, display):
    """The element; what is not understood is a warning at the formula's own line."""
    # browsers slant single letters unless they are text
    words = re.sub(r"\\(?:mathrm|operatorname)\{([^{}]*)\}", r"\\text{\1}", text)
    try:
        found = convert(words, display=display)
    except Exception as error:  # of many kinds, its own and those of the list and dict it looks in
        found = f"\\{type(error).__name__}"
    if left := re.search(r"\\\w+", found):
        logger.warning("formula %r: %s is not known", text, left[0], location=node)
    return found.replace(r"\{", "{").replace(r"\}", "}")  # large braces come as they are typed


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
