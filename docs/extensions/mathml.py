"""Mathematics as MathML, written when the site is built: readers need no network, no scripts and no LaTeX.

latex2mathml translates; a few rules of typesetting that it leaves to the browser are added here. A formula
that it does not know in full is a warning at the formula's own line, and stops a build with ``-W``.
"""

import re
import unicodedata
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ROWS = {"math", "mrow", "mtd", "msqrt"}  # their children stand beside each other
PARTS = {"mfrac": 2, "msup": 2, "msub": 2, "mover": 2, "munder": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
OPENING, CLOSING = set("([{⌊"), set(")]}⌋")
MINUS, PRIMES = "\N{MINUS SIGN}", {"\N{PRIME}", "\N{DOUBLE PRIME}"}
BEFORE_A_SIGN = OPENING | set("=≤≥<>,;+") | {MINUS}
SPACE = "0.1667em"  # TeX's thin space


def mathml(text, *, as_block=False):
    """A formula in LaTeX as MathML.

    Raises
    ------
    ValueError
        Part of the formula is not known.
    """
    display = "block" if as_block else "inline"
    try:
        tree = ElementTree.fromstring(convert(_upright(_aligned(text, as_block)), NAMESPACE, display))
    except Exception as error:  # of many kinds, its own and those of the list and dict it looks in
        raise ValueError(f"not understood ({type(error).__name__}: {error})") from error
    for element in tree.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    tree.attrib = {"xmlns": NAMESPACE, "display": display}
    for element in tree.iter():
        _characters(element)
    for element in tree.iter():
        if element.tag in ROWS:
            _spacing(element)
    for element in tree.iter():
        if len(element) != PARTS.get(element.tag, len(element)):
            raise ValueError(f"not understood (a part of a {element.tag} is missing)")
    left = [element.text for element in tree.iter() if "\\" in (element.text or "")]
    if left:
        raise ValueError(f"{left[0]} is not known")
    return ElementTree.tostring(tree, encoding="unicode")


def _aligned(text, as_block):
    """Several lines, as Sphinx lets one write them, are aligned."""
    outside = re.sub(r"\\begin\{(\w+)\}.*?\\end\{\1\}", "", text, flags=re.DOTALL)
    return rf"\begin{{align*}}{text}\end{{align*}}" if as_block and r"\\" in outside else text


def _upright(text):
    """Words in a formula are text: browsers set single letters in italics whatever the variant."""
    words = re.compile(r"\\(?:mathrm|mathtt)\{([^{}]*)\}")
    text = words.sub(lambda found: rf"\text{{{found[1].replace(chr(92) + ' ', ' ')}}}", text)
    return re.sub(r"\\operatorname\{([^{}]*)\}", r"\\text{\1}\\,", text)


def _characters(element):
    """Signs that are no identifiers, and what browsers do not draw well from attributes and accents."""
    element.text = text = re.sub(
        r"^\\(?=[{}]$)", "", element.text or ""
    )  # large braces come as they are typed
    if element.tag == "mi" and text in {"⌊", "⌋", ":"}:
        element.tag, element.attrib = "mo", {"stretchy": "false"}
    if element.tag == "mo" and (text.isalpha() or text == "∞"):  # sup, min
        element.tag = "mi"
    if element.tag == "mi" and len(text) == 1 and unicodedata.name(text).startswith("GREEK CAPITAL"):
        element.set("mathvariant", "normal")
    if element.tag == "mo" and text in {"|", "/"}:
        element.attrib |= {"lspace": "0", "rspace": "0"}
    if element.get("mathvariant") == "script":
        element.text = _script(text)
        del element.attrib["mathvariant"]
    if element.tag == "mover" and element[1].text in {"¯", "―"}:  # no accent is as wide as what is under it
        element.tag, element.attrib = "mrow", {"class": "overline"}
        element.remove(element[1])
    if (
        element.tag == "msqrt"
    ):  # the sign is never lower than this; what is, would have it hang below the line
        element.insert(0, ElementTree.Element("mspace", width="0", height="0.75em", depth="0.2em"))
    if element.tag == "msup" and element[1].text in PRIMES:  # these are raised already
        element.tag = "mrow"
        element[1].tag, element[1].attrib = "mo", {"lspace": "0", "rspace": "0"}


def _script(letter):
    for name in (f"SCRIPT CAPITAL {letter}", f"MATHEMATICAL SCRIPT CAPITAL {letter}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            pass
    raise ValueError(f"there is no script {letter}")


def _spacing(row):
    """A thin space about log, sin, sup; a minus after a relation is a sign."""
    children = list(row)
    for before, element, after in zip([None, *children], children, [*children[1:], None], strict=False):
        if _is_function(element):
            if before is not None and before.tag != "mspace" and _text(before) not in BEFORE_A_SIGN:
                row.insert(list(row).index(element), _thin())
            if after is not None and after.tag != "mspace" and _text(after) not in OPENING | CLOSING:
                row.insert(list(row).index(element) + 1, _thin())
        elif _text(element) == MINUS and before is not None and _text(before) in BEFORE_A_SIGN:
            element.set("form", "prefix")


def _is_function(element):
    base = element[0] if element.tag in {"msup", "msub", "munder"} else element
    return base.tag == "mi" and len(base.text or "") > 1


def _text(element):
    return element.text if element.tag == "mo" else None


def _thin():
    return ElementTree.Element("mspace", width=SPACE)


def inline(writer, node):
    """A formula within a sentence."""
    writer.body.append(f'<span class="math notranslate">{_translated(node, as_block=False)}</span>')
    raise nodes.SkipNode


def displayed(writer, node):
    """A formula on lines of its own, with its number where it has one."""
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f'<div class="formula">{_translated(node, as_block=True)}</div></div>\n')
    raise nodes.SkipNode


def _translated(node, *, as_block):
    try:
        return mathml(node.astext().strip(), as_block=as_block)
    except ValueError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
