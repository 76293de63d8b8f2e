"""The commands on a page, as their parser has them: ``.. commands::`` is a section for each.

A section has what the command does, examples, its usage, and its options by group. So the page always
agrees with ``--help``.
"""

import argparse
import re
from itertools import zip_longest

from sphinx.util.docutils import SphinxDirective

from condmask.cli import parser
from condmask.cli.arguments import usage_of


def sections(top):
    """The text of all sections, in reStructuredText."""
    subparsers = next(each for each in top._actions if isinstance(each, argparse._SubParsersAction))
    return "\n".join(section(each) for each in subparsers.choices.values())


def section(command):
    """The text of the section of one command."""
    lines = [
        f".. _{command.prog.replace(' ', '-')}:", "", command.prog, "^" * len(command.prog), "",
        escaped(command.summary), "", ".. code-block:: sh", "",
        *(f"   {each}" for each in command.examples), "",
        f"Usage: ``{usage_of(command).replace('%%', '%')}``", "", f".. program:: {command.prog}", "",
    ]  # fmt: skip
    for group in command._action_groups:
        shown = [each for each in group._group_actions if each.help is not argparse.SUPPRESS]
        if shown:
            lines += [f".. rubric:: {capital(group.title)}", "", escaped(group.description or ""), ""]
        for action in shown:
            lines += [f".. option:: {written(command, action)}", "", f"   {meaning(command, action)}", ""]
    return "\n".join(lines)


def written(command, action):
    """An option with its value, under all its names: ``-c COLUMN, --column COLUMN``."""
    formatter = command._get_formatter()
    if not action.option_strings:
        return str(action.metavar or action.dest)
    value = formatter._format_args(action, action.dest.upper()) if action.nargs != 0 else ""
    return ", ".join(f"{name} {value}".rstrip() for name in action.option_strings)


def meaning(command, action):
    """The help of an option, as a sentence."""
    text = escaped(command._get_formatter()._expand_help(action))
    return capital(text) + ("" if text.endswith(".") else ".")


def capital(text):
    """Text with a capital at the start, unless it starts with a name such as latin-1."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z.]+(?![\w-])", text) else text


def escaped(text):
    """Text of a terminal in reStructuredText: nothing is markup; what one types is set as code."""
    parts = re.split(r"(?<!\w)('[^']+'|--?[a-z](?:[\w-]*\w)?)(?!\w)", " ".join(text.split()))
    plain = [re.sub(r"([\\*`|])", r"\\\1", part) for part in parts[::2]]
    typed = [f"``{part}``" for part in parts[1::2]]
    return "".join(map("".join, zip_longest(plain, typed, fillvalue="")))


class Commands(SphinxDirective):
    """``.. commands::``"""

    def run(self):
        return self.parse_text_to_nodes(sections(parser()), allow_section_headings=True)


def setup(app):
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
