"""What is worked out once: by one thread, for each object on its own, and in a forked process anew."""

import os
import pickle
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread
from time import sleep

import pytest

from condmask._once import once

LONG = 60  # seconds: the end of what would never end


class Worked:
    """Counts how often its property is worked out."""

    def __init__(self, wait=lambda: None):
        self.wait, self.times = wait, 0

    @once
    def answer(self):
        """The answer."""
        self.times += 1
        self.wait()
        return [42]


def test_of_many_threads_one_works():
    all_ask, one = Barrier(16), Worked(lambda: sleep(0.02))

    def ask(_):
        all_ask.wait(LONG)
        return one.answer

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))

    assert one.times == 1
    assert all(answer is one.answer for answer in answers)


def test_objects_of_a_class_do_not_wait_for_each_other():
    both_work = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: one.answer, [Worked(lambda: both_work.wait(LONG)) for _ in range(2)])

    assert list(found) == [[42], [42]]


def test_what_failed_is_tried_again_by_the_next():
    one = Worked(lambda: 1 / (one.times - 1))
    with pytest.raises(ZeroDivisionError):
        _ = one.answer

    assert one.answer == [42]


def test_what_is_kept_can_travel_and_the_property_has_a_docstring():
    one = Worked(None)
    one.__dict__["answer"] = [1]

    assert pickle.loads(pickle.dumps(one)).answer == [1]
    assert Worked.answer.__doc__ == "The answer."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_lacks():
    begun, end = Event(), Event()
    one = Worked(lambda: (begun.set(), end.wait(LONG)))
    working = Thread(target=lambda: one.answer)
    working.start()
    begun.wait(LONG)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: some locks cannot be mended so
        child = os.fork()
    if child == 0:
        signal.alarm(LONG)
        one.wait = lambda: None
        os._exit(one.answer != [42])
    status = os.waitpid(child, 0)[1]
    end.set()
    working.join()

    assert os.waitstatus_to_exitcode(status) == 0
