"""Which files are a table. Oracle: the names, written down."""

import os
from pathlib import Path

import pytest

from condmask.files.atomic import FileError
from condmask.files.part_files import base_of, is_folder, part_files, partitions
from condmask.files.streams import OPENED, Stream


def touched(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


def test_files_of_a_folder_in_the_order_of_their_paths(tmp_path):
    left_out = [".h.csv", "_log/z.csv", ".t/z.csv", "_S", "a.csv.condmask.json", "a.csv.README.md"]
    folder = touched(tmp_path / "x.parquet", "b/1.csv", "a.csv", "b/0.csv", "c.CSV", *left_out)

    assert is_folder(folder)
    assert part_files(folder).names == ["a.csv", "b/0.csv", "b/1.csv", "c.CSV"]


def test_globs(tmp_path):
    touched(tmp_path, "a/1.csv", "a/2.csv", "b/1.csv", "b/c/1.csv", "b/notes.pdf", ".h/1.csv")

    assert part_files(tmp_path / "*/1.csv").names == ["a/1.csv", "b/1.csv"]
    assert part_files(tmp_path / "**/1.csv").names == ["a/1.csv", "b/1.csv", "b/c/1.csv"]
    assert base_of(tmp_path / "b/*.csv") == tmp_path / "b"
    assert is_folder(tmp_path / "*.csv")


def test_a_file_that_exists_is_no_glob(tmp_path):
    touched(tmp_path, "a[1].csv")

    assert not is_folder(tmp_path / "a[1].csv")
    assert not is_folder(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([".a.csv", "_b.csv"], "no file of data in it"),
        (
            ["a.csv", "b.parquet"],
            r"one format, got b.parquet beside a.csv: select .*\*.csv'\), or begin its",
        ),
        (["README.txt", "a.csv", "b.csv"], r"one format, got README.txt beside a.csv: .*in/\*\*/\*.csv'\)"),
        (["a.csv.gz", "b.csv"], "one format, got b.csv beside a.csv.gz"),
        (["a.csv", "b/notes.pdf"], r"got b/notes.pdf: select files by a pattern .*\*.csv'\)"),
        (["LICENSE", "notes.pdf"], r"that end in one of .parquet.* got LICENSE: select"),
        (["b.parquet", "a.pdf"], r"got a.pdf: select files .*'.*/in/\*\*/\*.parquet'"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, names, message):
    touched(tmp_path / "in", *names)

    with pytest.raises((ValueError, FileError), match=message):
        part_files(tmp_path / "in")


def test_a_pattern_that_is_named_matches_a_folder_with_brackets(tmp_path):
    touched(tmp_path / "a[1]", "a.csv", "b.pdf")
    with pytest.raises(ValueError, match="must contain files of one format") as refusal:
        part_files(tmp_path / "a[1]")
    pattern = str(refusal.value).split("'")[1]

    assert part_files(Path(pattern)).paths == [tmp_path / "a[1]/a.csv"]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
@pytest.mark.parametrize("pattern", ["", "*.csv"])
def test_a_file_is_there_once(tmp_path, link, pattern):
    touched(tmp_path, "a.csv", "c.csv")
    getattr(tmp_path / "b.csv", link)(tmp_path / "a.csv")

    with pytest.raises(
        ValueError, match=r"each file once, got a.csv and b.csv, which are the same file: begin"
    ):
        part_files(tmp_path / pattern)
    (tmp_path / "b.csv").rename(tmp_path / "_b.csv")
    assert part_files(tmp_path / pattern).names == ["a.csv", "c.csv"]


def test_files_of_a_linked_folder_are_not_there_twice(tmp_path):
    touched(tmp_path, "a/1.csv")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    with pytest.raises(ValueError, match=r"each file once, got a/1.csv and b/1.csv"):
        part_files(tmp_path / "**/*.csv")


@pytest.mark.parametrize("pattern", ["", "*.csv"])
def test_what_cannot_be_read_is_not_left_out(tmp_path, pattern):
    touched(tmp_path, "a.csv", "d.csv/1.csv")
    (tmp_path / "b.csv").symlink_to("nowhere.csv")
    with pytest.raises(FileError, match=r"b.csv: no such file"):
        part_files(tmp_path / pattern)
    (tmp_path / "b.csv").unlink()
    os.mkfifo(tmp_path / "b.csv")
    with pytest.raises(FileError, match=r"b.csv is no ordinary file"):
        part_files(tmp_path / pattern)


def test_names_that_are_no_text_are_refused(tmp_path):
    touched(tmp_path, "a.csv", os.fsdecode(b"b\xff.csv"))

    with pytest.raises(ValueError, match=r"b\\udcff.csv' must be named in UTF-8: rename it"):
        part_files(tmp_path)


def test_a_folder_with_the_name_of_a_stream_is_another_thing(tmp_path, monkeypatch):
    monkeypatch.setitem(OPENED, tmp_path, Stream())

    assert not is_folder(tmp_path)


def test_a_glob_that_matches_nothing_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"\*.csv: no file that it matches"):
        part_files(tmp_path / "*.csv")


def test_links_to_folders_are_refused(tmp_path):
    touched(tmp_path, "a/1.csv", "b/1.csv")
    (tmp_path / "a/link").symlink_to(tmp_path / "b")

    with pytest.raises(FileError, match="link is a link to a folder"):
        part_files(tmp_path / "a")
    (tmp_path / "a/link").rename(tmp_path / "a/_link")
    (tmp_path / "a/_log").mkdir()
    (tmp_path / "a/_log/link").symlink_to(tmp_path / "b")  # left out before anybody looks
    (tmp_path / "a/_link").unlink()
    assert part_files(tmp_path / "a").names == ["1.csv"]


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        (["10", "-2"], [10, -2]),
        (["007", "8"], ["007", "8"]),
        (["+5", "8"], ["+5", "8"]),
        (["٣", "8"], ["٣", "8"]),
        (["0", "-0"], ["0", "-0"]),
        (["1.1", "1.10"], ["1.1", "1.10"]),
        (["1.50", "1.5", "__HIVE_DEFAULT_PARTITION__"], ["1.50", "1.5", None]),
        (["1.50", "1.50"], [1.5, 1.5]),
        (["9" * 16, "8"], ["9" * 16, "8"]),
        (["1.5", "2"], [1.5, 2.0]),
        (["1", "x"], ["1", "x"]),
        (["a%2Fb", "c"], ["a/b", "c"]),
        (["1", "__HIVE_DEFAULT_PARTITION__"], [1, None]),
        (["1=2", "3"], ["1=2", "3"]),
        (["__HIVE_DEFAULT_PARTITION__"] * 2, [None, None]),
    ],
)
def test_folders_tell_columns(tmp_path, values, columns):
    names = [f"plain/k%20y={value}/{k}.csv" for k, value in enumerate(values)]

    assert partitions(names, tmp_path) == {"k y": columns}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a=1/x.csv", "b=1/x.csv"], "got 'a' for a=1/x.csv and 'b' for b=1/x.csv"),
        (["a=1/x.csv", "x.csv"], "got 'a' for a=1/x.csv and none for x.csv"),
        (["a=1/a=2/x.csv"], "different keys"),
    ],
)
def test_folders_of_other_keys_are_refused(tmp_path, names, message):
    with pytest.raises(ValueError, match=message):
        partitions(names, tmp_path)


def test_suffixes_of_one_format(tmp_path):
    touched(tmp_path, "a.parquet", "b.pq")

    assert part_files(tmp_path).names == ["a.parquet", "b.pq"]
