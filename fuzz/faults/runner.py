"""What the tests notice of a fault, kept in a folder so that a run goes on where it stopped."""

import json
import re
import tempfile
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from fuzz.faults.copy import Copy
from fuzz.faults.listed import ROOT

KEPT = ROOT / "build" / "faults"
SECONDS = 120  # of a processor for one fault, by default


class Result(NamedTuple):
    """`by` is the test that noticed; "" where none did."""

    by: str
    seconds: float


def run(faults, workers, seconds, *, again, kept=KEPT):
    """The results of faults, in their order; those that survived before are tried again if `again`."""
    kept.mkdir(parents=True, exist_ok=True)
    for fault in faults:  # before anything runs
        fault.put_into((ROOT / fault.path).read_text())
    results = {fault: _known(fault, kept) for fault in faults}
    left = [fault for fault, known in results.items() if known is None or (again and not known.by)]
    with (
        tempfile.TemporaryDirectory(prefix="condmask-faults-") as folder,
        Pool(workers, _open_copy, (folder,)) as pool,
    ):
        for fault, result in pool.imap_unordered(partial(_tried, seconds), left):
            _place(fault, kept).write_text(json.dumps(result._asdict()))
            told = f"{result.seconds:6.1f} s  {fault.file}: {fault.why}: {result.by or 'SURVIVED'}"
            print(told, flush=True)
            results[fault] = result
    return [results[fault] for fault in faults]


def _place(fault, kept):
    return kept / f"{fault.name}.json"


def _known(fault, kept):
    place = _place(fault, kept)
    return Result(**json.loads(place.read_text())) if place.exists() else None


_copies = []  # of a worker, which has one


def _open_copy(folder):
    _copies.append(Copy(tempfile.mkdtemp(dir=folder)))


def _tried(seconds, fault):
    """A fault, and its result."""
    (copy,), used, by = _copies, 0.0, ""
    with copy.with_fault(fault):
        for tests in turns(fault):
            if by or used >= seconds:
                break
            by, more = copy.noticed(tests, seconds - used, fault.settings)
            used += more
    return fault, Result(by, round(used, 1))


def turns(fault, root=ROOT):
    """The tests that ought to notice; those that name the module; the others of the folder. Each once."""
    own = root / "tests" / Path(fault.file).parent / f"test_{Path(fault.file).stem}.py"
    module = ".".join(("condmask", *Path(fault.file).with_suffix("").parts))
    package, _, name = module.rpartition(".")
    first = [root / test for test in fault.tests] or [own]
    imports = re.compile(rf"{re.escape(module)}\b|from {re.escape(package)} import .*\b{name}\b")
    using = [path for path in sorted((root / "tests").rglob("test_*.py")) if imports.search(path.read_text())]
    folder = [] if own.parent == root / "tests" else sorted(own.parent.glob("test_*.py"))
    done, found = set(), []
    for paths in (first, [own], using, folder):
        turn = [path.relative_to(root) for path in paths if path.exists() or "::" in path.name]
        turn = [path for path in dict.fromkeys(turn) if path not in done]
        done.update(turn)
        found += [turn] if turn else []
    return found


def wrongly(results, copy, seconds):
    """A test that is said to have noticed something and fails without any fault; "" if there is none."""
    tests = sorted({result.by for result in results} - {""})
    return copy.noticed(tests, seconds)[0] if tests else ""
