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
import sys
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

x = np.zeros(LONG + 1)
count(1, x)  # compiled
print("begun", flush=True)
count(10**9, x)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C alone")
def test_a_kernel_on_very_many_numbers_can_be_interrupted():
    process = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + LOOP],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)

    _, error = process.communicate(timeout=300)  # the loop alone takes weeks

    assert error.endswith("KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT


def test_what_it_returns_and_raises_comes_back():
    assert answering(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        answering(divmod, 1, 0)


def test_only_the_main_thread_hands_work_on():
    where = []
    answering(lambda: where.append(threading.current_thread()))
    other = threading.Thread(target=answering, args=(lambda: where.append(threading.current_thread()),))
    other.start()
    other.join()

    assert where[0] not in (threading.main_thread(), other)
    assert where[1] is other


def test_long_is_an_array_of_very_many_numbers():
    assert is_long((1.0, np.empty(LONG + 1)))
    assert not is_long((LONG + 1, np.empty(LONG), "text"))
