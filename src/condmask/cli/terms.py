"""What the API says of its arguments, said of the options of a command."""

import argparse
import re
from collections.abc import Callable


def in_terms_of_column(to_cli_terms: Callable[[str], str], column: str) -> Callable[[str], str]:
    """Spoken of a column of a file, which the API knows as x."""
    return lambda text: re.sub(r"\bx (?=must |\(\d)", lambda _: f"{column} ", to_cli_terms(text))


def to_cli_terms(text: str, options: dict[str, argparse.Action], *, recipe: bool = False) -> str:
    """A sentence about arguments of the API, about options instead."""

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], (match["value"] or "").strip("'\"")
        if name not in options:  # the repr of a scheme, too
            return match[0]
        long = options[name].option_strings[-1]
        return long if options[name].nargs == 0 else f"{long} {value}"

    known = {word for action in options.values() for word in action.option_strings}

    def here(match: re.Match[str]) -> str:
        """The option that stands beside an argument; the keys of a recipe are arguments."""
        named = match["option"].split()[0]
        return match["argument"] if recipe and named not in known else match["option"]

    text = re.sub(r"(?P<option>--[a-z-]+) \((?P<argument>\w+=\w+)\)", here, text)
    text = re.sub(r"(?P<argument>\w+=(?:\([^)]*\)|\S+)) \((?P<option>--[^)]+)\)", here, text)
    if not recipe:
        text = re.sub(r'encoding=("[^(]*) \(--encoding\)', r"--encoding \1", text)
        if "--encoding" not in known:  # of a release, whose analysts cannot say it
            text = re.sub(
                r"; --encoding .* says", "; condmask mask --encoding says, when it is masked,", text
            )
    text = text.replace(" or a map-like callable", "").replace('nan_policy="omit"', "--omit-missing")
    text = text.replace("round=True", "--round")
    text = re.sub(
        r"[A-Z]\w+\([^()]*\)|\b(?P<name>[a-z_]+)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.+/-]*\w)", option, text
    )
    for name in (name for name in options if "_" in name):  # which no other word looks like
        text = re.sub(rf"(?<![\w'\"]){name}(?= (and|at|must) )", options[name].option_strings[-1], text)
    first, _, rest = text.partition(" ")
    if first in options and rest.startswith(("must", "may")):
        return f"{options[first].option_strings[-1]} {rest}"
    return text
