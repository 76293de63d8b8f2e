"""A release goes out whole, of a source that stayed as it was, or not at all.

Oracle: the folder afterwards.
"""

from typing import ClassVar

import pytest

import condmask as cm
from condmask.estimates.origin import NOWHERE
from condmask.files.atomic import FileError, fingerprint
from condmask.files.metadata import Published, target_fingerprints
from condmask.files.publish import publish, writable

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
