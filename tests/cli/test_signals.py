"""Signals end a command, also where Python loses the exception that one raises. Oracle: what is raised."""

import os
import signal
import sys
import time

import pytest

from condmask.cli.signals import Ended, ended_by_signals

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals here")


class Killed:
    """Gets a signal while it is collected, where Python loses exceptions."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        signal.raise_signal(self.number)


@pytest.fixture(autouse=True)
def heard():
    """Signals are heard, which a shell may have told its jobs in the background to ignore."""
    usual = dict.fromkeys((signal.SIGTERM, signal.SIGHUP), signal.SIG_DFL)
    usual[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_the_command_wherever_it_comes(name, collected):
    number, expected = getattr(signal, name), KeyboardInterrupt if name == "SIGINT" else Ended
    before, hook = signal.getsignal(number), sys.unraisablehook

    def command():
        with ended_by_signals():
            if collected:
                Killed(number)
            else:
                os.kill(os.getpid(), number)
            time.sleep(60)  # which the signal ends

    with pytest.raises(expected) as caught:
        command()
    assert expected is KeyboardInterrupt or caught.value.signal == number
    assert (signal.getsignal(number), sys.unraisablehook) == (before, hook)


def test_what_else_is_lost_is_reported_as_before(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: seen.append(report.exc_type))
    with ended_by_signals():
        Broken()

    assert seen == [ValueError]


def test_a_signal_that_the_shell_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
    try:
        with ended_by_signals():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
