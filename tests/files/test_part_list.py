"""A release of many files is read whole, as it was published, or not at all. Oracle: the folder as it was."""

import json
import shutil

import pytest
from many_files import FORMATS, people, write_parts

import condmask as cm
from condmask.files.atomic import FileError
from condmask.files.part_list import part_digest

pytestmark = pytest.mark.usefixtures("unaudited")

TABLE = people(600)
SCHEME = cm.ConditionalMasking(0.6, 50.0, decimals=2)


@pytest.fixture(scope="module", params=FORMATS)
def released(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    source = write_parts(TABLE, folder / "in", request.param, [200, 400])
    cm.mask_file(source, folder / "out", {"bonus": SCHEME}, rng=1)
    return folder / "out", request.param


@pytest.fixture
def copy(released, tmp_path):
    shutil.copytree(released[0], tmp_path / "moved")
    return tmp_path / "moved", released[1]


def refused(folder, message):
    for read in (cm.read_schemes, cm.read_release, cm.read_counts):
        with pytest.raises((FileError, ValueError), match=message):
            read(folder)
    with pytest.raises((FileError, ValueError), match=message):
        cm.mask_file(folder, folder.parents[1] / f"again{folder.suffix}", {"income": SCHEME}, rng=1)


def test_a_moved_folder_is_the_release(copy):
    assert cm.read_release(copy[0]).records == 600
    assert cm.read_counts(copy[0]).n == 600


def test_a_missing_part_is_refused(copy):
    folder, suffix = copy
    (folder / f"part-00001.{suffix}").unlink()
    refused(folder, rf"it lacks 'part-00001.{suffix}'")


def test_an_added_part_is_refused(copy):
    folder, suffix = copy
    write_parts(TABLE, folder, suffix, [], lambda *_: [f"z.{suffix}"])
    refused(folder, rf"'z.{suffix}' was added")


def test_a_renamed_part_is_refused(copy):
    folder, suffix = copy
    (folder / f"part-00001.{suffix}").rename(folder / f"z.{suffix}")
    refused(folder, rf"z.{suffix} was part-00001.{suffix}")


def test_parts_in_another_order_are_refused(copy):
    folder, suffix = copy
    a, b, c = (folder / f"part-0000{k}.{suffix}" for k in (0, 1, 2))
    a.rename(folder / "x")
    b.rename(a)
    (folder / "x").rename(b)
    refused(folder, rf"part-00000.{suffix} was part-00001.{suffix}")
    assert c.exists()


def test_a_changed_part_is_refused(copy):
    folder, suffix = copy
    path = folder / f"part-00002.{suffix}"
    write_parts(TABLE.slice(0, 200), folder, suffix, [], lambda *_: [path.name])
    refused(folder, rf"'part-00002.{suffix}' changed")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_digest_knows_size_and_footer(tmp_path, suffix):
    (path,) = write_parts(TABLE, tmp_path, suffix, []).iterdir()
    before, data = part_digest(path), path.read_bytes()
    for other in (data[:400] + b"more" + data[400:], data[:-20] + b"x" + data[-19:]):
        path.write_bytes(other)
        assert part_digest(path) != before
    path.write_bytes(data[:400] + bytes([data[400] ^ 1]) + data[401:])
    assert part_digest(path) == before  # as its docstring says


@pytest.mark.parametrize(
    "damage",
    [
        lambda entries: '{"version": 1}',
        lambda entries: "[" * 100_000,
        lambda entries: json.dumps(entries | {"parts": []}),
        lambda entries: json.dumps(entries | {"parts": [1]}),
        lambda entries: json.dumps(entries | {"parts": [*entries["parts"], entries["parts"][0]]}),
        lambda entries: json.dumps(entries | {"records": entries["records"] + 1}),
        lambda entries: json.dumps(entries | {"columns": "income"}),
        lambda entries: json.dumps(entries | {"origins": None}),
        lambda entries: json.dumps(entries | {"csv": []}),
        lambda entries: json.dumps(entries | {"parts": [{**entries["parts"][0], "digest": 1}]}),
    ],
)
def test_a_damaged_list_is_refused(copy, damage):
    path = copy[0] / "_condmask.json"
    path.write_text(damage(json.loads(path.read_text())))
    refused(copy[0], r"_condmask.json is damaged")


def test_another_order_in_the_list_is_refused(copy):
    path = copy[0] / "_condmask.json"
    listed = json.loads(path.read_text())
    listed["parts"].reverse()
    path.write_text(json.dumps(listed))
    refused(copy[0], "another order")


def test_one_part_tells_nothing_alone(copy):
    folder, suffix = copy
    name = json.loads((folder / "_condmask.json").read_text())["release"]
    refused(folder / f"part-00001.{suffix}", rf"part-00001.{suffix} is part 2 of 3 of release {name}")


def test_a_folder_without_its_list_is_refused(copy):
    folder, suffix = copy
    (folder / "_condmask.json").unlink()
    if suffix == "csv":
        with pytest.raises(ValueError, match="holds no scheme"):
            cm.read_schemes(folder)
    else:
        refused(folder, "is part 1 of 3")


@pytest.mark.parametrize("text", ['{"version": 2}', "[]", "\xff", '{"version": 1}'])
def test_a_list_above_that_is_not_ours_is_no_matter(tmp_path, text):
    (source,) = write_parts(TABLE, tmp_path / "in", "csv", []).iterdir()
    (tmp_path / "_condmask.json").write_bytes(text.encode("latin-1"))

    with pytest.raises(ValueError, match="holds no scheme"):
        cm.read_schemes(source)


def test_a_newer_list_is_said_to_be_one(copy):
    (copy[0] / "_condmask.json").write_text('{"version": 2}')
    with pytest.raises(ValueError, match="was masked by a newer condmask, got version 2"):
        cm.read_schemes(copy[0])


def test_a_folder_of_originals_holds_no_scheme(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [200])
    with pytest.raises(ValueError, match=r"holds no scheme: .* in _condmask.json in the folder is lost"):
        cm.read_schemes(source)
