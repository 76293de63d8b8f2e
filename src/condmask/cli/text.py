"""What commands write: results to standard output; refusals, bugs, warnings and a bar to standard
error."""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from condmask.errors import CondmaskError, optional


class UsageError(CondmaskError):
    """A command that no data could make right."""


def fail(reason: object, code: int) -> int:
    """Say in one line why nothing was done; the exit code."""
    say(f"condmask: error: {' '.join(str(reason).split())}")
    return code


def say(line: str) -> None:
    """Write a line on standard error."""
    print(line, file=sys.stderr)


def listing(schemes: Mapping[str, Any]) -> list[str]:
    """Schemes by column, one a line."""
    return [f"{name}: {scheme!r}" for name, scheme in schemes.items()]


def to_json(value: Any) -> str:
    """A result, or a dict of results, in JSON, which has no NaN and no infinity: null."""
    text = json.dumps(value, default=lambda result: result.to_dict())
    return json.dumps(
        json.loads(text, parse_constant=lambda _: None), indent=2, ensure_ascii=False
    )


@contextlib.contextmanager
def one_line_warnings() -> Iterator[list[type[Warning]]]:
    """Show each warning to users once, on one line; hide those to programmers. Yield the kinds
    shown."""
    shown: list[type[Warning]] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        shown.append(category)
        say(f"warning: {' '.join(str(message).split())}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = show
        yield shown


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on standard error, if that is a terminal: of rows that are read, and then written."""
    if not sys.stderr.isatty():  # without the time that tqdm takes to import
        yield None
        return
    with optional("a bar on the terminal", "files"):
        from tqdm import tqdm

    with tqdm(leave=False, unit=" rows", unit_scale=True) as bar:

        def show(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show
