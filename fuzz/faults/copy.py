"""A copy of the checkout, in which faults are put and tests run."""

import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from fuzz.faults.listed import ROOT

NOTICED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
PATIENCE = 20  # seconds on the clock for one of a processor, on a machine that has other work


class Copy:
    """The files that git knows of or would, in a folder that is thrown away."""

    def __init__(self, folder):
        self.folder, self._times = Path(folder), itertools.count(1)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
        for name in filter(None, files.split("\0")):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)

    @contextmanager
    def with_fault(self, fault):
        """The fault is in its file meanwhile."""
        place = self.folder / fault.path
        before, times = place.read_text(), place.stat()
        place.write_text(fault.put_into(before))
        # Python tells bytecode of another text by its time, to the second, and its size
        os.utime(place, (next(self._times),) * 2)
        try:
            yield
        finally:
            place.write_text(before)
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))

    def noticed(self, tests, seconds, settings=()):
        """The first of these tests that fails, if any does in so many seconds of a processor, and the seconds
        that passed.
        """
        roots = [self.folder / part for part in ("src", ".", "tests", "tests/fixed_keys")]
        settings = {
            "PYTHONPATH": os.pathsep.join(map(str, roots)),
            "OPENBLAS_NUM_THREADS": "1",
            **dict(settings),
        }
        command = [
            *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"),
            *("-p", "fuzz.faults.unshrunk", "--hypothesis-profile", "unshrunk", *map(str, tests)),
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2),
        )
        try:
            told, _ = process.communicate(timeout=PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            told, _ = process.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = NOTICED.search(told)
        if found:
            return found[1], used
        if process.returncode > 0 and process.returncode != 5:  # 5: no tests; below 0: its time was over
            raise RuntimeError(f"pytest ended with {process.returncode}:\n{told[-3000:]}")
        return "", used
