"""Sixteen threads at once, and forked processes, get the bits of one thread alone (`fuzz.threads`).

Oracle: the same request to an object of its own, that was asked nothing else.
"""

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from marks import rest_slow

from fuzz import threads

ROOT = Path(__file__).parents[1]
SUBJECTS = [
    "grid",
    "scheme",
    "release on disk",
    "no grid, two threads",
    "Laplace",
    "strata",
    "reverse mapping",
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


def run(*command):
    """What a Python process prints that draws keys of the operating system."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    ended = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.filterwarnings("ignore")  # of what is asked
@pytest.mark.parametrize("name", rest_slow(SUBJECTS))
def test_sixteen_threads_get_the_bits_of_one(name, tmp_path):
    chosen = {name: threads.subjects(tmp_path)[name]}
    storm = threads.Storm(chosen, threads.alone(chosen), seed=1)

    assert storm.rage() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_processes_draw_keys_of_their_own():
    assert len(set(run("-c", CHILDREN).split())) == 7


@pytest.mark.long
def test_a_round_of_all_with_forked_and_started_processes():
    assert " 0 faults" in run("-m", "fuzz.threads", "--seconds", "0")


def test_an_answer_that_is_not_that_of_one_alone_is_a_fault(tmp_path):
    """An object that counts how often it was asked."""

    class Counting:
        def __init__(self):
            self.asked = count()

    chosen = {
        "counting": threads.Subject(
            Counting, {"asked": lambda one: next(one.asked), "nothing": lambda one: 0}
        )
    }

    faults = threads.Storm(chosen, threads.alone(chosen), seed=1).rage(lambda: ["amid"])

    assert faults == ["amid"] + 15 * ["counting: asked"]
