"""The room that masking takes on disks. Oracle: rows as written."""

import tempfile
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.files import room as rooms
from condmask.files.read import open_table
from condmask.files.room import Room, bytes_of_row, check_room, estimated_rows, room_for

ONE = {"x": cm.ConditionalMasking(0.6, 1.0)}
N = 100_000


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "csv.gz"])
def test_rows_are_those_of_the_footer_or_estimated_from_the_size(tmp_path, suffix):
    frame = pd.DataFrame({"x": np.random.default_rng(1).normal(0.0, 1.0, N).round(3), "y": range(N)})
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path, row_group_size=7_000)
    elif suffix == "arrow":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False)
    rows, estimated, *_ = room_for(open_table(path), ONE, (), gaps=False)
    assert estimated == suffix.startswith("csv")
    assert abs(rows - N) <= (0.15 * N if estimated else 0)


def test_a_text_of_a_header_alone_has_no_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n")
    assert room_for(open_table(path), ONE, (), gaps=False)[:2] == (0, True)
    path.write_text("")
    assert estimated_rows(path) == 0


def test_room_is_summed_over_files(tmp_path):
    paths = [tmp_path / f"{k}.parquet" for k in range(2)]
    for path in paths:
        pd.DataFrame({"x": np.arange(1000.0)}).to_parquet(path)
    room = room_for(
        open_table(tmp_path), {"x": cm.ConditionalMasking(0.6, 1.0, donors="sample")}, (), gaps=False
    )
    assert room == Room(2000, False, 2000 * 8, sum(path.stat().st_size for path in paths) + 2000 * 8)


def test_numbers_of_rows_beyond_32_bits_take_twice_as_much():
    assert bytes_of_row(1 << 31, ONE, (), gaps=True) - bytes_of_row(100, ONE, (), gaps=True) == 4 * 4


Usage = namedtuple("Usage", "total used free")


def disks(monkeypatch, free, *, one):
    """Disks with so much room, by folder; one disk, or several."""
    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda folder: Usage(10**15, 0, free[str(folder)]))
    monkeypatch.setattr(rooms, "_one_disk", lambda *folders: one)


def test_a_job_without_room_is_refused_before_it_starts(tmp_path, monkeypatch):
    temporary, target = tempfile.gettempdir(), tmp_path / "b.parquet"
    room = Room(10**8, False, 2 * 10**9, 3 * 10**9)
    disks(monkeypatch, {temporary: 2 * 10**9, str(tmp_path): 3 * 10**9}, one=False)
    check_room(room, target)
    disks(monkeypatch, {temporary: 2 * 10**9 - 1, str(tmp_path): 0}, one=False)
    with pytest.raises(cm.FileError) as refusal:
        check_room(room, target)
    assert str(refusal.value) == (
        f"{temporary} has no room for temporary files: masking 100,000,000 rows takes up to 2.0 GB, and "
        "2.0 GB are free; set TMPDIR to another folder"
    )
    disks(monkeypatch, {temporary: 2 * 10**9, str(tmp_path): 3 * 10**9 - 1}, one=False)
    check_room(room, None)
    with pytest.raises(
        cm.FileError, match=r"about 3.0 GB, and 3.0 GB are free; name a target on another disk$"
    ):
        check_room(room, target)
    disks(monkeypatch, {temporary: 4 * 10**9, str(tmp_path): 4 * 10**9}, one=True)
    with pytest.raises(cm.FileError, match=r"besides 2.0 GB of temporary files.*, and TMPDIR for temporary"):
        check_room(room._replace(estimated=True), target)


def test_disks_that_do_not_tell_are_not_checked(tmp_path, monkeypatch):
    room = Room(10**8, False, 10**18, 10**18)
    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda _: Usage(0, 0, 0))
    check_room(room, tmp_path / "b.parquet")
    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda _: (_ for _ in ()).throw(OSError("none")))
    check_room(room, tmp_path / "b.parquet")


def test_nothing_is_read_or_written_where_there_is_no_room(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"x": np.arange(1000.0)}).to_parquet(path)
    monkeypatch.setattr(rooms.shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 10))
    read = []
    with pytest.raises(cm.FileError, match="has no room for temporary files: masking 1,000 rows"):
        cm.mask_file(path, tmp_path / "b.parquet", ONE, ledger=False, progress=lambda *at: read.append(at))
    assert not read
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_the_command_says_what_a_large_job_takes(tmp_path, monkeypatch, capsys):
    from condmask.cli.mask import announce

    path = tmp_path / "a.parquet"
    pd.DataFrame({"x": np.arange(1000.0)}).to_parquet(path)
    announce(str(path), ONE, omitted=False)
    assert not capsys.readouterr().err
    monkeypatch.setattr(rooms, "MUCH", 1_000)
    announce(str(path), ONE, omitted=False)
    assert capsys.readouterr().err.startswith("1,000 rows take up to 24.0 kB of temporary files in ")
