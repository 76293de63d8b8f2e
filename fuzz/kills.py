"""Jobs killed at random moments: ``python -m fuzz.kills --kills 500 --seed 1``.

A job is timed once; then signals fall on it at moments spread over that time, a third of them at one of its
operations on files, which come in a row when files get their names. After each kill, `jobs.faults_of` looks
at every file, and the same job is done again. Most jobs run in forks of this process, which has the package
loaded; a tenth start Python anew. Prints a table by signal, job and phase; ends with 1 if anything was wrong.
"""

import argparse
import contextlib
import io
import logging
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from condmask.files import atomic
from fuzz.jobs import (
    JOBS,
    STUDY,
    Case,
    Job,
    Originals,
    faults_of,
    faults_of_the_next,
    originals,
    write_sources,
)

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
PHASES = [
    "starting",
    "reading",
    "looking up",
    "auditing",
    "drawing",
    "writing",
    "naming",
    "studying",
    "ended",
]
OPERATIONS = ("os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "fcntl.flock", "open")
FRESH = 10  # one job in so many starts Python anew
IN_WORDS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal was closed",
}


class Watch:
    """What a child does, told to its parent by shared memory: its phase, and operations on files so far."""

    def __init__(self) -> None:
        self.shared = mmap.mmap(-1, 64)

    def begin(self, at: int = 0, act: Callable[[], None] = lambda: None) -> None:
        """In the child: do something at one of its operations; 0 is none."""
        self.passed, self.at, self.act = 0, at, act
        package = logging.getLogger("condmask")
        package.setLevel(logging.INFO)
        handler = logging.Handler()
        handler.emit = lambda record: self.phase(record.getMessage())  # type: ignore[method-assign]
        package.addHandler(handler)
        sys.addaudithook(self.operation)
        os.fsync = self.noted(os.fsync)
        atomic.Output.write = self.noted(atomic.Output.write)  # type: ignore[method-assign]

    def noted(self, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            self.count()
            return function(*arguments)

        return call

    def phase(self, text: str) -> None:
        for k, name in enumerate(PHASES):
            if text == name or (name == "studying" and text.endswith("replications")):
                self.shared[0] = k

    def operation(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in OPERATIONS:
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):  # type: ignore[operator]
            return
        if event == "open" and self.shared[0] == PHASES.index("drawing"):
            self.shared[0] = PHASES.index("writing")
        if event in ("os.link", "os.rename"):
            self.shared[0] = PHASES.index("naming")
        self.count()

    def count(self) -> None:
        self.passed += 1
        self.shared[8:16] = self.passed.to_bytes(8, "little")
        if self.passed == self.at:
            self.act()

    @property
    def seen(self) -> tuple[str, int]:
        return PHASES[self.shared[0]], int.from_bytes(self.shared[8:16], "little")


def learned(job: Job, sources: Path, home: Path) -> tuple[float, int, Path]:
    """The seconds and operations of a job, and the folder that it writes."""
    case = Case(job, sources, home / "first", None)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        case.run(case.words())  # here, so that kernels are compiled and modules loaded in every fork
    shutil.rmtree(home / "first")
    case, watch = Case(job, sources, home / "first", None), Watch()
    begun = time.perf_counter()
    child = case.forked(case.words(), "errors", watch.begin)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise SystemExit(f"{job.name} fails undisturbed: {(case.home / 'errors').read_text()}")
    return time.perf_counter() - begun, watch.seen[1], case.out


def killed(
    case: Case, number: int, chance: random.Random, seconds: float, operations: int
) -> tuple[str, int]:
    """Start a job and kill it; returns the phase and the exit code."""
    watch = Watch()
    if chance.randrange(FRESH) == 0:
        job = subprocess.Popen(
            [sys.executable, "-m", "condmask", *case.words()], cwd=case.home, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=(case.home / "errors").open("wb"),
            env={**os.environ, "XDG_STATE_HOME": str(case.state), "TMPDIR": str(case.temporary)},
        )  # fmt: skip
        time.sleep(chance.uniform(0, 3 * seconds + 2))
        job.send_signal(number)
        return "anew", job.wait()
    at = chance.randint(1, operations) if chance.randrange(3) == 0 else 0
    child = case.forked(case.words(), "errors", lambda: watch.begin(at, lambda: os.kill(os.getpid(), number)))
    if not at:
        time.sleep(chance.uniform(0, 1.1 * seconds))
        os.kill(child, number)  # not yet waited for: there is such a process
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return ("ended" if code == 0 else watch.seen[0]), code


def faults_of_the_end(case: Case, number: int, phase: str, code: int) -> list[str]:
    """What is wrong with how a job ended."""
    found, errors = [], case.home / "errors"
    text = errors.read_text(errors="replace") if errors.exists() else ""
    lines = [line for line in text.splitlines() if "warning: " not in line]
    if code == 0:
        return [f"says {lines}"] if lines else []
    early = phase in ("anew", "starting") and (code == -number or (number == signal.SIGINT and code == 130))
    if number == signal.SIGKILL:
        found += [] if code == -number else [f"ended with {code}"]
    elif code == 128 + number and not (early and code == 130):
        found += (
            [] if lines == [f"condmask: error: {IN_WORDS[signal.Signals(number)]}"] else [f"says {lines}"]
        )
    elif not early:
        found.append(f"ended with {code}: {lines}")
    return found


def kill(
    case: Case, number: int, chance: random.Random, seconds: float, operations: int, raw: Originals
) -> tuple[str, list[str]]:
    """One kill; returns the phase and all that is wrong after it."""
    phase, code = killed(case, number, chance, seconds, operations)
    found = faults_of_the_end(case, number, phase, code)
    try:
        found += faults_of(case, raw)
        found += faults_of_the_next(case, raw)
    except Exception as error:
        found.append(repr(error))
    return phase, found


@contextlib.contextmanager
def prepared(
    seed: int, names: list[str] | None
) -> Iterator[tuple[Path, Path, Originals, dict[str, tuple[float, int, Path]]]]:
    """A folder to work in, sources, their originals, and what is `learned` of each job."""
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        home, raw = Path(place), originals(seed)
        sources = home / "sources"
        sources.mkdir()
        write_sources(sources, raw.values)
        (sources / "study.toml").write_text(STUDY)
        chosen = [job for job in JOBS if not names or job.name in names]
        yield (
            home,
            sources,
            raw,
            {job.name: learned(job, sources, home / "learned" / job.name) for job in chosen},
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="*", help="names of jobs, all by default")
    options = parser.parse_args()
    wrong = 0
    by_signal, by_job, by_phase = Counter[str](), Counter[str](), Counter[str]()
    with prepared(options.seed, options.jobs) as (home, sources, raw, known):
        jobs = [job for job in JOBS if job.name in known]
        for k in range(options.kills):
            chance = random.Random(f"{options.seed} {k}")
            job, number = jobs[k % len(jobs)], chance.choice(SIGNALS)
            case = Case(job, sources, home / f"case{k}", known[job.name][2])
            phase, found = kill(case, number, chance, *known[job.name][:2], raw)
            name = signal.Signals(number).name
            by_signal[name] += 1
            by_job[job.name] += 1
            by_phase[phase] += 1
            wrong += bool(found)
            for fault in found:
                print(f"kill {k}, {name} in {job.name}, {phase}: {fault}", flush=True)
            shutil.rmtree(case.home)
    for counted in (by_signal, by_job, by_phase):
        print("; ".join(f"{name} {count}" for name, count in sorted(counted.items())))
    print(f"{options.kills} kills, after {wrong} of which something was wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
