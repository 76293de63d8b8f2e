"""Threads, forks, executors, kept machine code and other systems: the same bits, and keys of their
own."""

import builtins
import io
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from threading import Event, current_thread

import numba
import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask import kernels
from condmask._blocks import BLOCK, ordered_map
from condmask._jit import Kernel, kernel
from condmask.kernels import masking

SOURCE = Path(cm.__file__).parent
RNG = np.random.default_rng(1)
PLACES = ["Zürich", "Kraków", "東京"]  # of which cp1252 has no word for two
TABLE = pd.DataFrame(
    {"income": RNG.lognormal(8.0, 0.4, 160).round(2), "région": RNG.choice(PLACES, 160)}
)
SCHEME = {"income": cm.ConditionalMasking(0.6, 600.0, decimals=2)}


def played(patch):
    """Take from this system what Windows lacks."""
    for name in ("fcntl", "resource", "pwd", "grp", "termios"):
        patch.setitem(sys.modules, name, None)
    patch.setattr(shutil, "_use_fd_functions", False)
    for name in ("replace", "rename", "unlink", "remove"):
        patch.setattr(os, name, unless_open(getattr(os, name)))
    opened = os.open
    plain = builtins.open
    encoding_of = io.text_encoding
    patch.setattr(os, "open", lambda path, *args, **kw: opened(no_folder(path), *args, **kw))
    patch.setattr(
        io, "text_encoding", lambda encoding, *level: encoding_of(encoding or "cp1252", *level)
    )

    def in_cp1252(file, mode="r", buffering=-1, encoding=None, *rest, **named):
        own = encoding or (None if "b" in mode else "cp1252")
        return plain(file, mode, buffering, own, *rest, **named)

    patch.setattr(builtins, "open", in_cp1252)
    patch.setattr(io, "open", in_cp1252)


def unless_open(function):
    """The function, refused for a file that this process has open."""

    def call(*paths, **named):
        links = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
        for path in map(str, paths):
            if os.path.isfile(path) and os.path.realpath(path) in links:
                raise PermissionError(13, "The process cannot access the file", path)
        return function(*paths, **named)

    return call


def no_folder(path):
    """A path that may be opened: on Windows no folder may."""
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return path


def work(folder, patch):
    """Files masked, replaced, read and reported; all that was written, but for times and names of
    groups."""
    patch.setenv("XDG_DATA_HOME", str(folder / "state"))
    patch.chdir(folder)
    (folder / "many").mkdir()
    TABLE.to_csv("in.csv", index=False, encoding="utf-8")
    TABLE.to_parquet("in.parquet", index=False)
    TABLE.to_csv("many/a.csv", index=False, encoding="utf-8")
    for source, target in (
        ("in.csv", "out.csv"),
        ("in.csv", "out.csv"),
        ("in.parquet", "b.arrow"),
        ("many", "c"),
    ):
        options = {"force": os.path.exists(target), "again": True, "accept": "all"}
        cm.mask_file(source, target, SCHEME, strata="région", rng=1, **options)
    cm.report("out.csv", "report.html")
    study = cm.simulate(
        cm.Resampled(TABLE["income"]), {"東京": SCHEME["income"]}, n=100, replications=4, rng=1
    )
    study.save("study.npz")
    means = cm.read_release("c", "income").group_means(TABLE["région"]).estimate.tolist()
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return (folder / "out.csv").read_bytes(), means, str(cm.StudyResult.load("study.npz")), written


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="which files are open, Linux tells")
@pytest.mark.filterwarnings("ignore")
def test_what_windows_lacks_is_not_needed(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        here = work(tmp_path_factory.mktemp("here"), patch)
    with pytest.MonkeyPatch.context() as patch:
        played(patch)
        there = work(tmp_path_factory.mktemp("there"), patch)

    assert there == here


X = np.random.default_rng(1).lognormal(5.0, 0.4, 240).round(2)
SCHEMES = {
    "grid": cm.ConditionalMasking(0.6, 25.0, decimals=2),
    "no grid": cm.ConditionalMasking(0.6, 25.0),
    "reverse mapping": cm.ReverseMapping(0.6, 25.0),
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
    z = scheme.mask(X, rng=1, accept="all")
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
        [sys.executable, "-c", CHILDREN],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert len(set(ended.stdout.split())) == 7


def test_threads_hand_results_over_in_order_and_stay_a_few_tasks_ahead():
    taken = []
    tasks = (taken.append(task) or task for task in range(1_000))

    results = ordered_map(abs, tasks, 3)

    assert next(results) == 0
    assert len(taken) == 7  # two a thread, and the one that replaces the first
    assert list(results) == list(range(1, 1_000))


def test_a_task_that_fails_ends_the_rest_in_its_turn():
    begun = []

    def fail(task):
        begun.append(task)
        if task in (5, 6, 9):
            raise ValueError(f"task {task}")
        return task

    for workers in (1, 2, 5):
        results = ordered_map(fail, range(1_000), workers)
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match=r"^task 5$"):
            next(results)
    assert max(begun) < 20


def test_more_workers_than_a_machine_can_count_serve():
    assert list(ordered_map(abs, range(-9, 0), 2**53)) == [*range(9, 0, -1)]


def test_columns_of_several_blocks_are_looked_at_whole():
    x = np.sort(np.random.default_rng(1).lognormal(8.0, 0.5, 2 * BLOCK + 7))  # the blocks differ
    nearly = cm.ConditionalMasking(1e-12, 1e-6, step=0).estimate(x)
    mapped = cm.ReverseMapping(0.6, 500.0, aggregate_ends=3)

    z = np.sort(mapped.mask(x, rng=1, accept="all"))

    assert nearly.mean() == pytest.approx(x.mean(), rel=1e-12)
    assert nearly.moment(3, central=True) == pytest.approx(np.mean((x - x.mean()) ** 3), rel=1e-9)
    expected = np.concatenate([np.full(3, x[:3].mean()), x[3:-3], np.full(3, x[-3:].mean())])
    assert z == pytest.approx(expected, rel=1e-13)


def test_a_pool_may_be_abandoned_in_a_thread_of_its_own(monkeypatch):
    main = current_thread()
    there = Event()
    ready = Event()
    gone = Event()
    unraised = []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)

    def task(k):
        if current_thread() is not main and k:
            there.set()
            ready.wait(60)
            held.clear()  # the last reference
            gone.set()

    held = [ordered_map(task, range(100), 2)]
    next(held[0])
    there.wait(60)
    ready.set()
    assert gone.wait(60)

    assert unraised == []


DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "examples" / "executors").glob("*.py"))

STREAM = np.random.default_rng(1)
LARGE = STREAM.lognormal(8.0, 0.5, BLOCK + 100).round(2)
AGE = STREAM.uniform(18.0, 66.0, LARGE.size)

GRID = cm.ConditionalMasking(0.6, 1000.0, decimals=2)


STUDY = """
import numpy as np
import condmask as cm
x = np.random.default_rng(1).lognormal(8.0, 0.5, 5_000)
scheme = cm.ReverseMapping(0.6, 1000.0)
if {after}:
    scheme.estimate(scheme.mask(x, rng=1, accept="all")).pseudo_values()
noise = {{"noise": cm.ConditionalMasking(0.6, 1000.0)}}
print(cm.simulate(cm.paper_population(), noise, n=200, replications=2, rng=1).values.tolist())
"""


def travelling(function, task):
    """A task as a pool of processes does it: all that it needs, and what comes of it, is
    pickled."""
    here, given = pickle.loads(pickle.dumps((function, task)))
    return pickle.loads(pickle.dumps(here(given)))


def study(workers):
    asked = {"n": 20_000, "replications": 8, "confidence_levels": [0.9], "risk_distances": [500.0]}
    return cm.simulate(
        cm.Resampled(LARGE, AGE), {"a": GRID}, rng=1, workers=workers, **asked
    ).values


def test_another_process_gives_the_bits_of_one_thread():
    sent = []

    def workers(function, tasks):
        for task in tasks:
            sent.append(task)
            yield travelling(function, task)

    np.testing.assert_equal(study(workers), study(1))
    assert sent


def test_the_page_shows_every_script_and_that_of_processes_runs_as_it_stands():
    page = (DOCS / "dask.rst").read_text()
    script = DOCS / "examples" / "executors" / "on_processes.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert len(SCRIPTS) == 3
    for each in SCRIPTS:
        assert f".. literalinclude:: examples/executors/{each.name}\n" in page
    assert (done.returncode, done.stdout) == (0, "14.444\n"), done.stderr


def test_a_study_has_the_same_bits_whatever_a_process_did_before():
    alone, after = (
        subprocess.run(
            [sys.executable, "-c", STUDY.format(after=after)], capture_output=True, check=True
        )
        for after in (False, True)
    )

    assert alone.stdout == after.stdout


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
    """Runs a process that looks for modules in a folder first, and returns the words it prints."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


CALLEE = """
from condmask._jit import kernel

BY = 10

@kernel
def up(x):
    return x + 1
"""
CALLER = """
import inner
from condmask._jit import kernel

@kernel
def work(x):
    return inner.BY * inner.up(x)
"""


@pytest.mark.parametrize(
    ("edited", "answer"),
    [
        (CALLEE.replace("x + 1", "x + 2"), "40"),
        (CALLEE.replace("BY = 10", "BY = 20"), "60"),
        (CALLEE, "30"),
    ],
    ids=["of a callee", "of a constant", "of nothing"],
)
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_machine_code_does_not_outlive_an_edit_in_the_file_of(tmp_path, edited, answer):
    (tmp_path / "outer.py").write_text(CALLER)
    # Python's own cache takes an edit in the same second, of the same length, for none
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    (tmp_path / "inner.py").write_text(CALLEE)
    before = run(WORK, tmp_path, **kept)
    (tmp_path / "inner.py").write_text(edited)
    after = run(WORK, tmp_path, **kept)

    assert before == ["30", "0"]
    assert after == [answer, str(int(edited == CALLEE))]


# crossings.smooth reads a function known at nodes, by nodes.value, which stands in another file
SMOOTH = """
import numpy as np
from condmask.kernels import crossings

nodes = np.arange(12.0)
known = np.zeros(1), np.zeros(1), np.arange(2), nodes, 1.0, 0.0, 0.0, 0.0, 1.0, np.empty((2, 0))
print(crossings.smooth(crossings.Steps(*known, 1.0, False, np.empty(10)), 5.0, 0.0, 0.5, 0))
"""
OTHER_VALUE = """

@kernel(inline="always")
def value(place, nodes, share):
    return 42.0
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_an_edit_of_a_kernel_of_the_package_reaches_those_that_call_it(tmp_path):
    package = tmp_path / "condmask"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = run(SMOOTH, tmp_path)
    with (package / "kernels" / "nodes.py").open("a") as file:
        file.write(OTHER_VALUE)
    after = run(SMOOTH, tmp_path)

    assert [float(*before), float(*after)] == [pytest.approx(5.5), 42.0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_where_the_package_is_read_only_machine_code_is_kept_elsewhere(tmp_path):
    inside = tmp_path / "package"
    inside.mkdir()
    (inside / "outer.py").write_text(MODULE)
    (inside / "__pycache__").write_text("")  # no folder, nor can one be made here
    elsewhere = {"XDG_CACHE_HOME": str(tmp_path / "user"), "PYTHONDONTWRITEBYTECODE": "1"}

    assert [run(WORK, inside, **elsewhere) for _ in range(2)] == [["30", "0"], ["30", "1"]]


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
    # machine code in a caller may round otherwise than its own, and what is loaded first would
    # serve both: a study would have other bits in the process that compiles than in those that
    # come later
    modules = (
        import_module(found.name)
        for found in iter_modules(kernels.__path__, f"{kernels.__name__}.")
    )
    found = {one for module in modules for one in vars(module).values() if isinstance(one, Kernel)}
    free = {
        one.__name__ for one in found if "fastmath" in one.options and "inline" not in one.options
    }

    assert free == {"spread_rows", "read", "add_weights", "count_window"}
    assert {name for one in found for name in one.py_func.__code__.co_names} & free == set()


def test_importing_kernels_does_not_import_numba(tmp_path):
    code = "import sys; from condmask.kernels import masking; print('numba' in sys.modules)"

    assert run(code, tmp_path) == ["False"]


def test_kernels_travel_by_name():
    assert pickle.loads(pickle.dumps(masking.toss)) is masking.toss
