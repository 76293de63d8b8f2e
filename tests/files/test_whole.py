"""A release is there whole or not at all, whatever ends the job, and what must stay is never
replaced.

Jobs that are to be killed kill themselves, at a given operation on files, so that nothing waits
for a clock.
"""

import errno
import os
import resource
import shutil
import signal
import warnings

import pyarrow.parquet as pq
import pytest
from worlds import JOINT, PAY, masked, people, read, write

import condmask as cm

TABLE = people().select(["id", "pay", "age"])


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """Kernels are compiled before processes are forked."""
    folder = tmp_path_factory.mktemp("compiled")
    masked(write(TABLE, folder / "a.parquet"), folder / "b.parquet")


def in_child(job):
    """The signal that ends a process with a job, or minus its exit code: 3 where the job was
    refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        code = 1
        try:
            job()
            code = 0
        except cm.FileError as error:
            os.write(2, str(error).encode())
            code = 3
        finally:
            os._exit(code)
    return -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killing(place, name, number, *, after):
    """Kill this process at a call of a function, before or after it does its work."""
    calls = []
    function = getattr(place, name)

    def call(*arguments, **options):
        calls.append(1)
        if len(calls) == number and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = function(*arguments, **options)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(place, name, call)


def sources(form, folder):
    """A source of a file or a folder, and its target."""
    if form == "folder":
        for k in range(3):
            write(people(200, seed=k).select(TABLE.schema.names), folder / f"in/part {k}.parquet")
        return folder / "in", folder / "out"
    return write(TABLE, folder / f"in.{form}"), folder / f"out.{form}"


WINDOWS = [
    *(
        (form, os, "fsync", 1, after)
        for form in ("parquet", "csv", "folder")
        for after in (False, True)
    ),
    *(
        (form, os, "replace", 1, after)
        for form in ("parquet", "csv", "folder")
        for after in (False, True)
    ),
    *(("csv", os, name, 2, after) for name in ("fsync", "replace") for after in (False, True)),
    ("parquet", pq.ParquetWriter, "write_table", 1, False),
    ("parquet", pq.ParquetWriter, "close", 1, False),
    ("folder", pq.ParquetWriter, "close", 2, True),
    ("folder", pq.ParquetWriter, "write_table", 3, False),
]


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(("form", "place", "name", "number", "after"), WINDOWS)
def test_a_kill_leaves_the_old_file_or_the_new_one(
    tmp_path, form, place, name, number, after, before
):
    source, target = sources(form, tmp_path)
    if before and form == "folder":
        return  # which is never replaced
    old = {}
    if before:
        masked(source, target, rng=1)
        old = {path: path.read_bytes() for path in tmp_path.iterdir() if path != source}

    def job():
        killing(place, name, number, after=after)
        masked(source, target, force=True)

    assert in_child(job) == signal.SIGKILL
    named = after and name == "replace" and number == (2 if form == "csv" else 1)
    mean = None
    if named:
        mean = cm.read_release(target)["pay"].mean()
    elif before:
        assert target.read_bytes() == old[target]
    else:
        assert not target.exists()
    if named and form == "folder":
        shutil.rmtree(target)
    hidden = tmp_path / f".{target.name}.condmask"
    assert any(hidden.iterdir()) != named
    with pytest.raises(
        cm.FileError, match=r"or one was killed: what lies in .* remove it"
    ) as caught:
        masked(source, target, force=True)
    assert str(hidden) in str(caught.value)
    shutil.rmtree(hidden)
    assert masked(source, target, force=True)["pay"].mean() == (
        mean or cm.read_release(target)["pay"].mean()
    )
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "folder"])
def test_a_full_device_is_one_sentence_and_leaves_what_was_there(tmp_path, monkeypatch, form):
    source, target = sources(form, tmp_path)
    if form != "folder":  # which is never replaced
        masked(source, target, rng=1)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}

    def job():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        masked(source, target, force=True)

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    assert in_child(job) == -3
    monkeypatch.setattr(os, "fsync", full)  # where systems that write later say so
    with pytest.raises(cm.FileError, match=": no space left on device"):
        masked(source, target, force=True)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("when", [(600, None), (400, 600)])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_source_that_changes_after_a_pass_is_not_published(tmp_path, form, when):
    source, target = sources(form, tmp_path)
    masked(source, target, rng=1)
    old = cm.read_release(target)["pay"].mean()

    def change(rows, total):
        if (rows, total) == when:
            write(people(seed=5).select(TABLE.schema.names), source)

    with pytest.raises(cm.FileError, match="was changed since it was opened: begin again"):
        masked(source, target, part_rows=200, force=True, progress=change)
    assert cm.read_release(target)["pay"].mean() == old
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["i", "o"] + ["o"] * (
        form == "csv"
    )


def test_progress_counts_rows_and_what_it_raises_leaves_nothing(tmp_path):
    source, target = sources("parquet", tmp_path)
    seen = []
    masked(source, target, part_rows=200, progress=lambda *rows: seen.append(rows))
    assert seen == [(200, None), (400, None), (600, None), (200, 600), (400, 600), (600, 600)]

    def stop(rows, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        masked(source, tmp_path / "c.parquet", progress=stop)
    assert sorted(tmp_path.iterdir()) == [source, target]


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_what_exists_is_replaced_only_with_force_and_never_the_source(tmp_path, form):
    source, target = sources(form, tmp_path)
    content = source.read_bytes()
    target.write_text("theirs")
    with pytest.raises(cm.FileError, match=r"exists; it is replaced only with force=True"):
        masked(source, target)
    assert target.read_text() == "theirs"
    masked(source, target, force=True)
    assert list(cm.read_release(target)) == list(JOINT)
    linked = tmp_path / f"linked.{form}"
    linked.symlink_to(source)
    for same in (source, linked):
        with pytest.raises(cm.FileError, match="is the source, and would be lost"):
            masked(source, same, force=True)
    assert source.read_bytes() == content


def test_folders_are_never_replaced(tmp_path):
    source, target = sources("folder", tmp_path)
    masked(source, target)
    for folder, of in ((target, source), (source, source), (target, next(source.iterdir()))):
        with pytest.raises(
            cm.FileError, match=r"is the source|is a folder, which is never replaced: remove it"
        ):
            masked(of, folder, force=True)
    with pytest.raises(cm.FileError, match=r"/none: no such directory"):
        masked(source, tmp_path / "none/out")


def test_a_dry_run_says_all_and_writes_nothing(tmp_path):
    source, target = sources("csv", tmp_path)
    release = masked(source, target, dry_run=True, part_rows=200)
    assert (release.records, release.parts, release.path) == (600, (200, 200, 200), None)
    assert "pay" in release
    with pytest.raises(
        ValueError, match=r"'pay' has no estimate: nothing was written \(dry_run=True\)"
    ):
        release["pay"]
    assert list(tmp_path.iterdir()) == [source]


def test_what_is_no_table_or_lacks_the_column_is_refused(tmp_path):
    for form in ("parquet", "arrow", "csv"):
        source = write(TABLE, tmp_path / f"a.{form}")
        out = tmp_path / f"b.{form}"
        with pytest.raises(ValueError, match="has no column 'wage'; it has 'id', 'pay', 'age'"):
            masked(source, out, {"wage": PAY})
        with pytest.raises((ValueError, TypeError), match="id must"):
            masked(write(TABLE.set_column(0, "id", people()["note"]), source), out, {"id": PAY})
        source.write_bytes(
            source.read_bytes()[:-300] if form != "csv" else b"id,pay\n1,\xff\n2,3\n"
        )
        with pytest.raises(cm.FileError, match=r"a\.\w+ cannot be read"):
            masked(source, out, {"pay": PAY})
        os.remove(source)
        with pytest.raises(cm.FileError, match=r"a\.\w+: no such file or directory"):
            masked(source, out)
        with pytest.raises(cm.FileError, match=r"a\.\w+: no such file or directory"):
            cm.read_release(source)
    with pytest.raises(ValueError, match=r"a\.xlsx must end in one of \.parquet"):
        masked(write(TABLE, tmp_path / "a.xlsx"), tmp_path / "b.csv")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("b")]
    assert read(write(TABLE, tmp_path / "c.parquet")).num_rows == 600
