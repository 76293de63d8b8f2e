"""Which files are a table. Oracle: the names, written down."""

import pytest

from condmask.files.atomic import FileError
from condmask.files.part_files import base_of, is_folder, part_files, partitions


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
            r"one format, got b.parquet beside a.csv: name those .*\*.csv'\), or begin its",
        ),
        (["README.txt", "a.csv", "b.csv"], r"one format, got README.txt beside a.csv: .*in/\*\*/\*.csv'\)"),
        (["a.csv.gz", "b.csv"], "one format, got b.csv beside a.csv.gz"),
        (["a.csv", "b/notes.pdf"], r"got b/notes.pdf: name those that are meant by a pattern .*\*.csv'\)"),
        (["LICENSE", "notes.pdf"], r"that end in one of .parquet.* got LICENSE: name those"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, names, message):
    touched(tmp_path / "in", *names)

    with pytest.raises((ValueError, FileError), match=message):
        part_files(tmp_path / "in")


def test_a_glob_that_matches_nothing_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"\*.csv: no file that it matches"):
        part_files(tmp_path / "*.csv")


def test_links_to_folders_are_refused(tmp_path):
    touched(tmp_path, "a/1.csv", "b/1.csv")
    (tmp_path / "a/link").symlink_to(tmp_path / "b")

    with pytest.raises(FileError, match="link is a link to a folder"):
        part_files(tmp_path / "a")


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        (["01", "2"], [1, 2]),
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
