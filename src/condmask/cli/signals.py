"""Signals that end a command, which cleans up first.

An exception that a signal raises where Python collects an object, such as a generator that was left, is lost:
Python reports it to ``sys.unraisablehook``, and the command goes on. Then it is raised again, a moment later.
"""

import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

# of SIGINT, Python makes a KeyboardInterrupt
REASONS = {"SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}
AGAIN = 0.001  # seconds


class Ended(BaseException):
    """A signal that ends the command."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal, self.reason = number, REASONS[signal.Signals(number).name]


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals that end the command raise an exception, of which none is lost."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ValueError):  # not the main thread
            for name in REASONS:
                number = getattr(signal, name, None)  # Windows has not all
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                    _until_closed(stack, number, _end)
            if hasattr(signal, "setitimer") and hasattr(signal, "SIGALRM"):
                _none_lost(stack)
        yield


def _none_lost(stack: contextlib.ExitStack) -> None:
    """Raise what a signal raised again where Python lost it; a timer waits until the hook has returned."""
    lost: list[BaseException] = []
    before = sys.unraisablehook

    def note(report: Any) -> None:
        if not isinstance(report.exc_value, Ended | KeyboardInterrupt):
            before(report)
            return
        lost.append(report.exc_value)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    def again(*_: Any) -> None:
        if lost:
            raise lost[0]

    _until_closed(stack, signal.SIGALRM, again)
    stack.callback(signal.setitimer, signal.ITIMER_REAL, 0)
    sys.unraisablehook = note
    stack.callback(setattr, sys, "unraisablehook", before)


def _end(number: int, _: Any) -> None:
    raise Ended(number)


def _until_closed(stack: contextlib.ExitStack, number: int, handler: Any) -> None:
    previous = signal.signal(number, handler)
    stack.callback(signal.signal, number, signal.SIG_DFL if previous is None else previous)
