"""What is published beside data: it is that file's or refused."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files.metadata import SIDECAR, _is_list, is_sound

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.fixture
def release(tmp_path):
    x = np.random.default_rng(1).normal(50.0, 10.0, 300)
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(map(str, x)) + "\n")
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"x": cm.ConditionalMasking(0.6, 5.0)})
    return tmp_path / "b.csv"


def test_a_file_and_what_is_beside_it_may_be_renamed_together(release):
    moved = release.with_name("c.csv")
    release.rename(moved)
    release.with_name("b.csv" + SIDECAR).rename(moved.with_name("c.csv" + SIDECAR))

    assert cm.read_release(moved, "x").n == 300


@pytest.mark.parametrize("change", ["other", "edited", "longer"])
def test_another_file_is_refused(release, change):
    data = release.read_bytes()
    digit = data.rindex(b".") + 1
    changed = {
        "other": data.replace(b"\n", b"\r\n"),
        "edited": data[:digit] + (b"1" if data[digit : digit + 1] != b"1" else b"2") + data[digit + 1 :],
        "longer": data + b"3.0\n",
    }[change]
    assert cm.read_release(release, "x").n == 300
    release.write_bytes(changed)

    for read in (cm.read_schemes, cm.read_release, cm.read_counts):
        with pytest.raises(cm.FileError, match=r"is not the file that b[.]csv[.]condmask"):
            read(release)


def test_an_orphan_says_what_was_looked_for(release):
    moved = release.with_name("c.csv")
    shutil.copy(release, moved)
    with pytest.raises(ValueError, match=r"what was published in c[.]csv[.]condmask[.]json beside"):
        cm.read_release(moved)


def test_a_release_is_all_its_masked_columns(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.multivariate_normal(
        [50.0, 20.0, 0.0], [[100.0, 30.0, 5.0], [30.0, 25.0, 1.0], [5.0, 1.0, 1.0]], 400
    )
    region = np.array(["north", "south"])[rng.integers(0, 2, 400)]
    lines = [f"{a!r},{b!r},{c!r},{d}" for (a, b, c), d in zip(x.tolist(), region, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["pay,bonus,score,region", *lines]) + "\n")
    scheme = cm.ConditionalMasking(0.6, 2.0)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"pay": scheme, "bonus": scheme})
    release = cm.read_release(tmp_path / "b.csv")
    pay = release["pay"]

    assert list(release) == ["pay", "bonus"]
    assert release["pay"] is pay
    assert pay.correlation("bonus") == pay.correlation(release["bonus"])
    assert pay.covariance("score") == pay.covariance(cm.read_column(tmp_path / "b.csv", "score"))
    assert pay.correlation_interval("bonus").low == pay.correlation_interval(release["bonus"]).low
    assert pay.group_means("region")["south"].estimate == pay.group_means(region)["south"].estimate
    assert list(pay.group_means(["region"])) == ["north", "south"]
    assert list(pay.regress(["score"])) == ["intercept", "score"]
    score = cm.read_column(tmp_path / "b.csv", "score")
    assert pay.total("score").estimate == pay.total(score).estimate
    with pytest.raises(ValueError, match="labels must be a column that was not masked, got 'bonus'"):
        pay.group_means("bonus")
    with pytest.raises(ValueError, match="has no column 'age', it has 'pay', 'bonus', 'score', 'region'"):
        pay.correlation("age")
    with pytest.raises(TypeError, match="other must be numeric"):
        pay.correlation("region")
    with pytest.raises(KeyError):
        release["score"]
    with pytest.raises(
        ValueError, match="other must be a column, got 'score': only the estimates of a Release know"
    ):
        scheme.estimate(np.ones(30)).correlation("score")


DEEP = "[" * 100_000  # brackets that no parser goes down


def test_what_is_published_is_sound():
    assert is_sound(SOUND)
    assert is_sound(SOUND | {"origins": {}, "csv": {}})


SOUND = {
    "version": 1,
    "records": 300,
    "columns": {"x": {}},
    "origins": {"x": {"group": None, "patterns": ["x"], "shift": [1, 0.5]}},
}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("version", [None, "1", 2.0]),
        ("records", [None, -1, "300", 300.0, True, float("nan")]),
        ("columns", [None, "x", ["x"], {"x": 1}]),
        ("origins", [None, [], {"y": SOUND["origins"]["x"]}, {"x": 1}, {"x": {"group": None}}]),
        ("csv", [None, "x", []]),
    ],
)
def test_what_is_published_is_damaged_where_a_field_is_of_another_type(field, values):
    for value in values:
        assert not is_sound(SOUND | {field: value}), value
    assert field == "csv" or not is_sound({name: SOUND[name] for name in SOUND if name != field})


@pytest.mark.parametrize(
    "origin",
    [
        {"group": 1},
        {"patterns": "y"},
        {"patterns": [1]},
        {"patterns": ["y"]},
        {"shift": [1]},
        {"shift": [1, 1e999]},
        {"shift": 1},
        {"shift": ["1"]},
    ],
)
def test_an_origin_is_damaged_where_a_field_is_of_another_type(origin):
    assert not is_sound(SOUND | {"origins": {"x": SOUND["origins"]["x"] | origin}})


@pytest.mark.parametrize(
    "change", [lambda entries: entries.pop("records"), lambda entries: entries.update(columns=[])]
)
def test_damage_beside_a_file_is_one_sentence(release, change):
    beside = release.with_name("b.csv" + SIDECAR)
    entries = json.loads(beside.read_text())
    change(entries)
    beside.write_text(json.dumps(entries))

    with pytest.raises(
        cm.FileError, match=r"what was published with .*b.csv, in b.csv.condmask.json .* is damaged"
    ):
        cm.read_release(release)


def test_brackets_without_end_are_damage(release):
    release.with_name("b.csv" + SIDECAR).write_text(DEEP)
    with pytest.raises(cm.FileError, match="is not what condmask published"):
        cm.read_release(release)


@pytest.mark.parametrize("text", [b"{}", b"nothing", b"[1]", DEEP.encode()])
def test_damage_in_a_schema_is_one_sentence(tmp_path, text):
    table = pa.table({"x": [1.0] * 100}).replace_schema_metadata({"condmask": text})
    pq.write_table(table, tmp_path / "a.parquet")

    with pytest.raises(cm.FileError, match=r"a[.]parquet, in the metadata of its schema, is damaged"):
        cm.read_release(tmp_path / "a.parquet")


def test_parts_of_a_folder_have_all_its_records_and_each_a_name():
    parts = [{"name": name, "records": records, "digest": "0"} for name, records in (("a", 2), ("b", 3))]

    assert _is_list(parts, 5)
    assert not _is_list(parts, 6)
    assert not _is_list(parts[:1], 5)
    assert not _is_list([parts[0], parts[0]], 4)
    assert not _is_list([], 0)
