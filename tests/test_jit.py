"""Kernels are compiled on their first call, and kept for the processes that come later.

Oracle: what numba counts of machine code that it found on disk, and arithmetic.
"""

import os
import pickle
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import numba
import pytest

from condmask import kernels
from condmask._jit import Kernel, kernel
from condmask.kernels import masking

MODULE = """
from condmask import kernels
from condmask._jit import Kernel, kernel

@kernel
def up(x):
    return x + 1

@kernel
def work(x):
    return 10 * up(x)
"""
WORK = "from outer import work; print(work(2), sum(work.stats.cache_hits.values()))"


def run(code, folder, **environment):
    """What a process prints whose modules are in a folder."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_second_process_compiles_nothing(tmp_path):
    (tmp_path / "outer.py").write_text(MODULE)

    found = [run(WORK, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "kept")) for _ in range(2)]

    assert found == [["30", "0"], ["30", "1"]]


def test_where_nothing_can_be_kept_a_kernel_is_compiled_all_the_same():
    names = {}
    exec("def up(x): return x + 1", names)  # numba has no folder for what stands in no file

    assert kernel(names["up"])(2) == 3


def test_kernels_that_others_call_round_in_one_way():
    # machine code in a caller may round otherwise than its own, and what is loaded first would serve both:
    # a study would have other bits in the process that compiles than in those that come later
    modules = (import_module(found.name) for found in iter_modules(kernels.__path__, f"{kernels.__name__}."))
    found = {one for module in modules for one in vars(module).values() if isinstance(one, Kernel)}
    free = {one.__name__ for one in found if "fastmath" in one._options and "inline" not in one._options}

    assert free == {"spread_rows", "read", "add_weights", "count_window"}
    assert {name for one in found for name in one.py_func.__code__.co_names} & free == set()


def test_importing_kernels_does_not_import_numba(tmp_path):
    code = "import sys; from condmask.kernels import masking; print('numba' in sys.modules)"

    assert run(code, tmp_path) == ["False"]


def test_kernels_travel_by_name():
    assert pickle.loads(pickle.dumps(masking.toss)) is masking.toss
