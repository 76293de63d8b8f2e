"""The grammar that commands share: how one is added, what goes wrong, how many workers."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn


class UsageError(Exception):
    """An argument that no data could make right."""


class Parser(argparse.ArgumentParser):
    """Wrong usage in two lines: the usage and the error."""

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
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    made.set_defaults(run=run)
    made.add_argument("--json", action="store_true", help="print JSON")
    return made


def add_workers(parser: argparse.ArgumentParser) -> None:
    """``--workers``, for the commands that compute."""
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads (default 1)")


def workers(args: argparse.Namespace) -> Any:
    """How many threads; checked."""
    from condmask import _checks

    return _checks.workers(args.workers)


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """The API's complaint about an argument is one about usage."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
