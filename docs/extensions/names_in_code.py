"""Names of the package in examples become links to their pages: ``cm.mask_table``, ``estimate.median``.

What a variable holds is read from its assignments on the page, down to the line at hand. Where they do not
tell, its methods get no links.
"""

import html
import inspect
import re
import typing

import condmask
from docs.extensions.names import METHODS

BLOCK = re.compile(
    r'(<div class="(?:doctest )?highlight-(?:pycon|python|default)\d?\b.*?<pre>)(.*?)(</pre>)', re.DOTALL
)
ASSIGNED = re.compile(r"(?:>>> |\.\.\. )?\s*(\w+) = (.*)", re.DOTALL)
NAME, DOT = r'<span class="n">(\w+)</span>', r'<span class="o">\.</span>'
ITEM = r'<span class="p">\[</span><span class="s\d?">[^<]*</span><span class="p">\]</span>'
OF_PACKAGE = re.compile(rf'<span class="n">cm</span>{DOT}(?:<span class="n">(kernels)</span>{DOT})?{NAME}')
CALL = r"\((?:[^()]|\([^()]*\))*\)"  # with calls in its arguments, and none in theirs
OF_VARIABLE = re.compile(rf"{NAME}((?:{ITEM})?{DOT}){NAME}")
OF_RESULT = re.compile(rf'(<span class="p">[^<]*\)</span>{DOT}){NAME}')


def returned(name):
    """The public class that a function gives, or None."""
    thing = getattr(condmask, name, None)
    if inspect.isclass(thing):
        return name
    cls = typing.get_type_hints(thing).get("return") if inspect.isfunction(thing) else None
    return next((each for each in condmask.__all__ if getattr(condmask, each) is cls), None)


RETURNED = {name: returned(name) for name in condmask.__all__}


def held(expression, variables):
    """The public class of what an expression gives, or None."""
    if re.fullmatch(rf"\w+\.estimate{CALL}", expression):
        return "Estimate"
    if re.fullmatch(rf"cm\.read_release{CALL}", expression):
        return "Estimate" if "," in expression else "Release"
    if called := re.fullmatch(rf"cm\.(\w+)(?:{CALL}|\()", expression):  # which may go on in the next line
        return RETURNED.get(called[1])
    item = re.fullmatch(r"(\w+)\[[^]]*\]", expression)
    return "Estimate" if item and variables.get(item[1]) == "Release" else None


def linked(body, address):
    """The HTML of a page with links in its examples; `address` gives where a name is documented, or None."""
    variables = {}

    def block(found):
        return found[1] + "\n".join(line(each) for each in found[2].split("\n")) + found[3]

    def line(code):
        text = html.unescape(re.sub(r"<[^>]*>", "", code)).split("  #")[0].rstrip()
        if assigned := ASSIGNED.fullmatch(text):
            variables[assigned[1]] = held(assigned[2], variables)
        code = OF_PACKAGE.sub(
            lambda name: link(name[0], ".".join(filter(None, ["condmask", *name.groups()]))), code
        )
        code = OF_VARIABLE.sub(method, code)
        if ".estimate(" in text:
            code = OF_RESULT.sub(lambda name: name[1] + attribute("Estimate", name[2]), code)
        return code

    def method(found):
        cls = variables.get(found[1])
        if "[" in found[2]:
            cls = "Estimate" if cls == "Release" else None
        return f'<span class="n">{found[1]}</span>{found[2]}{attribute(cls, found[3])}'

    def attribute(cls, name):
        return link(f'<span class="n">{name}</span>', METHODS.get(name, {}).get(cls))

    def link(code, name):
        to = name and address(name)
        return f'<a class="in-code" href="{to}">{code}</a>' if to else code

    return BLOCK.sub(block, body)


def on_page(app, page, template, context, doctree):
    """Put links into the examples of a page that is about to be written."""
    if doctree is None:
        return
    objects = app.env.domains["py"].objects

    def address(name):
        entry = objects.get(name)
        return entry and f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"

    context["body"] = linked(context["body"], address)


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
