"""Releases that appear whole or not at all: permissions, other jobs, kills at any moment.

Nothing waits for a clock: jobs meet at a pipe, and a job that is to be killed kills itself, at a given one of
its operations on files.
"""

import errno
import os
import random
import signal
import stat
import sys
import tempfile
import warnings

import numpy as np
import pytest
from csv_files import LINES, UNITS, mask_lines

import condmask as cm
from condmask.files import atomic
from condmask.releases.ledger import Ledger

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 500.0)
ROWS = 2_000
ORIGINAL = np.random.default_rng(4).lognormal(7, 0.6, ROWS)


@pytest.fixture(params=["csv", "parquet"])
def source(request, tmp_path):
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        path.write_text("id,income\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(ORIGINAL.tolist())))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"id": np.arange(ROWS), "income": ORIGINAL}), path)
    return path


def release_of(source, folder):
    folder.mkdir(exist_ok=True)
    return folder / f"masked{source.suffix}"


def in_child(job):
    """A process of its own that does the job; its exit code is 0, or 3 where the job was refused."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            job()
            code = 0
        except cm.FileError:
            code = 3
        finally:
            os._exit(code)
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_target_is_no_more_readable_than_the_umask_allows(tmp_path, monkeypatch, umask, nameless):
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    target = tmp_path / "a"
    before = os.umask(umask)
    try:
        with atomic.publishing({target: None}) as [output]:
            output.write(b"half")
            hidden = list(tmp_path.iterdir())
            assert len(hidden) == (0 if nameless else 1)
            assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in hidden)
            output.write(b" whole")
    finally:
        found = os.umask(before)

    assert found == umask
    assert target.read_bytes() == b"half whole"
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_system_without_links_gets_a_copy(tmp_path, monkeypatch):
    def without(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", without)
    before = os.umask(0o022)
    try:
        with atomic.publishing({tmp_path / "a": None}) as [output]:
            output.write(b"whole")
    finally:
        os.umask(before)

    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_a_target_is_no_more_readable_than_what_it_replaces(tmp_path):
    target = tmp_path / "a"
    target.write_text("private")
    target.chmod(0o640)
    before = os.umask(0)
    try:
        with atomic.publishing({target: atomic.fingerprint(target)}) as [output]:
            output.write(b"new")
    finally:
        os.umask(before)

    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_text() == "new"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_target_that_another_job_wrote_meanwhile_is_left_alone(source, tmp_path, overwrite):
    target = release_of(source, tmp_path / "out")
    if overwrite:
        target.write_text("before")

    def other(done, total):
        target.write_text("theirs, and longer")

    word = "was changed" if overwrite else "has appeared"
    with pytest.raises(cm.FileError, match=f"{word} meanwhile, by another job; nothing was published"):
        cm.mask_file(source, target, {"income": SCHEME}, ledger=False, overwrite=overwrite, progress=other)

    assert target.read_text() == "theirs, and longer"
    assert list(target.parent.iterdir()) == [target]


def test_targets_are_looked_at_and_named_under_one_lock(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    held = []

    def locked():
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(folder)
        return False

    def noted(function):
        def call(*arguments):
            held.append((function.__name__, locked()))
            return function(*arguments)

        return call

    monkeypatch.setattr(atomic, "fingerprint", noted(atomic.fingerprint))
    monkeypatch.setattr(os, "replace", noted(os.replace))
    with atomic.publishing({tmp_path / "a": None, tmp_path / "b": None}) as outputs:
        for output in outputs:
            output.write(b"whole")
        assert not locked()

    assert held == [("fingerprint", True)] * 2 + [("replace", True)] * 2
    assert not locked()


def test_bytes_are_on_the_disk_before_their_names_and_these_before_the_end(tmp_path, monkeypatch):
    pytest.importorskip("fcntl")  # by whose locks the folder is opened
    done, fsync, replace = [], os.fsync, os.replace

    def noted(descriptor):
        status = os.fstat(descriptor)
        done.append("folder" if stat.S_ISDIR(status.st_mode) else status.st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", lambda *names: done.append("name") or replace(*names))
    with atomic.publishing({tmp_path / "a": None, tmp_path / "b": None}) as outputs:
        for output, content in zip(outputs, (b"one", b"three"), strict=True):
            output.write(content)

    assert done == [3, 5, "name", "name", "folder"]


FAULTS = [
    getattr(errno, name)
    for name in (
        "ENOSPC",
        "EIO",
        "EDQUOT",
        "EROFS",
        "EACCES",
        "EXDEV",
        "EPERM",
        "EOPNOTSUPP",
        "ENOSYS",
        "ESTALE",
    )
    if hasattr(errno, name)
]


def not_for_links(monkeypatch):
    """A system that cannot give a file without a name one."""
    is_folder = os.path.isdir
    monkeypatch.setattr(os.path, "isdir", lambda path: path != "/proc/self/fd" and is_folder(path))


class Faults:
    """Operations on files, of which the one with the number `failing` fails with an error."""

    def __init__(self, monkeypatch, folder):
        self.folder, self.failing, self.passed, self.error = str(folder), 0, 0, 0
        monkeypatch.setattr(os, "fsync", self.noted(os.fsync))
        monkeypatch.setattr(atomic.Output, "write", self.noted(atomic.Output.write))
        sys.addaudithook(self._operation)

    def noted(self, function):
        def call(*arguments):
            self.point()
            return function(*arguments)

        return call

    def _operation(self, event, arguments):
        written = event in ("os.link", "os.rename", "os.remove", "os.mkdir", "os.chmod", "fcntl.flock")
        if written or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            self.point()

    def point(self):
        if self.failing is not None:
            self.passed += 1
            if self.passed == self.failing:
                raise OSError(self.error, os.strerror(self.error))

    def during(self, failing, error, job):
        """The result of a job, or what it raised, with one operation that fails."""
        self.failing, self.error, self.passed = failing, error, 0
        try:
            return job()
        except cm.CondmaskError as refused:
            return refused
        finally:
            self.failing = None


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.filterwarnings("ignore:the ledger:condmask.ReleaseWarning")
def test_whatever_operation_fails_a_release_is_whole_and_entered_or_not_there(
    tmp_path, monkeypatch, nameless
):
    if not nameless:
        not_for_links(monkeypatch)
    source = tmp_path / "people.csv"
    source.write_text("id,income\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(ORIGINAL.tolist())))
    faults = Faults(monkeypatch, tmp_path)

    def masked(k, failing=0, error=0):
        out = tmp_path / f"out{k}"
        out.mkdir(exist_ok=True)
        ledger, target = tmp_path / f"ledger{k}.jsonl", out / "masked.csv"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made = faults.during(
                failing, error, lambda: cm.mask_file(source, target, {"income": SCHEME}, ledger=ledger)
            )
        content = Ledger(ledger).content()
        return (
            made,
            target,
            [] if content is None else list(content.entries),
            [str(one.message) for one in said],
        )

    def whole(made, target):
        assert cm.read_release(target, "income").n == ROWS
        return sorted(path.name for path in target.parent.iterdir() if path != target)

    masked("warm")
    masked(0)
    number, refused = faults.passed, 0
    assert number > 20
    for k in range(1, number + 1):
        error = FAULTS[k % len(FAULTS)]
        made, target, entries, said = masked(k, k, error)
        if isinstance(made, Exception):
            assert isinstance(made, cm.FileError)
            assert len(str(made).splitlines()) == 1
            assert str(target.parent) in str(made) or tempfile.gettempdir() in str(made)
            assert not target.exists()
            assert entries == []
            refused += 1
            made, target, entries, said = masked(k)
        assert entries == [1] or any("this release is not entered" in one for one in said)
        assert whole(made, target) == ["masked.csv.README.md", "masked.csv.condmask.json"]
    assert refused > 10


@pytest.mark.parametrize("jobs", [2, 7])
def test_of_jobs_with_one_target_one_wins_whole(source, tmp_path, jobs):
    # kernels are compiled
    cm.mask_file(source, release_of(source, tmp_path / "warm"), {"income": SCHEME}, ledger=False)
    target = release_of(source, tmp_path / "out")
    schemes = [cm.ConditionalMasking(0.6, 500.0 + k) for k in range(jobs)]
    (looked, look), (start, started) = os.pipe(), os.pipe()

    def job(scheme):
        met = []

        def meet(done, total):
            """Every job has found that there is no target, before one of them goes on."""
            if not met:
                met.append(os.write(look, b"."))
                os.read(start, 1)  # until all others have closed the other end

        os.close(started)
        try:
            cm.mask_file(source, target, {"income": scheme}, ledger=False, progress=meet)
        finally:
            os.write(look, b".")  # who fails early keeps nobody waiting

    children = [in_child(lambda scheme=scheme: job(scheme)) for scheme in schemes]
    for _ in range(jobs):
        os.read(looked, 1)
    os.close(started)
    codes = [exit_code(child) for child in children]
    for end in (looked, look, start):
        os.close(end)

    assert sorted(codes) == [0] + [3] * (jobs - 1)
    assert cm.read_release(target, "income").scheme.sigma == schemes[codes.index(0)].sigma
    beside = 2 if target.suffix == ".csv" else 1
    assert len(list(target.parent.iterdir())) == 1 + beside


class Points:
    """The operations of a process on the files of a folder, of which the `last` one is where it ends."""

    def __init__(self, folder, last):
        self.folder, self.last, self.passed = str(folder), last, 0

    def watch(self):
        """From now on; what is watched stays so until the process ends."""
        sys.addaudithook(self._operation)
        write, replace, points = atomic.Output.write, os.replace, self

        def in_halves(output, data):
            view = memoryview(data).cast("B")
            write(output, view[: view.nbytes // 2])
            output.flush()
            points.point()
            write(output, view[view.nbytes // 2 :])
            return view.nbytes

        def and_after(hidden, final):
            replace(hidden, final)
            points.point()

        atomic.Output.write, os.replace = in_halves, and_after

    def _operation(self, event, arguments):
        paths = [str(each) for each in arguments[:2]]
        if event in ("open", "os.link", "os.rename", "os.remove") and any(self.folder in p for p in paths):
            self.point()
        if event == "fcntl.flock":
            self.point()

    def point(self):
        self.passed += 1
        if self.passed == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def mask_until(source, target, begin):
    """The release; `begin` is told when it begins."""
    os.umask(0o022)
    begin()
    cm.mask_file(source, target, {"income": SCHEME}, ledger=target.parent / "ledger")


def assert_nothing_raw(source, target, temporary, *, again=True):
    """Whether the release is there, whole and entered in the ledger; if not, `again` makes it now."""
    assert list(temporary.iterdir()) == []
    for path in target.parent.iterdir():
        assert not shown(path.read_bytes())
        if path.name.startswith("."):  # what has to have a name stays behind where nobody can clean up
            assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o644)  # while it grows, and when it is whole
    published, content = target.exists(), Ledger(target.parent / "ledger").content()
    assert (content is not None and len(content.entries) == 1) == published
    if not published and again:
        cm.mask_file(source, target, {"income": SCHEME}, ledger=target.parent / "ledger", overwrite=True)
        assert not any(path.name.startswith(".") for path in target.parent.iterdir())
    if published or again:
        assert cm.read_release(target, "income").n == ROWS
    return published


@pytest.mark.parametrize("nameless", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_kill_at_any_operation_leaves_nothing_raw(source, tmp_path, temporary, monkeypatch, nameless):
    if not nameless:
        not_for_links(monkeypatch)
    # kernels are compiled
    cm.mask_file(source, release_of(source, tmp_path / "warm"), {"income": SCHEME}, ledger=False)
    (tmp_path / "points").touch()
    whole = release_of(source, tmp_path / "whole")

    def job(target, last):
        points = Points(tmp_path, last)
        mask_until(source, target, points.watch)
        (tmp_path / "points").write_text(str(points.passed))

    assert exit_code(in_child(lambda: job(whole, 0))) == 0
    number = int((tmp_path / "points").read_text())
    published = []
    for last in range(1, number + 1):
        target = release_of(source, tmp_path / f"out{last}")
        code = exit_code(in_child(lambda target=target, last=last: job(target, last)))

        assert code == -signal.SIGKILL
        # until there are names, nothing hinders
        again = last > number - 12
        published.append(assert_nothing_raw(source, target, temporary, again=again))
    # the file of the data takes its name last; then the names are put on the disk
    assert published[-4:] == [False, False, True, True]
    assert not any(published[:-4])
    assert number > 10


@pytest.mark.long
def test_a_kill_at_any_line_leaves_nothing_raw(source, tmp_path, temporary):
    """Some lines of all that are run, by a fixed seed."""
    # kernels are compiled
    cm.mask_file(source, release_of(source, tmp_path / "warm"), {"income": SCHEME}, ledger=False)
    whole = release_of(source, tmp_path / "whole")

    def job(target, last):
        passed = 0

        def line(frame, event, argument):
            nonlocal passed
            if event == "line" and (passed := passed + 1) == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return line

        def trace(frame, event, argument):
            return line if "condmask" in frame.f_code.co_filename else None

        mask_until(source, target, lambda: sys.settrace(trace))
        sys.settrace(None)
        (tmp_path / "lines").write_text(str(passed))

    assert exit_code(in_child(lambda: job(whole, 0))) == 0
    number = int((tmp_path / "lines").read_text())
    published = []
    for last in sorted(random.Random(7).sample(range(1, number), 40)):
        target = release_of(source, tmp_path / f"out{last}")
        exit_code(in_child(lambda target=target, last=last: job(target, last)))
        published.append(assert_nothing_raw(source, target, temporary))
    assert published == sorted(published)


@pytest.mark.parametrize("window", range(3))
def test_a_kill_between_two_names_leaves_nothing_that_disagrees(source, tmp_path, window):
    target = release_of(source, tmp_path / "out")
    cm.mask_file(source, target, {"income": SCHEME}, ledger=False)
    replace, taken = os.replace, []

    def killed(hidden, final):
        if len(taken) == window:
            os._exit(9)
        taken.append(final)
        replace(hidden, final)

    def job():
        os.replace = killed
        cm.mask_file(
            source, target, {"income": cm.ConditionalMasking(0.6, 600.0)}, ledger=False, overwrite=True
        )

    code = exit_code(in_child(job))
    if source.suffix == ".parquet" and window == 2:  # two files alone
        assert code == 0
    else:
        assert code == 9
    if source.suffix == ".csv" and window == 2:  # the new scheme beside the old data
        with pytest.raises(cm.FileError, match=r"is not the file that masked[.]csv"):
            cm.read_release(target, "income")
    else:
        sigma = 600.0 if code == 0 else 500.0
        assert cm.read_release(target, "income").scheme.sigma == sigma
    assert not any(shown(path.read_bytes()) for path in target.parent.iterdir())


def test_a_system_without_modes_of_open_files_masks(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fchmod")
    (tmp_path / "a.csv").write_text("x\n" + "".join(f"{k}\n" for k in range(2000)))
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"x": SCHEME}, accept_visible_coins=True)
    assert cm.read_release(tmp_path / "b.csv", "x").n == 2000


def shown(data):
    """Whether bytes hold several originals in a row, which no release does but by chance in a million."""
    texts = [",".join(map(repr, ORIGINAL[k : k + 1].tolist())).encode() for k in range(0, ROWS, 50)]
    runs = [ORIGINAL[k : k + 4].tobytes() for k in range(0, ROWS - 4, 50)]
    # masked values lie on a grid that no original does
    return any(text in data for text in texts) or any(run in data for run in runs)


def test_a_scheme_that_lies_about_is_not_replaced_unasked(tmp_path):
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("\n".join(["id,income,note", *LINES]))
    beside = tmp_path / "b.csv.condmask.json"
    beside.write_text("{}")

    with pytest.raises(cm.FileError, match=r"condmask\.json exists"):
        cm.mask_file(source, target, {"income": UNITS}, ledger=False)

    assert beside.read_text() == "{}"
    assert not target.exists()


def test_masked_values_never_stand_without_their_scheme(tmp_path, monkeypatch):
    replaced = []
    monkeypatch.setattr("condmask.files.atomic.os.replace", lambda _, final: replaced.append(final.name))

    (tmp_path / "b.csv").write_text("id,income,note\n")  # for mask_lines() to read
    mask_lines(tmp_path, LINES)

    assert replaced == ["b.csv.README.md", "b.csv.condmask.json", "b.csv"]


def test_a_directory_is_no_target(tmp_path):
    (tmp_path / "b.csv").mkdir()

    with pytest.raises(cm.FileError, match="is a directory"):
        mask_lines(tmp_path, LINES)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have names from the beginning here")
def test_a_signal_as_soon_as_the_file_has_a_name_leaves_none(tmp_path, monkeypatch):
    link = os.link

    def interrupted(*args, **options):
        link(*args, **options)
        raise SystemExit

    monkeypatch.setattr(os, "link", interrupted)
    with pytest.raises(SystemExit), atomic.publishing({tmp_path / "a.csv": None}) as (output,):
        output.write(b"income")
    assert list(tmp_path.iterdir()) == []
