"""What is no ordinary file is refused at once, and what changes while it is read is noticed.

Oracles: bytes that were written, the system's own files, and a folder before and after.
"""

import os
import socket

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files import read, source_file
from condmask.files.atomic import fingerprint
from condmask.files.read import open_table
from condmask.files.source_file import SourceFile
from condmask.releases import mask_file
from condmask.releases.mask_file import audit_file

pytestmark = pytest.mark.usefixtures("unaudited")

N = 400
SCHEME = cm.ConditionalMasking(0.6, 50.0)
FORMATS = ["arrow", "parquet", "csv", "csv.gz"]


def table(first=0):
    return pa.table({"x": np.arange(first, first + N) * 7.0 % 301, "y": np.arange(N)})


def write(path, first=0):
    frame = table(first)
    if path.suffix == ".arrow":
        with pa.ipc.new_file(path, frame.schema) as file:
            file.write_table(frame, max_chunksize=100)
    elif path.suffix == ".parquet":
        pq.write_table(frame, path)
    else:
        frame.to_pandas().to_csv(path, index=False)
    return path


def in_place(path):
    """Write to a file and set its time back, until the clock of the system has gone on."""
    content, before = path.read_bytes(), path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        with path.open("r+b") as file:
            file.write(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def pipe(path):
    os.mkfifo(path)


def listener(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(("make", "kind"), [(pipe, "a pipe"), (listener, "a socket"), (device, "a device")])
def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path, suffix, make, kind):
    source = tmp_path / f"a.{suffix}"
    make(source)
    calls = [
        lambda: cm.mask_file(source, tmp_path / f"b.{suffix}", {"x": SCHEME}),
        lambda: cm.mask_file(source, tmp_path / "b.parquet", {"x": SCHEME}, dry_run=True),
        lambda: audit_file(source, {"x": SCHEME}),
        lambda: cm.read_release(source),
        lambda: cm.read_column(source, "x"),
    ]
    for call in calls:
        with pytest.raises(cm.FileError, match=rf"a\.{suffix} must be an ordinary file, got {kind}$"):
            call()
    assert list(tmp_path.iterdir()) == [source]


def test_a_pipe_that_takes_the_name_meanwhile_is_not_waited_for(tmp_path, monkeypatch):
    ordinary, path = write(tmp_path / "a.arrow"), tmp_path / "b.arrow"
    pipe(path)
    real = os.stat
    monkeypatch.setattr(source_file.os, "stat", lambda _: real(ordinary))

    with pytest.raises(cm.FileError, match="must be an ordinary file, got a pipe"):
        SourceFile(path)


def test_a_file_is_read_in_pieces_of_the_size_asked_for(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(range(10)))
    with SourceFile(path, fingerprint(path)) as file:
        assert os.get_blocking(file.fileno())
        assert bytes(file.exactly(4)) + bytes(file.exactly(6)) == bytes(range(10))
        for size in (1, 2**62):
            with pytest.raises(
                cm.FileError, match="a cannot be read: it is damaged, or was truncated meanwhile"
            ):
                file.exactly(size)


def test_a_file_that_ends_while_a_piece_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(bytes(10))
    with SourceFile(path) as file:
        longer = os.stat_result([*os.fstat(file.fileno())[:6], 20, 0, 0, 0])
        monkeypatch.setattr(source_file.os, "fstat", lambda _: longer)
        with pytest.raises(cm.FileError, match="was truncated meanwhile"):
            file.exactly(20)


def test_what_fails_while_a_file_is_read_is_said_of_it(tmp_path):
    path = write(tmp_path / "a.csv")
    with SourceFile(path) as file:
        os.close(file.fileno())
        with pytest.raises(cm.FileError, match=r"a\.csv: bad file descriptor"):
            file.readinto(bytearray(3))
        os.open(path, os.O_RDONLY)  # takes the number, which is closed with the file
    with pytest.raises(cm.FileError, match=r"c\.csv: no such file or directory"):
        SourceFile(tmp_path / "c.csv")


def truncated(path):
    os.truncate(path, path.stat().st_size // 2)


def renamed(path):
    os.replace(write(path.with_name("other." + path.name.split(".", 1)[1]), 5), path)


def unlinked(path):
    path.unlink()


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("change", [in_place, truncated, renamed, unlinked])
@pytest.mark.parametrize("stage", ["reading", "drawing"])
def test_a_source_that_changes_while_it_is_masked_is_named_and_nothing_is_written(
    tmp_path, suffix, change, stage
):
    source, target = write(tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    before = source.read_bytes()

    class Meanwhile:
        def __call__(self, *_):
            pass

        def begin(self, *_):
            pass

        def stage(self, name):
            if name == stage:
                change(source)

    said = "changed while|no such file|cannot be read|not readable|too few fields"
    with pytest.raises(cm.CondmaskError, match=rf"a\.{suffix}.*({said})") as told:
        cm.mask_file(source, target, {"x": SCHEME}, progress=Meanwhile())

    assert "b." not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ([] if change is unlinked else [source.name])
    assert change is not in_place or source.read_bytes() == before


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_that_changes_while_a_column_is_read_is_refused(tmp_path, monkeypatch, suffix):
    path, joined = write(tmp_path / f"a.{suffix}"), read.joined

    def meanwhile(parts):
        parts = list(parts)
        in_place(path)
        return joined(parts)

    monkeypatch.setattr(read, "joined", meanwhile)
    with pytest.raises(cm.FileError, match=rf"a\.{suffix} changed while it was read; read it again"):
        cm.read_column(path, "x")


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_another_file_that_takes_the_name_is_not_read_as_the_first(tmp_path, suffix):
    opened = open_table(write(tmp_path / f"a.{suffix}"))
    renamed(opened.path)

    with pytest.raises(cm.FileError, match=rf"a\.{suffix} changed while it was read"):
        list(opened.parts(["x"]))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_source_that_changes_once_its_columns_are_known_is_not_masked(tmp_path, monkeypatch, suffix):
    source, check = write(tmp_path / f"a.{suffix}"), mask_file.columns_exist

    def exchanged(table, names):
        check(table, names)
        renamed(source)

    monkeypatch.setattr(mask_file, "columns_exist", exchanged)
    with pytest.raises(cm.FileError, match=rf"a\.{suffix} changed while it was"):
        cm.mask_file(source, tmp_path / f"b.{suffix}", {"x": SCHEME})
    assert list(tmp_path.iterdir()) == [source]
