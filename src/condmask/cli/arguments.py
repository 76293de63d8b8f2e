"""The grammar that commands share: how one is added, what goes wrong, how many workers."""

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError


class UsageError(CondmaskError):
    """An argument that no data could make right."""


class Once(argparse.Action):
    """An option with a value, which is given once: the last of two would win without a word."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        options = namespace.__dict__.setdefault("options_given", set())
        if option is not None and self.dest in options:
            parser.error(f"{option} must be given once, got it twice")
        options.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Wrong usage in two lines: the usage and the error."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def to_cli_terms(self, text: str) -> str:
        """What the API says of its arguments, in terms of this command's options."""
        options = [action for action in self._actions if action.option_strings]
        return to_cli_terms(text, {action.dest: action for action in reversed(options)})

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"condmask: error: {message}\n")


class Version(argparse.Action):
    """``--version``, looked up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"condmask {version('condmask')}")
        parser.exit()


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], str], text: str
) -> argparse.ArgumentParser:
    """Add a command; ``run`` turns its arguments into what is printed."""
    parser: Parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    parser.set_defaults(run=run, to_cli_terms=parser.to_cli_terms)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def add_workers(parser: argparse.ArgumentParser) -> None:
    """``--workers``, for the commands that compute."""
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads (default 1)")


def add_again(parser: argparse.ArgumentParser) -> None:
    """``--again``, for the commands that release."""
    parser.add_argument(
        "--again",
        action="store_true",
        help="release records that were released before, and say what that costs",
    )


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """``--ledger``, for the commands that look into it."""
    parser.add_argument(
        "--ledger", default=True, metavar="PATH", help="file of earlier releases (default: the user's own)"
    )


def workers(args: argparse.Namespace) -> Any:
    """How many threads; checked."""
    from condmask import _checks

    return _checks.workers(args.workers)


def in_terms_of_column(to_cli_terms: Callable[[str], str], column: str) -> Callable[[str], str]:
    """Spoken of a column of a file, which the API knows as x."""
    return lambda text: re.sub(r"\bx (?=must |\(\d)", lambda _: f"{column} ", to_cli_terms(text))


def to_cli_terms(text: str, options: dict[str, argparse.Action]) -> str:
    """A sentence about arguments of the API, about options instead."""

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], (match["value"] or "").strip("'\"")
        if name not in options:  # the repr of a scheme, too
            return match[0]
        long = options[name].option_strings[-1]
        return long if options[name].nargs == 0 else f"{long} {value}"

    text = re.sub(r"(--[a-z-]+) \(\w+=\w+\)", r"\1", text)
    text = re.sub(r"\w+=(?:\([^)]*\)|\S+) \((--[^)]+)\)", r"\1", text)
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


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """The API's complaint about an argument is one about usage."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        raise UsageError(str(error)) from error
