"""The grammar that commands share: how a command is added, groups of options, wrong usage.

One rule for values: an option has one value or none, and is repeated for several. IN is what a command reads,
OUT what it writes.
"""

import argparse
import contextlib
import difflib
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from condmask.cli.terms import to_cli_terms
from condmask.errors import ArgumentError, ArgumentTypeError, CondmaskError
from condmask.schemes.parameters import whole

ORIGINAL = "the original data: a file, a folder or 'glob' of files"
NEGATIVE = re.compile(r"-(\d|\.\d|inf$)")  # numbers, also with exponents, are not options


class UsageError(CondmaskError):
    """An argument that no data could make right."""


class Once(argparse.Action):
    """An option with a value, given at most once: otherwise the last of two would win silently."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        options = namespace.__dict__.setdefault("options_given", set())
        if option is not None and self.dest in options:
            parser.error(f"{option} must be given once, got it twice")
        options.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Says wrong usage in one line, below the usage if something is missing or unknown.

    `summary` and `examples` stand above the options: what a command does, and what to type.
    """

    summary: str
    examples: tuple[str, ...]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("action", None, Once)
        self.register("action", "store", Once)
        self._negative_number_matcher = NEGATIVE

    def to_cli_terms(self, text: str) -> str:
        """A sentence of the API about its arguments, in terms of this command's options."""
        options = [action for action in self._actions if action.option_strings]
        by_name = {action.dest: action for action in reversed(options)}
        return to_cli_terms(text, by_name, recipe=any(action.dest == "recipe" for action in self._actions))

    def format_usage(self) -> str:
        self.usage = usage_of(self)
        return super().format_usage()

    def format_help(self) -> str:
        self.usage = usage_of(self)
        return super().format_help()

    def parse_known_args(self, *args: Any, **options: Any) -> Any:
        """Refuse whatever is left over, and suggest the command's option that is nearest."""
        found, rest = super().parse_known_args(*args, **options)
        if rest:
            known = [option for action in self._actions for option in action.option_strings]
            near = difflib.get_close_matches(next((text for text in rest if text[:1] == "-"), ""), known, 1)
            self.error(f"unknown: {shlex.join(rest)}" + (f"; did you mean {near[0]}?" if near else ""))
        return found, rest

    def error(self, message: str) -> NoReturn:
        message, of_value = re.subn(r"^argument (?:-\w/)?(\S+): (?=must )", r"\1 ", message)
        if not of_value:
            self.print_usage(sys.stderr)
        self.exit(2, f"condmask: error: {' '.join(message.split())}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """In the words of the API, whatever the version of Python."""
        if action.choices is not None and value not in action.choices:
            allowed = ", ".join(map(repr, action.choices))
            raise argparse.ArgumentError(action, f"must be one of {allowed}, got {value!r}")


def usage_of(parser: argparse.ArgumentParser) -> str:
    """What must be given to a command; its options are listed below."""
    needed = [
        f"{action.option_strings[0]} {action.metavar or action.dest.upper()}"
        for action in parser._actions
        if action.required and action.option_strings
    ]
    places = [str(action.metavar) for action in parser._actions if not action.option_strings]
    options = [] if places == ["COMMAND"] else ["[options]"]
    return " ".join([parser.prog, *places, *needed, *options]).replace("%", "%%")


class Version(argparse.Action):
    """``--version``, looked up only when needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"condmask {version('condmask')}")
        parser.exit()


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], str], text: str, *examples: str
) -> argparse.ArgumentParser:
    """Add a command; ``run`` turns its arguments into what is printed, `examples` are calls of it."""
    description = "\n  ".join([textwrap.fill(f"{text} For example:", 79) + "\n", *examples])
    parser: Parser = commands.add_parser(
        name, help=text, description=description, allow_abbrev=False, add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.summary, parser.examples = text, examples
    parser.set_defaults(run=run, to_cli_terms=parser.to_cli_terms)
    return parser


def add_files(parser: argparse.ArgumentParser) -> Any:
    """The first group: the files that are read and written."""
    return parser.add_argument_group("files")


def add_source(parser: argparse.ArgumentParser, name: str = "file") -> Any:
    """Add IN, the original data, as the first of the files; returns the group of these."""
    files = add_files(parser)
    files.add_argument(name, metavar="IN", help=ORIGINAL)
    return files


def add_release(parser: argparse.ArgumentParser, name: str = "file") -> Any:
    """Add IN, a release, as the first of the files; returns the group of these."""
    files = add_files(parser)
    files.add_argument(name, metavar="IN", help="the masked file or folder")
    return files


def add_running(parser: argparse.ArgumentParser, *, json: bool = True, workers: bool = False) -> None:
    """The last group: options of all commands, and ``--workers`` for those that compute."""
    running = parser.add_argument_group("running")
    if json:
        running.add_argument("--json", action="store_true", help="print the result as JSON")
    if workers:
        running.add_argument(
            "--workers", type=typed(whole), default=1, metavar="N", help="number of threads (default 1)"
        )
    running.add_argument("--verbose", action="store_true", help="report on standard error what is being done")
    running.add_argument("-h", "--help", action="help", help="show this help and exit")


def add_again(group: Any) -> None:
    """``--again``, for the commands that release."""
    group.add_argument(
        "--again",
        action="store_true",
        help="release records that were released before, with a warning of what that reveals",
    )


def add_estimand(group: Any, text: str) -> None:
    """``--target``: whether intervals and errors are for the population or the file."""
    group.add_argument(
        "--target", default="population", choices=("population", "file"), help=f"{text} (default population)"
    )


def typed(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of an option's text, whose refusals are printed unchanged."""

    def value(text: str) -> Any:
        try:
            return read(text)
        except ArgumentError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value


def workers(args: argparse.Namespace) -> Any:
    """The number of threads, checked."""
    from condmask import _checks

    return _checks.workers(args.workers)


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Turn what the API refuses about an argument into wrong usage."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        raise UsageError(str(error)) from error
