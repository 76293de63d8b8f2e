"""A folder is published whole or not at all. Oracle: the folders afterwards."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from many_files import people, write, write_parts

import condmask as cm
from condmask.files import publish_folder
from condmask.files.atomic import FileError
from condmask.files.folder import FolderTable
from condmask.files.part_files import part_files
from condmask.files.read import open_table

pytestmark = pytest.mark.usefixtures("unaudited")

TABLE = people(600)
SCHEME = {"bonus": cm.ConditionalMasking(0.6, 50.0, decimals=2)}
HOME = Path(__file__).parents[1]
KILLED = """
import os, signal, sys
import condmask as cm
from condmask.files import publish_folder

sys.path.insert(0, {home!r})
wrote = publish_folder.OutputFolder.wrote

def killed(self, name, records):
    wrote(self, name, records)
    if name.startswith("part-00001"):
        os.kill(os.getpid(), signal.SIGKILL)

publish_folder.OutputFolder.wrote = killed
scheme = cm.ConditionalMasking(0.6, 50.0, decimals=2)
cm.mask_file({source!r}, {target!r}, {{"bonus": scheme}}, accept_visible_coins=True, ledger=False)
"""


@pytest.fixture
def source(tmp_path):
    return write_parts(TABLE, tmp_path / "in", "csv", [200, 400])


def mask(source, target, **options):
    return cm.mask_file(source, target, SCHEME, rng=1, **options)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


WHOLE = ["_README.md", "_condmask.json", "part-00000.csv", "part-00001.csv", "part-00002.csv"]


def test_a_killed_job_leaves_no_release_and_does_not_hinder_the_next_one(source, tmp_path):
    target = tmp_path / "out"
    code = KILLED.format(home=str(HOME), source=str(source), target=str(target))
    job = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert job.returncode == -signal.SIGKILL, job.stderr
    assert not target.exists()
    (left,) = (path for path in tmp_path.iterdir() if path.name.startswith(".out.condmask-"))
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    assert names(left) == ["new", "new/part-00000.csv", "new/part-00001.csv"]
    mask(source, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert names(target) == WHOLE


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_rename_that_fails_publishes_nothing(source, tmp_path, monkeypatch, overwrite):
    target, rename = tmp_path / "out", os.rename
    if overwrite:
        mask(source, target)
        before = (target / "part-00000.csv").read_bytes()

    def failing(a, b):
        if Path(b) == target and Path(a).name == "new":
            raise OSError(5, "Input/output error")
        rename(a, b)

    monkeypatch.setattr(publish_folder.os, "rename", failing)
    monkeypatch.setattr(publish_folder, "_exchanged", lambda *_: False)
    with pytest.raises(FileError, match=r"cannot write .*out: input/output error"):
        cm.mask_file(source, target, SCHEME, rng=2, overwrite=overwrite)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"][: 1 + overwrite]
    if overwrite:
        assert (target / "part-00000.csv").read_bytes() == before


def test_a_release_moved_aside_by_a_killed_job_comes_back(source, tmp_path):
    target, hidden = tmp_path / "out", tmp_path / (".out.condmask-" + "0" * 16)
    mask(source, target)
    hidden.mkdir()
    target.rename(hidden / "old")

    with pytest.raises(FileError, match="has appeared meanwhile"):
        mask(source, target)

    assert names(target) == WHOLE
    assert not hidden.exists()


@pytest.mark.parametrize("exchanging", [True, False])
def test_overwriting_replaces_a_release(source, tmp_path, monkeypatch, exchanging):
    target = tmp_path / "out"
    mask(source, target)
    (source / "part-00002.csv").unlink()
    if not exchanging:
        monkeypatch.setattr(publish_folder, "_exchanged", lambda *_: False)
    with pytest.raises(FileError, match=r"out exists; it is replaced only with --force"):
        mask(source, target)
    mask(source, target, overwrite=True)

    assert names(target) == WHOLE[:-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert cm.read_release(target).records == 400


@pytest.mark.parametrize("stranger", ["mine.txt", ".mine", "sub/mine.csv", "empty/"])
def test_a_strangers_file_is_never_removed(source, tmp_path, stranger):
    target = tmp_path / "out"
    mask(source, target)
    path = target / stranger
    (path if stranger.endswith("/") else path.parent).mkdir(exist_ok=True)
    if not stranger.endswith("/"):
        path.write_text("mine")
    before = names(target)

    for dry_run in (True, False):
        with pytest.raises(FileError, match="contains more than the release in it, and is not replaced"):
            mask(source, target, overwrite=True, dry_run=dry_run)

    assert names(target) == before


def test_a_strangers_folder_is_never_replaced(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.csv").write_text("mine")

    with pytest.raises(FileError, match="is not a release of several files, and is not replaced"):
        mask(source, tmp_path / "out", overwrite=True)

    assert names(tmp_path / "out") == ["mine.csv"]


def test_a_file_put_there_meanwhile_stays(source, tmp_path, monkeypatch):
    target, wrote = tmp_path / "out", publish_folder.OutputFolder.wrote
    mask(source, target)

    def meanwhile(self, name, records):
        wrote(self, name, records)
        (target / "mine").write_text("mine")

    monkeypatch.setattr(publish_folder.OutputFolder, "wrote", meanwhile)
    with pytest.raises(FileError, match="out was changed meanwhile, by another job"):
        mask(source, target, overwrite=True)

    assert names(target) == sorted([*WHOLE, "mine"])


def test_a_file_put_there_at_the_last_moment_stays(source, tmp_path, monkeypatch):
    target, exchanged = tmp_path / "out", publish_folder._exchanged
    mask(source, target)

    def meanwhile(a, b):
        (target / "mine").write_text("mine")
        return exchanged(a, b)

    monkeypatch.setattr(publish_folder, "_exchanged", meanwhile)
    with pytest.raises(FileError, match=r"out contains more than .*; nothing was published"):
        mask(source, target, overwrite=True)

    assert names(target) == sorted([*WHOLE, "mine"])


def test_an_empty_folder_is_filled(source, tmp_path):
    (tmp_path / "out").mkdir(mode=0o750)
    mask(source, tmp_path / "out")

    assert names(tmp_path / "out") == WHOLE
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) & 0o007 == 0


def test_of_two_jobs_one_is_refused(source, tmp_path, monkeypatch):
    wrote, refused = publish_folder.OutputFolder.wrote, []

    def second(self, name, records):
        wrote(self, name, records)
        if not refused:
            refused.append(name)
            with pytest.raises(FileError, match="out is being written by another job"):
                mask(source, tmp_path / "out")

    monkeypatch.setattr(publish_folder.OutputFolder, "wrote", second)
    mask(source, tmp_path / "out")

    assert refused
    assert names(tmp_path / "out") == WHOLE


@pytest.mark.parametrize("change", ["written", "added", "gone"])
def test_nothing_is_published_of_a_source_that_changed(source, tmp_path, monkeypatch, change):
    wrote = publish_folder.OutputFolder.wrote

    def changing(self, name, records):
        wrote(self, name, records)
        if name == "part-00002.csv":
            if change == "gone":
                (source / name).unlink()
            else:
                write(TABLE, source / (name if change == "written" else "z.csv"))

    monkeypatch.setattr(publish_folder.OutputFolder, "wrote", changing)
    with pytest.raises(FileError, match="in changed while it was masked; nothing was published"):
        mask(source, tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_source_of_fewer_rows_is_noticed_by_their_number(source, tmp_path, monkeypatch):
    before = FolderTable(source, part_files(source), open_table(source).original).fingerprints()
    monkeypatch.setattr(FolderTable, "fingerprints", lambda _: before)
    wrote = publish_folder.OutputFolder.wrote

    def meanwhile(self, name, records):
        wrote(self, name, records)
        path = source / "part-00002.csv"
        path.write_text(path.read_text().rpartition("\n5")[0] + "\n")

    monkeypatch.setattr(publish_folder.OutputFolder, "wrote", meanwhile)
    with pytest.raises(FileError, match="changed while it was masked; nothing was published"):
        mask(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_others_call_as_a_hidden_folder_stays(source, tmp_path, monkeypatch):
    hidden = [tmp_path / f".out.condmask-{str(k) * 16}" for k in range(3)]
    (tmp_path / "other/old").mkdir(parents=True)
    hidden[0].symlink_to(tmp_path / "other")
    hidden[1].write_text("")
    mask(source, tmp_path / "out")
    assert (tmp_path / "other/old").exists()
    hidden[2].mkdir()
    user = os.getuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: user + 1)
        mask(source, tmp_path / "out", overwrite=True)
    assert all(os.path.lexists(path) for path in hidden)
    mask(source, tmp_path / "out", overwrite=True)
    assert not hidden[2].exists()


def test_names_are_on_the_disk_before_the_folder_has_its_own(source, tmp_path, monkeypatch):
    (source / "sub").mkdir()
    (source / "part-00001.csv").rename(source / "sub/part.csv")
    synced, synced_of = [], publish_folder.synced
    take_name = publish_folder._take_name
    monkeypatch.setattr(publish_folder, "synced", lambda path: (synced.append(path), synced_of(path)))

    def take(new, target, hidden):
        assert synced == [new, new / "sub"]
        take_name(new, target, hidden)

    monkeypatch.setattr(publish_folder, "_take_name", take)
    mask(source, tmp_path / "out")
    assert synced


def test_a_release_is_no_more_readable_than_what_it_replaces(source, tmp_path):
    target = tmp_path / "out"
    mask(source, target)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o777 & ~umask
    assert {stat.S_IMODE((target / name).stat().st_mode) for name in WHOLE} == {0o666 & ~umask}
    target.chmod(0o700)
    for name in WHOLE:
        (target / name).chmod(0o600)
    mask(source, target, overwrite=True)

    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    assert {stat.S_IMODE((target / name).stat().st_mode) for name in WHOLE} == {0o600}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("in", "which is that folder"),
        ("in/out", "which is within it"),
        (".", "which contains it"),
        ("out.parquet", "which has the name of a file"),
        ("file", "which is a file"),
        ("link", "which is a link"),
    ],
)
def test_targets_that_cannot_be(source, tmp_path, place, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "in")

    with pytest.raises((FileError, ValueError), match=rf"target must .*{message}"):
        mask(source, tmp_path / place, overwrite=True)


def test_a_folder_is_not_replaced_under_who_works_in_it(source, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")

    with pytest.raises(FileError, match="must not be the current folder"):
        mask(source, ".")
    assert not names(tmp_path / "out")


def test_nothing_is_put_into_a_release(source, tmp_path):
    mask(source, tmp_path / "out")
    for place, target in ((source, "out/sub"), (source / "part-00000.csv", "out/z.csv")):
        with pytest.raises(FileError, match=r"outside other releases, got .*, which is within the one"):
            mask(place, tmp_path / target)

    assert names(tmp_path / "out") == WHOLE


@pytest.mark.parametrize("name", ["日" * 85, "é" * 120 + " %=" + "z"])
def test_names_may_be_as_long_as_they_can(source, tmp_path, name):
    (source / "part-00000.csv").rename(source / ("日" * 83 + ".csv"))
    target, other = tmp_path / name, tmp_path / f"{name[:-1]}y"
    mask(source, target)
    mask(source, other)
    mask(source, target, overwrite=True)

    assert cm.read_release(target).records == cm.read_release(other).records == 600
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_came_while_others_were_opened_is_noticed(source, tmp_path, monkeypatch):
    kept = FolderTable.keep

    def slow(self, notes):
        write(TABLE, source / "z.csv")
        kept(self, notes)

    monkeypatch.setattr(FolderTable, "keep", slow)
    with pytest.raises(FileError, match="changed while it was masked; nothing was published"):
        mask(source, tmp_path / "out")


def test_files_of_a_glob_go_beside_them(source, tmp_path):
    mask(source / "part-0000[02].csv", source / "out")

    assert names(source / "out") == [*WHOLE[:3], WHOLE[4]]
    with pytest.raises(FileError, match="which is within it"):
        mask(tmp_path / "**/*.csv", tmp_path / "in/other")


def test_a_folder_that_cannot_be_written_to_is_left(source, tmp_path):
    with pytest.raises(FileError, match=r"cannot write to .*none: no such file or directory"):
        mask(source, tmp_path / "none/out")


def test_a_source_may_be_read_only(source, tmp_path):
    for path in source.iterdir():
        path.chmod(0o400)
    source.chmod(0o500)
    try:
        mask(source, tmp_path / "out")
    finally:
        source.chmod(0o700)

    assert names(tmp_path / "out") == WHOLE
