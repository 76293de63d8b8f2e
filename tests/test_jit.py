"""Compiled kernels outlive the process, and are never the wrong ones.

Oracle: arithmetic that tells one version of a kernel from another. The package here is a tiny one, of our
``_jit`` and two kernels, each of which calls the next, so that compiling takes no time. Its processes are
copies of one that has loaded numba and nothing of ours, since starting that takes most of a second.
"""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import llvmlite
import numba
import numpy
import pytest

import condmask
from condmask import _kernel_cache, kernels

SOURCE = Path(condmask.__file__).parent
PACKAGE = {
    "__init__.py": "",
    "kernels/__init__.py": "",
    "kernels/inner.py": """
from condmask._jit import kernel

@kernel
def up(x):
    return x + 1
""",
    "kernels/outer.py": """
from condmask._jit import kernel
from condmask.kernels.inner import up

@kernel
def work(x):
    return 10 * up(x)

@kernel
def first(pair):
    return pair.a
""",
}
WORK = "from condmask.kernels import outer; print(outer.work(2), sum(outer.work.stats.cache_hits.values()))"


SERVER = """
import json, os, sys, traceback
import numba, numpy
numba.njit(lambda x: x + 1)(1)  # what numba makes ready for the first function of a process

def run(task):
    os.chdir(task["cwd"])
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(task[name], os.O_WRONLY | os.O_CREAT, 0o600), number)
    os.environ.clear()
    os.environ.update(task["environment"])
    numba.core.config.reload_config()
    sys.path[:0] = task["paths"]
    code = 1
    try:
        exec(task["code"], {"__name__": "__main__"})
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

for line in sys.stdin:
    task = json.loads(line)
    if "wait" in task:
        answer = os.waitstatus_to_exitcode(os.waitpid(task["wait"], 0)[1])
    else:
        answer = os.fork() or run(task)
    print(answer, flush=True)
"""


class Server:
    """A process that has loaded numba, of which it makes copies that run code."""

    def __init__(self):
        known = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-W", "error", "-c", SERVER], text=True, env=known,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, task):
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class World:
    """A package, a user's cache folder, and processes that use both."""

    def __init__(self, root, server):
        self.root, self.package, self.cache = root, root / "site", root / "cache"
        self.server = server

    @property
    def ours(self):
        return self.cache / "condmask"

    def begin(self, code, **environment):
        """A process that runs the code; what there is to wait for."""
        known = {
            name: text for name, text in os.environ.items() if not name.startswith(("NUMBA_", "CONDMASK"))
        }
        known |= {"PYTHONPATH": str(self.package), "XDG_CACHE_HOME": str(self.cache), **environment}
        folder = Path(tempfile.mkdtemp(dir=self.root))
        task = {"code": code, "environment": known, "paths": [str(self.package)], "cwd": str(self.root)}
        return self.server.ask(task | {"out": str(folder / "out"), "err": str(folder / "err")}), folder

    def end(self, process):
        """Its exit code, and what it printed."""
        number, folder = process
        code = self.server.ask({"wait": number})
        texts = [(folder / name).read_text() for name in ("out", "err")]
        shutil.rmtree(folder)
        return code, *texts

    def run(self, code=WORK, **environment):
        """What a process prints, as numbers; it has nothing to complain of."""
        code, out, err = self.end(self.begin(code, **environment))
        assert (code, err) == (0, "")
        return [json.loads(word) for word in out.split()]

    def edit(self, name, old, new):
        path = self.package / "condmask" / "kernels" / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def files(self):
        return sorted(path for path in self.cache.rglob("*") if path.is_file())

    def folders(self):
        return sorted(path.name for path in self.ours.glob("kernels-*"))


@pytest.fixture(scope="module")
def server():
    started = Server()
    yield started
    started.process.communicate()


@pytest.fixture(scope="module")
def warm(tmp_path_factory, server):
    """One process has compiled the kernels."""
    world = World(tmp_path_factory.mktemp("warm"), server)
    for name, text in PACKAGE.items():
        path = world.package / "condmask" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("_jit.py", "_interrupts.py", "_kernel_cache.py", "_log.py", "errors.py"):
        shutil.copy(SOURCE / name, world.package / "condmask" / name)
    assert world.run() == [30, 0]
    return world


@pytest.fixture
def world(warm, tmp_path):
    shutil.copytree(warm.root, tmp_path, dirs_exist_ok=True)
    return World(tmp_path, warm.server)


@pytest.fixture
def cold(world):
    shutil.rmtree(world.cache)
    return world


# --- kept ---


def test_a_second_process_compiles_nothing_and_the_package_stays_as_it_is(world):
    before = sorted(world.package.rglob("*"))

    assert world.run() == [30, 1]

    assert sorted(world.package.rglob("*")) == before
    assert len(world.files()) == 2  # work and up
    modes = {path.name: path.stat().st_mode & 0o777 for path in [world.ours, *world.ours.rglob("*")]}
    assert set(modes.values()) == {0o700, 0o600}


def test_the_folder_is_where_the_user_says(cold):
    home = cold.root / "home"

    cold.run(XDG_CACHE_HOME="relative", HOME=str(home))
    cold.run(NUMBA_CACHE_DIR=str(cold.root / "given"))

    assert not cold.cache.exists()
    assert len(list((home / ".cache" / "condmask").glob("kernels-*"))) == 1
    assert len(list((cold.root / "given" / "condmask").glob("kernels-*"))) == 1
    assert not (cold.root / "relative").exists()


def test_a_users_own_functions_keep_their_place(world):
    (world.root / "mine.py").write_text(
        "import numba\nfrom condmask.kernels.outer import work\n"
        "@numba.njit(cache=True)\ndef mine(x):\n    return work(x) + 1\n"
    )
    code = "import numba, mine; print(mine.mine(2), len(numba.config.CACHE_DIR))"

    assert world.run(f"import sys; sys.path.insert(0, '.'); {code}") == [31, 0]

    assert [path.suffix for path in sorted((world.root / "__pycache__").iterdir())] == [".nbc", ".nbi"]
    assert len(world.files()) == 2


COMPILING = """
import sys
from condmask import _log
from condmask.kernels import outer
said = []
with _log.shown(said.append), _log.shown(said.append):
    for one in (2, 2.0, 2j):
        outer.work(one)
print(sum(outer.work.stats.cache_hits.values()), len(said), int("about a minute" in str(said)))
"""


def test_who_waits_for_several_kernels_is_told_so_once_and_only_then(cold):
    assert cold.run(COMPILING.replace("(2, 2.0, 2j)", "(2,)")) == [0, 0, 0]  # work and up: soon done
    assert cold.run(COMPILING) == [1, 1, 1]
    assert cold.run(COMPILING) == [3, 0, 0]


def test_every_kernel_is_kept():
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    names = [module.name for module in pkgutil.iter_modules(kernels.__path__, "condmask.kernels.")]
    found = [
        made
        for name in names
        for made in vars(importlib.import_module(name)).values()
        if hasattr(made, "py_func")
    ]

    assert len(found) > 20
    assert all(isinstance(made._cache, _kernel_cache.KernelCache) for made in found)


# --- not the wrong ones ---


def test_an_edited_callee_in_another_file_is_seen(world):
    world.edit("inner.py", "x + 1", "x + 5")

    assert world.run() == [70, 0]
    assert world.run() == [70, 1]
    world.edit("inner.py", "x + 5", "x + 1")
    assert world.run() == [30, 1]  # the folder of the first text is still there


def test_an_edit_under_a_running_process_is_not_taken_for_what_runs(cold):
    path = cold.package / "condmask" / "kernels" / "inner.py"
    change = f"import pathlib; pathlib.Path({str(path)!r}).write_text('');"
    start, call = WORK.split(";")

    assert cold.run(f"{start}; {change} {call.strip()}") == [30, 0]

    assert cold.files() == []


@pytest.mark.parametrize(
    ("module", "name"),
    [(numba, "__version__"), (numpy, "__version__"), (llvmlite, "__version__"), (sys, "version")],
)
def test_every_version_is_in_the_folders_name(monkeypatch, module, name):
    before = _kernel_cache._name()

    monkeypatch.setattr(module, name, "99.1")

    assert _kernel_cache._name() != before


def test_what_another_setting_compiled_is_not_used(world):
    assert world.run(NUMBA_OPT="1") == [30, 0]
    assert len(world.folders()) == 2


def test_what_was_compiled_for_another_processor_is_not_used(world):
    other = "import llvmlite.binding as llvm; llvm.get_host_cpu_name = lambda: 'x86-64'"

    assert world.run(f"{other}; {WORK}") == [30, 0]
    assert len(world.files()) == 4


def test_structures_are_told_apart_by_their_fields(world):
    code = (
        "import sys; sys.path.insert(0, '.'); from pair import Pair; from condmask.kernels import outer; "
        "print(outer.first(Pair(1, 2)))"
    )
    text = "from typing import NamedTuple\nclass Pair(NamedTuple):\n"
    (world.root / "pair.py").write_text(text + "    a: int\n    b: int\n")
    assert world.run(code) == [1]

    (world.root / "pair.py").write_text(text + "    b: int\n    a: int\n")

    assert world.run(code) == [2]


@pytest.mark.parametrize("damage", [lambda text: text[:-40], lambda text: text[:4000] + b"?" + text[4001:]])
def test_a_damaged_file_is_compiled_anew(world, damage):
    for path in world.files():
        path.write_bytes(damage(path.read_bytes()))

    assert world.run() == [30, 0]
    assert world.run() == [30, 1]


def test_one_kernels_file_under_the_name_of_anothers_is_not_used(world):
    inner, outer = world.files()
    assert ("inner.up" in inner.name, "outer.work" in outer.name) == (True, True)
    shutil.copy(inner, outer)

    assert world.run() == [30, 0]


NEEDS = """
import pickle, sys
import llvmlite.binding as llvm
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from condmask import _kernel_cache, kernels
kernels.normal.below(__import__("numpy").zeros(1), __import__("numpy").zeros(1))
rtsys.initialize(cpu_target.target_context)
named = 0
for path in _kernel_cache.folder().iterdir():
    _, (library, *_) = pickle.loads(path.read_bytes()[32:])
    module = llvm.parse_bitcode(library[2][1])
    for each in (*module.functions, *module.global_variables):
        if each.is_declaration and not each.name.startswith("llvm."):
            named += 1
            assert llvm.address_of_symbol(each.name), (path.name, each.name)
print(named)
"""


def test_kept_kernels_name_nothing_that_only_compiling_brings():
    """Of those that this user keeps; a name without an address would end the process."""
    done = subprocess.run([sys.executable, "-c", NEEDS], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


# --- where nothing can be kept ---


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nobody"])
def test_without_a_folder_to_write_all_works(cold, home):
    assert cold.run(XDG_CACHE_HOME="", HOME=home) == [30, 0]
    assert not cold.cache.exists()


def test_a_folder_that_becomes_unwritable_is_no_error(cold):
    start, call = WORK.split(";")
    gone = "import shutil; from condmask import _kernel_cache; shutil.rmtree(_kernel_cache.folder());"

    assert cold.run(f"{start}; {gone} {call.strip()}") == [30, 0]


def test_it_can_be_turned_off(cold):
    assert cold.run(CONDMASK_CACHE="0") == [30, 0]
    assert not cold.cache.exists()


@pytest.mark.parametrize("where", ["condmask", "condmask/kernels-*", "condmask/kernels-*/*"])
def test_what_others_can_write_is_not_used(world, where):
    for path in world.cache.glob(where):
        path.chmod(0o777)

    assert world.run() == [30, 0]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a thing of POSIX")
@pytest.mark.parametrize(
    ("owner", "mode", "private"), [(0, 0o700, True), (1, 0o700, False), (0, 0o720, False), (0, 0o702, False)]
)
def test_a_folder_of_somebody_else_is_not_used(owner, mode, private):
    status = os.stat_result((mode, 0, 0, 1, os.getuid() + owner, 0, 0, 0, 0, 0))

    assert _kernel_cache._private(status) is private


def test_old_folders_are_forgotten_and_nothing_else(world):
    (used,) = world.folders()
    now = (world.ours / used).stat().st_mtime
    for age in range(1, 12):
        folder = world.ours / f"kernels-{age}"
        folder.mkdir()
        os.utime(folder, (now - 1000 * age,) * 2)
    (world.ours / "other").mkdir()

    world.run(CONDMASK_CACHE="1", NUMBA_OPT="2")

    assert len(world.folders()) == _kernel_cache.KEPT
    assert {used, "kernels-1", "kernels-6"} <= set(world.folders())
    assert "kernels-7" not in world.folders()
    assert (world.ours / "other").exists()


# --- many at once ---


@pytest.mark.slow
def test_eight_cold_processes_at_once(cold):
    types = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float64"]
    code = """if 1:
        import numpy
        try:
            from condmask.kernels import outer
        finally:
            with open("ready", "wb", buffering=0) as ready:
                ready.write(b".")
        with open("go", "rb", buffering=0) as go:
            go.read(1)  # when all are ready
        print(outer.work(numpy.{kind}(2)))
    """
    for name in ("ready", "go"):
        os.mkfifo(cold.root / name)
    # open for both, an end waits for nobody
    ready, go = (os.open(cold.root / name, os.O_RDWR) for name in ("ready", "go"))
    processes = [cold.begin(code.format(kind=kind)) for kind in types]
    for _ in types:
        os.read(ready, 1)
    os.write(go, b"." * 8)
    found = [cold.end(process) for process in processes]
    os.close(ready)
    os.close(go)

    assert [(code, err) for code, _, err in found] == [(0, "")] * 8
    assert [float(out) for _, out, _ in found] == [30] * 8
    calls = ", ".join(f"outer.work(numpy.{kind}(2))" for kind in types)
    hits = "sum(outer.work.stats.cache_hits.values())"
    assert cold.run(f"import numpy; from condmask.kernels import outer; print({calls}, {hits})") == [
        30
    ] * 8 + [8]
