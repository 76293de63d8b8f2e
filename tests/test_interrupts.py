"""Ctrl-C ends the wait for compiled code that runs for long.

Oracle: signals sent to a process whose kernel would need minutes.
"""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from condmask._interrupts import LONG, answering, is_long

LOOP = """
import signal
import numpy as np
from condmask._interrupts import LONG
from condmask._jit import kernel

@kernel
def count(turns, x):
    found = 0
    for turn in range(turns):
        for k in range(x.size):
            found ^= np.int64(x[k]) * turn
    return found

signal.signal(signal.SIGINT, signal.default_int_handler)  # off where the tests run in the background
x = np.zeros(LONG + 1)
count(1, x)  # compiled
print("begun", flush=True)
count(10**9, x)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C alone")
def test_a_kernel_on_very_many_numbers_can_be_interrupted():
    process = subprocess.Popen(
        [sys.executable, "-c", LOOP], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)  # the loop alone takes weeks
    finally:
        process.kill()

    assert error.endswith("KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT


MANY = np.zeros(LONG + 1)


def test_what_it_returns_and_raises_comes_back():
    assert answering(np.size, MANY) == LONG + 1
    assert answering(np.sum, np.ones(3), axis=0) == 3.0
    with pytest.raises(IndexError):
        answering(np.take, MANY, LONG + 1)


def test_only_the_main_thread_hands_on_what_takes_long():
    where = []

    def look(_):
        where.append(threading.current_thread())

    answering(look, MANY)
    answering(look, MANY[1:])
    other = threading.Thread(target=answering, args=(look, MANY))
    other.start()
    other.join()

    assert where[0] not in (threading.main_thread(), other)
    assert where[1:] == [threading.main_thread(), other]


def test_long_is_an_array_of_very_many_numbers():
    assert is_long((1.0, MANY))
    assert is_long((1.0, [2.0, MANY]))
    assert not is_long((LONG + 1, MANY[1:], "text", [1.0]))
