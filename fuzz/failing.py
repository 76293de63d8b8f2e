"""Every operation on files fails once: ``python -m fuzz.failing --seed 1``.

Each job of `jobs` is done once for each of its operations (files made, written, put on the disk, locked,
named, removed), which then fails with an error of the system or ends the process there. `jobs.faults_of`
looks at every file, and the same job is done again. Errors go round; ``--all`` tries each at each operation.
Prints a table by error and job; ends with 1 if anything was wrong.
"""

import argparse
import errno
import os
import shutil
import signal
from collections import Counter

from fuzz.jobs import DONE, JOBS, REFUSED, Case, faults_of, faults_of_the_next
from fuzz.kills import Watch, prepared

ERRORS = (
    "EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EXDEV", "EMLINK", "EPERM", "EOPNOTSUPP", "ENOSYS",
    "ESTALE",
)  # fmt: skip
END = "the end"


def fail(name: str) -> None:
    """What an operation does instead."""
    if name == END:
        os.kill(os.getpid(), signal.SIGKILL)
    number = getattr(errno, name)
    raise OSError(number, os.strerror(number))


def faults_of_the_end(case: Case, code: int, name: str) -> list[str]:
    """What is wrong with how a job ended: done all the same, or refused in one sentence."""
    text = (case.home / "errors").read_text(errors="replace")
    lines = [line for line in text.splitlines() if "warning: " not in line]
    if name == END:
        return [] if code in (-signal.SIGKILL, DONE) else [f"ended with {code}: {lines}"]
    if code == DONE:
        return [f"says {lines}"] if lines else []
    said = code == REFUSED and len(lines) == 1 and lines[0].startswith("condmask: error: ")
    return [] if said else [f"ended with {code}: {lines}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="*", help="names of jobs, all by default")
    parser.add_argument("--all", action="store_true", help="each error at each operation")
    options = parser.parse_args()
    names, done, wrong = (*ERRORS, END), 0, 0
    by_error, by_job = Counter[str](), Counter[str]()
    with prepared(options.seed, options.jobs) as (home, sources, raw, known):
        for job in (job for job in JOBS if job.name in known):
            _, operations, old = known[job.name]
            for at in range(1, operations + 1):
                turn = done + options.seed
                some = names if options.all else (names[turn % len(names)], END)
                for name in dict.fromkeys(some):
                    done += 1
                    case, watch = Case(job, sources, home / f"case{done}", old), Watch()
                    child = case.forked(
                        case.words(),
                        "errors",
                        lambda: watch.begin(at, lambda: fail(name)),  # noqa: B023
                    )
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    found = faults_of_the_end(case, code, name)
                    try:
                        found += [*faults_of(case, raw), *faults_of_the_next(case, raw)]
                    except Exception as error:
                        found.append(repr(error))
                    for fault in found:
                        print(f"operation {at} of {operations} in {job.name}, {name}: {fault}", flush=True)
                    by_error[name] += 1
                    by_job[job.name] += 1
                    wrong += bool(found)
                    shutil.rmtree(case.home)
    for counted in (by_error, by_job):
        print("; ".join(f"{name} {count}" for name, count in sorted(counted.items())))
    print(f"{done} failed operations, after {wrong} of which something was wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
