"""Every fuzz target takes its corpus and a few more inputs, and the runner notices each kind of fault."""

import subprocess
import sys

import numpy as np
import pytest
from hostile import broken

from fuzz import runner
from fuzz.repeat import fault_of, shortest
from fuzz.target import CORPUS, load, names, own_place, peak

PLANTED = {  # what a target does with an input that has an "a" in it, and what the runner calls it
    "crash": ("os.abort()", "crash"),
    "hang": ("time.sleep(1000)", "hang"),
    "growth": ("np.ones(80 << 20)", "GrowthError in target.py"),
    "leak": ("KEPT.append(np.ones(1 << 17))", "GrowthError in target.py"),
    "wrong_error": ("{}['a']", "KeyError in wrong_error.py"),
    "wrong_answer": ("assert data != data", "AssertionError in wrong_answer.py"),
}
STUCK = {  # what holds up the end of a process: a thread that others wait for, and a clock that is not heard
    "late": "pass\nimport ctypes\nend = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(1000))\n"
    "ctypes.CDLL(None).__cxa_atexit(end, None, None)",
    "deaf": "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n        time.sleep(1000)",
}
MODULE = (
    "import os, signal, time\nimport numpy as np\nKEPT = []\ndef one(data):\n    if b'a' in data:\n        "
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_a_target_has_no_fault(name):
    target = load(name)
    random = np.random.default_rng(8)
    with own_place():
        for data in target.seeds():
            target.run(data)
        if target.takes_arguments:
            target.module.one()
        else:
            seeds = [b"", *target.seeds()]
            for _ in range(50):
                target.run(broken(seeds[random.integers(len(seeds))], random))


def test_past_failures_belong_to_targets():
    assert {path.name for path in CORPUS.iterdir()} <= {*names()}
    assert all(load(path.name).failures() for path in CORPUS.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read as Linux has it")
def test_the_peak_of_memory_is_that_of_a_process_alone():
    held = np.ones(100 << 17)  # 100 MB
    child = subprocess.run(
        [sys.executable, "-c", "from fuzz.target import peak; print(peak())"],
        cwd=runner.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert peak() > held.nbytes
    assert peak() - int(child.stdout) > held.nbytes / 2


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Make a target at fault importable, here and in processes."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.syspath_prepend(tmp_path)

    def make(name):
        folder = tmp_path / "planted"
        folder.mkdir(exist_ok=True)
        code = STUCK[name] if name in STUCK else PLANTED[name][0]
        (folder / f"{name}.py").write_text(f"{MODULE}{code}\n")
        return f"planted.{name}"

    yield make
    for name in [name for name in sys.modules if name.split(".")[0] == "planted"]:
        del sys.modules[name]


@pytest.mark.skipif(sys.platform != "linux", reason="Atheris is for Linux")
@pytest.mark.parametrize(
    "kind",
    [
        "crash",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("leak", "wrong_error")),
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("hang", "growth", "wrong_answer")),
    ],
)
def test_the_runner_finds_a_fault_and_goes_on(planted, tmp_path, kind):
    pytest.importorskip("atheris")
    name = planted(kind)
    told = []
    (result,) = runner.fuzz(
        [name], seconds=20.0, inputs=200_000, seed=1, workers=1, found=tmp_path / "found", tell=told.append
    )
    assert result.faults[0].fault.startswith(PLANTED[kind][1])
    # what is left behind is noticed some inputs later
    assert kind == "leak" or b"a" in result.faults[0].input.read_bytes()
    assert f"python -m fuzz {name} --repeat" in str(told[0])
    if kind not in ("crash", "leak"):
        assert result.inputs > 100


@pytest.mark.skipif(sys.platform != "linux", reason="Atheris is for Linux")
def test_a_worker_ends_whatever_waits_at_its_end(planted, tmp_path):
    pytest.importorskip("atheris")
    name = planted("late")
    (result,) = runner.fuzz([name], seconds=20.0, inputs=200, seed=1, workers=1, found=tmp_path / "found")
    assert result == (name, 200, [])


@pytest.mark.skipif(sys.platform != "linux", reason="Atheris is for Linux")
def test_a_worker_that_does_not_end_is_no_success(planted, tmp_path, monkeypatch):
    pytest.importorskip("atheris")
    monkeypatch.setattr(runner, "LATE", 1.0)
    with pytest.raises(RuntimeError, match="ended with -9"):
        runner.fuzz([planted("deaf")], seconds=2.0, inputs=-1, seed=1, workers=1, found=tmp_path / "found")


@pytest.mark.parametrize("kind", [kind for kind in PLANTED if kind != "leak"])
def test_an_input_repeats_its_fault_and_is_shortened(planted, monkeypatch, kind):
    if kind == "hang":
        monkeypatch.setattr("fuzz.repeat.HANGS", 1)
    target = load(planted(kind))
    expected = {"crash": "SIGABRT"}.get(kind, PLANTED[kind][1])
    assert fault_of(target, b"bbb") is None
    assert fault_of(target, b"bbba").startswith(expected)
    if kind in ("wrong_error", "wrong_answer"):
        assert shortest(target, b"bbbbabb") == b"a"
