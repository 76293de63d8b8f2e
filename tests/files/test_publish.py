"""A release goes out whole, of a source that stayed as it was, or not at all.

Oracle: the folder afterwards.
"""

import os
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest

import condmask as cm
from condmask.estimates.origin import NOWHERE
from condmask.files.atomic import FileError, fingerprint
from condmask.files.formats import reading
from condmask.files.metadata import Published, target_fingerprints
from condmask.files.publish import publish, targets_of, writable

PUBLISHED = Published(3, {"x": cm.ConditionalMasking(0.6, 1.0)}, {"x": NOWHERE})


class Source:
    """A table of three rows that writes so many, and may change its own file meanwhile."""

    description: ClassVar = {}

    def __init__(self, folder, rows=3, added=""):
        self.path, self._rows, self._added = folder / "a.csv", rows, added
        self.path.write_text("x\n1\n2\n3\n")
        self.original = self.fingerprints()

    def fingerprints(self):
        return {self.path: fingerprint(self.path)}

    def rewrite(self, output, rows, metadata):
        output.write(b"x\n" + b"1\n" * self._rows)
        rows.done = self._rows
        if self._added:
            self.path.write_text(self.path.read_text() + self._added)


class Rows:
    done = 0


@pytest.mark.parametrize(("rows", "added"), [(2, ""), (4, ""), (3, "4\n")])
def test_nothing_is_published_of_a_source_that_changed(tmp_path, rows, added):
    source = Source(tmp_path, rows, added)

    with pytest.raises(FileError, match="changed while it was masked; nothing was published"):
        publish(source, target_fingerprints(tmp_path / "b.csv"), Rows(), PUBLISHED, source.original)

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_all_files_of_a_release_are_published(tmp_path):
    source = Source(tmp_path)

    publish(source, target_fingerprints(tmp_path / "b.csv"), Rows(), PUBLISHED, source.original)

    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.csv", "b.csv", "b.csv.condmask.json", "b.csv.README.md"}
    assert cm.read_release(tmp_path / "b.csv").records == 3


def test_targets_that_may_not_be_written_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    targets = target_fingerprints(tmp_path / "a.csv")

    with pytest.raises(FileError, match="a different file from the source"):
        writable(targets, tmp_path / "a.csv", overwrite=True)
    (tmp_path / "link.csv").hardlink_to(tmp_path / "a.csv")
    with pytest.raises(FileError, match="a different file from the source"):
        writable(target_fingerprints(tmp_path / "link.csv"), tmp_path / "a.csv", overwrite=True)
    with pytest.raises(FileError, match="exists"):
        writable(targets, None, overwrite=False)
    writable(targets, None, overwrite=True)


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "directory"])
def test_a_target_that_is_no_file_is_never_replaced(tmp_path, kind):
    target = tmp_path / "b.csv"
    for name in ("a.csv", "source.csv"):
        (tmp_path / name).write_text("x\n1\n2\n")
    if kind == "link":
        target.symlink_to(tmp_path / "a.csv")
    elif kind == "dangling link":
        target.symlink_to("nowhere")
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        target.mkdir()
    word = {"pipe": "is no ordinary file", "directory": "is a directory"}.get(kind, "is a link, which is not")
    for overwrite in (False, True):
        with pytest.raises(FileError, match=f"b.csv {word}"):
            targets_of(tmp_path / "source.csv", target, overwrite=overwrite)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root becomes another user")
def test_a_folder_that_is_closed_to_the_user_is_named():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        closed = Path(place, "closed")
        closed.mkdir(mode=0o700)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.seteuid(65534)
                with reading(Path("a.csv")):
                    targets_of(Path("a.csv"), closed / "b.csv", overwrite=False)
            except FileError as error:
                code = 0 if "a.csv" in str(error) or f"{closed}/b.csv" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
