"""The parent: it starts a worker for each target, and again after a fault, and keeps the inputs of faults."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOUND = ROOT / "build" / "fuzz"  # where inputs of faults are kept
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # files of inputs need no disk
LATE = 120.0  # s that a worker may take beyond its time, to load and to end; no input takes so long
MOST_FAULTS = 10  # of one target, of which hard ones cannot be passed over
KINDS = {"timeout": "hang", "oom": "growth", "crash": "crash", "slow-unit": "slow"}


class Fault(NamedTuple):
    """What went wrong, with the input, shortened where that keeps the fault."""

    target: str
    fault: str
    text: str
    input: Path

    def __str__(self):
        repeat = f"python -m fuzz {self.target} --repeat {os.path.relpath(self.input)}"
        return f"{self.target}: {self.fault}\n{self.text.rstrip()}\nrepeat: {repeat}\n"


class Result(NamedTuple):
    """What a target did."""

    target: str
    inputs: int
    faults: list[Fault]


def fuzz(targets, *, seconds, inputs, seed, workers, found=FOUND, tell=print):
    """The results of targets that share a time, and a number of inputs if one is given."""
    # every worker has something to do, and every target a turn
    jobs = list(itertools.islice(itertools.cycle(targets), max(len(targets), workers)))
    share = seconds * min(workers, len(jobs)) / len(jobs)
    each = -1 if inputs is None else -(-inputs // len(jobs))
    faults = {target: [] for target in targets}
    with ThreadPoolExecutor(workers) as pool:
        runs = [
            pool.submit(_job, target, share, each, seed + number, faults[target], Path(found), tell)
            for number, target in enumerate(jobs)
        ]
        done = [run.result() for run in runs]
    return [
        Result(target, sum(ran for ran, job in zip(done, jobs, strict=True) if job == target), faults[target])
        for target in faults
    ]


def _job(target, seconds, inputs, seed, faults, found, tell):
    """The inputs of a target until its time is over, of one worker after the other where faults end them."""
    deadline, done, ended = time.monotonic() + seconds, 0, False
    while not ended and len(faults) < MOST_FAULTS:
        left = -1 if inputs < 0 else inputs - done
        ended, ran, fault = _worker(target, seed + done, left, deadline, faults, found)
        done += ran
        ended = ended or time.monotonic() >= deadline or 0 <= inputs <= done
        if fault is not None and fault.fault not in [known.fault for known in faults]:
            tell(fault)
        faults += [] if fault is None else [fault]
    return done


def _worker(target, seed, inputs, deadline, faults, found):
    """Whether a worker came to its end, its inputs, and the fault that ended it before."""
    with tempfile.TemporaryDirectory(prefix="condmask-fuzz-", dir=MEMORY) as name:
        folder = Path(name)
        (folder / "known").write_text("\n".join(fault.fault for fault in faults))
        (folder / "inputs").write_bytes(bytes(8))
        seconds = deadline - time.monotonic()
        with (folder / "log").open("wb") as log:
            words = [target, folder, seed, inputs, seconds]
            worker = _python("fuzz.worker", *words, temporary=folder, stdout=log, stderr=log)
            try:
                code = worker.wait(seconds + LATE)
            except subprocess.TimeoutExpired:
                worker.kill()
                code = worker.wait()
        ran = int.from_bytes((folder / "inputs").read_bytes(), "little")
        return code == 0, ran, None if code == 0 else _fault(target, folder, code, found)


def _fault(target, folder, code, found):
    """The fault that ended a worker, with its input in a place to stay; None where it does not hang again."""
    log = (folder / "log").read_text(errors="replace")
    saved = next(folder.glob("saved-*"), None)
    if saved is None:
        raise RuntimeError(f"the worker of {target} ended with {code}:\n{log[-5000:]}")
    told = json.loads((folder / "fault").read_text()) if (folder / "fault").exists() else {}
    kind = KINDS[saved.name.split("-")[1]]
    name = hashlib.sha256(saved.read_bytes()).hexdigest()[:12]
    place = found / target / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(saved.read_bytes())
    repeats = _python("fuzz", target, "--shorten", place, stdout=subprocess.DEVNULL).wait() == 0
    if kind == "hang" and not repeats:  # other processes held it up
        place.unlink()
        return None
    _, _, last = log.partition("INITED")
    return Fault(target, told.get("fault", kind), told.get("text", last), place)


def _python(module, *words, temporary=None, **options):
    """A Python that runs a module of this repository."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    environment |= {} if temporary is None else {"TMPDIR": str(temporary)}
    return subprocess.Popen([sys.executable, "-m", module, *map(str, words)], env=environment, **options)
