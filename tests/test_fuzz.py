"""Every fuzz target takes its corpus and a few more inputs, and the runner notices each kind of fault."""

import numpy as np
import pytest

from fuzz.repeat import fault_of, shortest
from fuzz.runner import fuzz
from fuzz.target import load, names, own_place

PLANTED = {
    "crash": ("import os", "os.abort()"),
    "hang": ("import time", "time.sleep(1000)"),
    "growth": ("KEPT = []", "bytearray(2 << 30)[::4096] = b'1' * (1 << 19)"),
    "wrong_error": ("", "{}['a']"),
    "wrong_answer": ("", "assert 1 + 1 == 3"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_a_target_has_no_fault(name):
    target = load(name)
    with own_place():
        for data in target.seeds():
            target.run(data)
        if target.takes_arguments:
            target.module.one()
        else:
            random = np.random.default_rng(8)
            seeds = [b"", *target.seeds()]
            for _ in range(50):
                target.run(broken(seeds[random.integers(len(seeds))], random))


def broken(content, random):
    """Content cut, with other bytes in it, with some left out, with some more, or all of it other bytes."""
    at, some = int(random.integers(len(content) + 1)), random.bytes(int(random.integers(1, 40)))
    return [
        content[:at],
        content[:at] + some + content[at + len(some) :],
        content[:at] + content[at + len(some) :],
        content[:at] + some + content[at:],
        some,
    ][int(random.integers(5))]
