"""What is kept, how long, and for how many threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from condmask.samples.cache import BoundedCache


def test_what_was_asked_longest_ago_goes_first():
    cache, made = BoundedCache(2), []
    for key in "abacab":
        assert cache.get(key, lambda key=key: made.append(key) or key.upper()) == key.upper()

    assert made == ["a", "b", "c", "b"]


def test_threads_that_make_the_same_put_nothing_else_out():
    cache, both = BoundedCache(2), Barrier(2)
    cache.get("other", lambda: 0)

    with ThreadPoolExecutor(2) as pool:
        values = list(pool.map(lambda _: cache.get("same", lambda: both.wait() * 0 + 1), range(2)))

    assert values == [1, 1]
    assert cache.get("other", lambda: 2) == 0


def test_what_was_worked_out_does_not_travel():
    cache = BoundedCache(2)
    cache.get("a", lambda: 0)
    again, made = pickle.loads(pickle.dumps(cache)), []

    for key in "abab":
        again.get(key, lambda key=key: made.append(key))

    assert made == ["a", "b"]
