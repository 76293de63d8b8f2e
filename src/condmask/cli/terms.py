"""Sentences of the API about its arguments, reworded for the options of a command."""

import argparse
import re
from collections.abc import Callable


def in_terms_of_column(to_cli_terms: Callable[[str], str], column: str) -> Callable[[str], str]:
    """Name the column of a file, which the API knows as x."""
    return lambda text: re.sub(r"\bx (?=must |with a rare |\(\d)", lambda _: f"{column} ", to_cli_terms(text))


def to_cli_terms(text: str, options: dict[str, argparse.Action], *, recipe: bool = False) -> str:
    """A sentence about arguments of the API, reworded for options."""

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], (match["value"] or "").strip("'\"")
        if name not in options:  # the repr of a scheme, too
            return match[0]
        words = options[name].option_strings
        if options[name].nargs == 0:  # of --reverse-mapping and --no-reverse-mapping the one that is meant
            return words[0] if value == "True" and words[0].startswith("--") else words[-1]
        return f"{words[-1]} {value}"

    known = {word for action in options.values() for word in action.option_strings}

    def here(match: re.Match[str]) -> str:
        """The option beside an argument; in a recipe, whose keys are arguments, the argument."""
        named = match["option"].split()[0]
        return match["argument"] if recipe and named not in known else match["option"]

    text = re.sub(r"(?P<option>--[a-z-]+) \((?P<argument>\w+=\w+)\)", here, text)
    text = re.sub(r"(?P<argument>\w+=(?:\([^)]*\)|\S+)) \((?P<option>--[^)]+)\)", here, text)
    if not recipe:
        text = re.sub(r'encoding=("[^(]*) \(--encoding\)', r"--encoding \1", text)
        if "--encoding" not in known:  # of a release, for which there is no such option
            text = re.sub(
                r"; --encoding .* sets it", "; condmask mask --encoding sets it when the file is masked", text
            )
    text = text.replace(" or a map-like callable", "").replace('nan_policy="omit"', "--omit-missing")
    text = text.replace("round=True", "--round")
    text = re.sub(
        r"[A-Z]\w+\([^()]*\)|\b(?P<name>[a-z_]+)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.+/-]*\w)", option, text
    )
    for name in (name for name in options if "_" in name):  # no other word looks like these
        text = re.sub(rf"(?<![\w'\"]){name}(?= (and|at|must) )", options[name].option_strings[-1], text)
    first, _, rest = text.partition(" ")
    if first in options and rest.startswith(("must", "may")):
        return f"{options[first].option_strings[-1]} {rest}"
    return text
