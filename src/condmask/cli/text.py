"""Write results to standard output, and refusals, bugs, warnings and a bar to standard error.

Refusals and warnings name arguments as options (`shell_form`).
"""

import contextlib
import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from condmask.cli.shell_form import in_shell
from condmask.errors import CondmaskError, optional

SILENT_SECONDS = 1.0  # of an audit, before a terminal shows what it does


class UsageError(CondmaskError):
    """The command is wrong, whatever the data are."""


def fail(reason: object, code: int) -> int:
    """Write in one line why nothing was done, and return the exit code."""
    say(f"condmask: error: {in_shell(' '.join(str(reason).split()))}")
    return code


def say(line: str) -> None:
    """Write a line on standard error."""
    print(line, file=sys.stderr)


def listing(schemes: Mapping[str, object]) -> list[str]:
    """Return a line for each column, with its scheme."""
    return [f"{name}: {scheme!r}" for name, scheme in schemes.items()]


def to_json(value: object) -> str:
    """Return a result, or a dict of results, in JSON; NaN and infinities become null."""
    text = json.dumps(value, default=lambda result: result.to_dict())
    return json.dumps(
        json.loads(text, parse_constant=lambda _: None), indent=2, ensure_ascii=False
    )


@contextlib.contextmanager
def one_line_warnings() -> Iterator[list[type[Warning]]]:
    """Show each warning to users once, on one line, and hide those to programmers.

    Yields the list of the categories shown so far.
    """
    shown: list[type[Warning]] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        shown.append(category)
        say(f"warning: {in_shell(' '.join(str(message).split()))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = show
        yield shown


@contextlib.contextmanager
def audit_progress() -> Iterator[None]:
    """Show what the audit is doing on a terminal, from one second on."""
    if not sys.stderr.isatty():
        yield
        return
    logger = logging.getLogger("condmask")
    line = _AuditLine()
    before = logger.level
    logger.addHandler(line)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(line)
        logger.setLevel(before)
        line.clear()


class _AuditLine(logging.Handler):
    """Shows the last message of an audit on one line, which the next one replaces."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._text = ""
        self._shown = False
        self._timer = threading.Timer(SILENT_SECONDS, self._show)
        self._timer.daemon = True
        self._timer.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a message of an audit."""
        text = record.getMessage()
        if text.startswith("auditing"):
            self._text = text
            if not self._timer.is_alive():
                self._show()

    def _show(self) -> None:
        if self._text:
            self._shown = True
            print(f"\r\x1b[K{self._text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int, int | None], None] | None]:
    """Show a bar of the rows read, and then of the rows written, if standard error is a terminal.

    Yields a function of the rows done and of all rows; None if there is no terminal.
    """
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
