"""Threads at once, and forked processes, get the bits of one thread alone, and keys of their own.

Oracle: the same request to an object of its own, that was asked nothing else.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import condmask as cm

X = np.random.default_rng(1).lognormal(5.0, 0.4, 240).round(2)
SCHEMES = {
    "grid": cm.ConditionalMasking(0.6, 25.0, decimals=2),
    "no grid": cm.ConditionalMasking(0.6, 25.0),
    "reverse mapping": cm.ConditionalMasking(0.6, 25.0, reverse_mapping=True),
}
REQUESTS = [
    lambda e: e.quantile([0.1, 0.5, 0.9]),
    lambda e: e.cdf(np.linspace(60.0, 400.0, 9)),
    lambda e: e.pdf(np.linspace(60.0, 400.0, 9), bandwidth="scott"),
    lambda e: np.array([e.mean(), e.variance(), e.moment(3)]),
    lambda e: np.array(e.quantile_interval(0.5)[:2]),
]

# draws a key in this process and in its children
CHILDREN = """
import os
from condmask import Key

def drawn():
    return Key().stream(0, 0).bytes(16).hex().encode()

print(drawn().decode())
for _ in range(3):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, drawn())
        os._exit(0)
    os.waitpid(child, 0)
    print(os.read(reading, 32).decode(), drawn().decode())
"""


@pytest.mark.parametrize("name", SCHEMES)
def test_eight_threads_get_the_bits_of_one(name):
    scheme = SCHEMES[name]
    z = scheme.mask(X, rng=1, accept_visible_coins=True)
    expected = [request(scheme.estimate(z)).tobytes() for request in REQUESTS]
    shared = scheme.estimate(z)

    def ask(thread):
        order = np.random.default_rng(thread).permutation(len(REQUESTS))
        return all(REQUESTS[k](shared).tobytes() == expected[k] for k in order)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads meet within a line
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(8)))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_processes_draw_keys_of_their_own():
    # without the fixed keys of tests
    environment = os.environ | {"PYTHONPATH": str(Path(cm.__file__).parents[1])}
    ended = subprocess.run(
        [sys.executable, "-c", CHILDREN], env=environment, capture_output=True, text=True, check=True
    )

    assert len(set(ended.stdout.split())) == 7
