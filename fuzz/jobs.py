"""Jobs that write files, and what must hold of every file afterwards, whatever ended them.

Originals are drawn with all digits of a double, and a release has multiples of a step: so an original that is
found anywhere, as text or as eight bytes, was written by mistake.
"""

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import condmask as cm
from condmask import cli
from condmask.releases.ledger import Ledger
from condmask.studies import simulate as study

ROWS, PARTS = 5_000, 4
SCHEME = ["-c", "income", "--p", "0.6", "--sigma", "500", "--accept-visible-coins"]
STUDY = """
n = 2000
replications = 400
rng = 1
[population]
kind = "paper"
[[schemes]]
name = "masked"
p = 0.6
sigma = 500
"""
RECIPE = """
source = "{source}"
target = "{target}"
ledger = "{ledger}"
[columns.income]
p = 0.6
sigma = 500.0
[report]
public = "report.html"
"""
DONE, REFUSED = 0, 1


class Originals(NamedTuple):
    """The values to be masked, and how some of them would look in a file."""

    values: np.ndarray
    texts: list[bytes]
    doubles: list[bytes]

    def shown(self, data: bytes) -> bool:
        return any(one in data for one in (*self.texts, *self.doubles))


def originals(seed: int) -> Originals:
    values = np.random.default_rng(seed).lognormal(8, 0.5, ROWS)
    some = values[:: ROWS // 40]
    return Originals(values, [repr(x).encode() for x in some.tolist()], [x.tobytes() for x in some])


def write_sources(folder: Path, values: np.ndarray) -> None:
    """The same table in every format, and as folders of several files."""
    table = pa.table({
        "id": np.arange(ROWS), "income": values, "note": [f"note {k % 97}" for k in range(ROWS)],
    })  # fmt: skip
    pa.parquet.write_table(table, folder / "in.parquet", compression="none", use_dictionary=False)
    pa.feather.write_feather(table, folder / "in.arrow", compression="uncompressed")
    pa.csv.write_csv(table, folder / "in.csv")
    for kind in ("parquet", "csv"):
        parts = folder / f"in-{kind}"
        parts.mkdir()
        for k in range(PARTS):
            part, path = table.slice(k * ROWS // PARTS, ROWS // PARTS), parts / f"part-{k}.{kind}"
            if kind == "csv":
                pa.csv.write_csv(part, path)
            else:
                pa.parquet.write_table(part, path, compression="none", use_dictionary=False)


class Job(NamedTuple):
    """A command that writes `target` from `source`.

    `replaces` an earlier release, if there is one; `kind` is "release", "recipe" or "study".
    """

    name: str
    source: str
    target: str
    kind: str = "release"
    replaces: bool = False


JOBS = [
    Job("Parquet", "in.parquet", "out.parquet"),
    Job("Arrow", "in.arrow", "out.arrow"),
    Job("CSV", "in.csv", "out.csv"),
    Job("CSV to gzip", "in.csv", "out.csv.gz"),
    Job("CSV to Parquet", "in.csv", "out.parquet"),
    Job("Parquet to CSV", "in.parquet", "out.csv"),
    Job("folder of Parquet", "in-parquet", "out"),
    Job("folder of CSV", "in-csv", "out"),
    Job("Parquet over one", "in.parquet", "out.parquet", replaces=True),
    Job("CSV over one", "in.csv", "out.csv", replaces=True),
    Job("folder over one", "in-csv", "out", replaces=True),
    Job("recipe with report", "in.csv", "out.csv", "recipe"),
    Job("study", "study.toml", "out.npz", "study"),
]


class Case:
    """One run of a job in folders of its own: for its target, temporary files and state."""

    def __init__(self, job: Job, sources: Path, home: Path, old: Path | None) -> None:
        self.job, self.home, self.source = job, home, sources / job.source
        self.out, self.temporary, self.state = home / "target", home / "temporary", home / "state"
        for folder in (self.out, self.temporary, self.state):
            folder.mkdir(parents=True)
        self.target, self.ledger = self.out / job.target, self.state / "ledger.jsonl"
        if job.replaces and old is not None:
            shutil.copytree(old, self.out, dirs_exist_ok=True)
        if job.kind == "recipe":
            text = RECIPE.format(source=self.source, target=self.target, ledger=self.ledger)
            (home / "recipe.toml").write_text(text)
        self.before = self.files()

    def files(self) -> dict[str, bytes]:
        """What the target's folder holds under names that are not hidden."""
        return {
            path.relative_to(self.out).as_posix(): path.read_bytes()
            for path in sorted(self.out.rglob("*"))
            if path.is_file() and not path.relative_to(self.out).parts[0].startswith(".")
        }

    def words(self, *more: str) -> list[str]:
        """The command."""
        if self.job.kind == "study":
            state = ["--checkpoint", str(self.out / "state.npz")]
            return ["simulate", str(self.source), *state, "--out", str(self.target)]
        if self.job.kind == "recipe":
            return ["run", str(self.home / "recipe.toml"), *more]
        force = ["--force"] if self.job.replaces and "--force" not in more else []
        where = ["--ledger", str(self.ledger)]
        return ["mask", str(self.source), str(self.target), *SCHEME, *where, *force, *more]

    def run(self, words: list[str], before: Callable[[], None] = lambda: None) -> int:
        """Do it in this process; returns the exit code."""
        os.chdir(self.home)
        os.environ.update(XDG_STATE_HOME=str(self.state), TMPDIR=str(self.temporary))
        tempfile.tempdir = str(self.temporary)
        study.SAVE_SECONDS = 0.0
        before()
        return cli.main(words)

    def forked(self, words: list[str], errors: str, before: Callable[[], None] = lambda: None) -> int:
        """Start it in a child; returns the child's number."""
        child = os.fork()
        if child:
            return child
        code = 99
        try:
            os.setpgid(0, 0)
            for descriptor, name in ((1, "output"), (2, errors)):
                os.dup2(os.open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), descriptor)
            code = self.run(words, before)
        except KeyboardInterrupt:
            code = 130
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def done(self, words: list[str], errors: str) -> int:
        """Do it in a child; returns the exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self.forked(words, errors), 0)[1])

    @property
    def published(self) -> bool:
        """Whether there is a new release, or result."""
        data = self.target / "_condmask.json" if self.target.is_dir() else self.target
        name = data.relative_to(self.out).as_posix()
        return data.exists() and data.read_bytes() != self.before.get(name)

    @property
    def entries(self) -> int:
        content = Ledger(self.ledger).content()
        return 0 if content is None else len(content.entries)


def faults_of(case: Case, raw: Originals) -> list[str]:
    """What is wrong with the files that a job left."""
    found = []
    for path in case.home.rglob("*"):
        if path.is_file() and raw.shown(path.read_bytes()):
            found.append(f"originals in {path.relative_to(case.home)}")
    found += [f"left in TMPDIR: {path.name}" for path in case.temporary.iterdir() if path.suffix != ".cache"]
    found += _faults_of_study(case) if case.job.kind == "study" else _faults_of_release(case)
    return found


def _faults_of_study(case: Case) -> list[str]:
    found = []
    for path in (case.target, case.out / "state.npz"):
        if path.exists():
            try:
                cm.StudyResult.load(path)
            except ValueError as error:
                found.append(str(error))
    return found


def _faults_of_release(case: Case) -> list[str]:
    found = []
    if case.target.exists():
        try:
            release = cm.read_release(case.target, "income")
            if release.n != ROWS:
                found.append(f"{release.n} records")
        except (cm.CondmaskError, ValueError) as error:
            # a CSV file that is replaced: its scheme has been, and is refused beside the old data
            if not ("is not the file that" in str(error) and case.job.replaces):
                found.append(f"not whole: {error}")
    errors = case.home / "errors"
    unentered = errors.exists() and "this release is not entered" in errors.read_text(errors="replace")
    if case.entries != case.published and not (unentered and case.entries == 0):
        found.append(f"{case.entries} entries in the ledger, published: {case.published}")
    hidden = [path for path in case.out.iterdir() if path.name.startswith(".")]
    for path in hidden:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~(0o700 if path.is_dir() else 0o644):
            found.append(f"{path.name} has mode {mode:o}")
    return found


def faults_of_the_next(case: Case, raw: Originals) -> list[str]:
    """What goes wrong if the same job is done once more, undisturbed."""
    published, words = case.published, case.words()
    if published and case.job.kind != "study" and case.entries == 0:  # the ledger could not be written
        return []
    if case.job.kind == "study":
        code = case.done(words, "errors-next")
        return [] if code == DONE else [f"the next job ended with {code}"]
    companions = [name for name in case.files() if name not in case.before]
    if companions and not case.job.replaces:
        words = case.words("--force")  # its refusal names what is there
    code = case.done(words, "errors-next")
    text = (case.home / "errors-next").read_text()
    if published:
        if code != REFUSED or not re.search(r"(shares|holds) \d+% of", text):
            return [f"released twice, or not for that: {code}, {text}"]
        return []
    if code != DONE:
        return [f"the next job ended with {code}: {text}"]
    left = [path.name for path in case.out.iterdir() if path.name.startswith(".")]
    found = [f"left for good: {left}"] if left else []
    return found + faults_of(case, raw)
