"""What is kept, how long, and for how many threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

from condmask.samples.cache import BoundedCache


def test_what_was_asked_longest_ago_goes_first():
    cache, made = BoundedCache(2), []
    for key in "abacab":
        assert cache.get(key, lambda key=key: made.append(key) or key.upper()) == key.upper()

    assert made == ["a", "b", "c", "b"]


def test_threads_that_ask_for_the_same_get_it():
    cache, all_ask = BoundedCache(2), Barrier(8)
    cache.get("other", lambda: 0)

    def make():
        sleep(0.02)  # the others arrive
        return 1

    def ask(_):
        all_ask.wait()
        return cache.get("same", make)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [1] * 8
    assert cache.get("other", lambda: 2) == 0


def test_what_was_worked_out_does_not_travel():
    cache = BoundedCache(2)
    cache.get("a", lambda: 0)
    again, made = pickle.loads(pickle.dumps(cache)), []

    for key in "abab":
        again.get(key, lambda key=key: made.append(key))

    assert made == ["a", "b"]
