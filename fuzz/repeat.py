"""One input again, in a process that it may take down; and the shortest input with the same fault."""

import faulthandler
import os
import select
import signal
import time
import traceback

from fuzz.target import Watched, own_place, signature

HANGS = 10  # seconds without an answer


def fault_of(target, data, *, show=False):
    """The fault of a target on an input, or None; if asked for, its traceback goes to standard error."""
    reading, writing = os.pipe()
    with own_place():  # which the parent clears away, whatever becomes of the child
        return _forked(target, data, reading, writing, show)


def _forked(target, data, reading, writing, show):
    """The fault of a child that runs the input."""
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(target, data, writing, show)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        answered, _, _ = select.select([told], [], [], HANGS)
        if not answered:
            os.kill(child, signal.SIGKILL)
        fault = told.read().decode() if answered else "hang"
    _, status = os.waitpid(child, 0)
    if answered and os.WIFSIGNALED(status):
        fault = signal.Signals(os.WTERMSIG(status)).name
    return fault or None


def _run(target, data, writing, show):
    """Run an input, say what its fault is, and end."""
    try:
        faulthandler.disable()  # of the parent
        if show:
            faulthandler.enable()
            faulthandler.dump_traceback_later(HANGS - 1)
        Watched(target)(data)
    except BaseException as error:
        if show:
            traceback.print_exception(error)
        os.write(writing, signature(error).encode())
    finally:
        os._exit(0)


def shortest(target, data, *, seconds=30):
    """The input without the runs of bytes that its fault does not need; None if its fault does not repeat."""
    fault, stop = fault_of(target, data), time.monotonic() + seconds
    if fault is None:
        return None
    length = len(data) // 2
    while length >= 1:
        at = 0
        while at < len(data) and time.monotonic() < stop:
            less = data[:at] + data[at + length :]
            if fault_of(target, less) == fault:
                data = less
            else:
                at += length
        length //= 2
    return data
