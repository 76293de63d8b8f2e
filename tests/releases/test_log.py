"""The log of releases: the same values are not released twice unnoticed, and it holds none of them.

Oracle: the lines and bytes of the log, and what the refusal tells to do.
"""

import json
import os
import pickle
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from worlds import JOINT, PAY, numbers, people, write

import condmask as cm

TABLE = people(4_000).select(["id", "pay", "age"])
OTHER_NANS = np.nan_to_num(np.sort(numbers(TABLE["pay"])), nan=-np.nan)  # which have other bits
OPTIONS = {"nan_policy": "omit", "accept_visible_coins": True}


def log():
    """The log of this test."""
    return Path(os.environ["XDG_DATA_HOME"], "condmask/log.jsonl")


def mask(source, target, schemes=None, **options):
    return cm.mask_file(source, target, schemes or {"pay": PAY}, **OPTIONS, **options)


@pytest.fixture
def source(tmp_path):
    return write(TABLE, tmp_path / "people.parquet")


def refusal(job):
    with pytest.raises(cm.ReleaseError) as caught:
        job()
    return str(caught.value)


def test_the_same_command_twice_is_refused_until_the_user_says_so(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    said = refusal(lambda: mask(source, tmp_path / "b.parquet"))
    assert re.match(
        rf"'pay': the same values are in {tmp_path}/a\.parquet, released on 20\d\d-\d\d-\d\d; ", said
    )
    assert refusal(lambda: mask(source, tmp_path / "b.parquet", dry_run=True)) == said
    assert not (tmp_path / "b.parquet").exists()

    assert "destroy it and pass --again (again=True)" in said
    mask(source, tmp_path / "b.parquet", again=True)
    assert len(log().read_text().splitlines()) == 2

    assert said.endswith(f". {log()} lists it")


@pytest.mark.parametrize(
    ("name", "change", "options"),
    [
        ("people.arrow", lambda table: table, {}),
        ("people.csv", lambda table: table, {}),
        ("people.parquet", lambda table: table.sort_by("pay").set_column(1, "pay", pa.array(OTHER_NANS)), {}),
        ("other.parquet", lambda table: table.take(np.random.default_rng(1).permutation(4_000)), {}),
        ("people.parquet", lambda table: table, {"part_rows": 1000}),
        (
            "people.parquet",
            lambda table: table.set_column(1, "pay", table["pay"].cast(pa.decimal128(12, 2))),
            {},
        ),
        ("people.parquet", lambda table: table.rename_columns(["id", "pay", "wage"]), {}),
    ],
)
def test_the_same_values_are_known_in_any_order_form_and_parts(tmp_path, source, name, change, options):
    mask(source, tmp_path / "a.parquet")
    (tmp_path / "new").mkdir()
    other = write(change(TABLE), tmp_path / "new" / name)
    out = tmp_path / f"b{other.suffix}"
    assert "the same values are in" in refusal(lambda: mask(other, out, **options))
    halves = tmp_path / "halves"
    write(TABLE.slice(0, 900), halves / "1.parquet")
    write(TABLE.slice(900), halves / "2.parquet")
    assert "the same values are in" in refusal(lambda: mask(halves, tmp_path / "out", {"pay": PAY}))


def test_one_of_several_columns_is_enough_and_other_values_are_released(tmp_path, source):
    mask(source, tmp_path / "a.parquet", JOINT)
    assert refusal(lambda: mask(source, tmp_path / "b.parquet")).startswith("'pay': the same values")
    assert refusal(lambda: mask(source, tmp_path / "b.parquet", JOINT)).startswith("'pay', 'age': the same")
    renamed = write(TABLE.rename_columns(["id", "wage", "age"]), tmp_path / "renamed.parquet")
    said = refusal(lambda: mask(renamed, tmp_path / "b.parquet", {"wage": PAY}))
    assert said.startswith("'wage': the same values")
    other = write(people(4_000, seed=2), tmp_path / "others.parquet")
    mask(other, tmp_path / "c.parquet")


def test_a_column_that_was_masked_is_not_released_in_clear_from_the_same_source(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    only_age = {"age": JOINT["age"]}
    said = refusal(lambda: mask(source, tmp_path / "b.parquet", only_age))
    assert said.startswith(f"'pay': masked in {tmp_path}/a.parquet")
    mask(write(TABLE.drop_columns(["pay"]), source), tmp_path / "b.parquet", only_age)
    mask(write(TABLE, source), tmp_path / "c.parquet", only_age, again=True)


def test_other_values_of_the_same_source_warn(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    pay = TABLE["pay"].to_pylist()
    pay[7] += 0.01
    write(TABLE.set_column(1, "pay", pa.array(pay)), source)
    with pytest.warns(
        cm.ReleaseWarning, match=r"people\.parquet is the source of .*a\.parquet, released on 20"
    ):
        mask(source, tmp_path / "b.parquet")
    assert len(log().read_text().splitlines()) == 2


def test_what_leaves_no_line(tmp_path, source):
    mask(source, tmp_path / "a.parquet", rng=1)
    mask(source, tmp_path / "b.parquet", log=False)
    mask(source, tmp_path / "c.parquet", dry_run=True)
    with pytest.raises(ValueError, match="wage"):
        mask(source, tmp_path / "d.parquet", {"wage": PAY})
    cm.mask_table(TABLE, {"pay": PAY}, rng=1, **OPTIONS).write(tmp_path / "e.parquet")
    assert not log().read_text()
    mask(source, tmp_path / "f.parquet", log=tmp_path / "own/log.jsonl")
    assert not log().read_text()
    assert "own/log.jsonl" in refusal(
        lambda: mask(source, tmp_path / "g.csv", log=tmp_path / "own/log.jsonl")
    )
    mask(source, tmp_path / "g.parquet")
    with pytest.raises(TypeError, match="log must be True, False or a path, got 1"):
        mask(source, tmp_path / "h.parquet", log=1)
    with pytest.raises(cm.FileError):  # before there is a release that no log has
        mask(source, tmp_path / "h.parquet", log=source / "log.jsonl")
    assert not (tmp_path / "h.parquet").exists()


def test_the_key_is_the_users_alone_and_the_log_has_no_value(tmp_path, source):
    before = os.umask(0)
    try:
        mask(source, tmp_path / "a.parquet")
        mask(source, tmp_path / "c.parquet", log=tmp_path / "its/own/log.jsonl")
    finally:
        os.umask(before)
    key = log().with_name("log.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    for folder in (key.parent, tmp_path / "its/own"):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    [entry] = map(json.loads, log().read_text().splitlines())
    assert sorted(entry) == ["columns", "date", "source", "target"]
    assert entry["source"] == str(source)
    assert entry["target"] == str(tmp_path / "a.parquet")
    content = log().read_bytes().replace(entry["date"].encode(), b"")
    for value in TABLE["pay"].to_pylist():
        assert value is None or f"{value!r}".encode() not in content
    assert key.read_bytes().hex().encode() not in content

    mark = entry["columns"]["pay"]  # and without the key nobody can try values on it
    key.write_bytes(bytes(16))
    with pytest.warns(cm.ReleaseWarning, match="with other values"):
        mask(source, tmp_path / "b.parquet")
    [_, again] = map(json.loads, log().read_text().splitlines())
    assert again["columns"] == {"pay": "9e3c799cf6b9e0d2e1e39f0c07ebe41e"} != {"pay": mark}  # as of old


def test_a_masked_frame_is_one_release_however_often_it_is_written(tmp_path, source):
    release = cm.mask_table(TABLE, {"pay": PAY}, **OPTIONS)
    release.write(tmp_path / "a.parquet")
    release.write(tmp_path / "b.csv")
    assert len(log().read_text().splitlines()) == 1
    assert "a.parquet" in refusal(lambda: mask(source, tmp_path / "c.parquet"))
    second = cm.mask_table(TABLE, {"pay": PAY}, **OPTIONS)
    assert "a.parquet" in refusal(lambda: second.write(tmp_path / "c.parquet"))
    second.write(tmp_path / "c.parquet", again=True)


def test_a_masked_frame_that_was_written_without_the_log_is_entered_the_next_time(tmp_path, source):
    release = cm.mask_table(TABLE, {"pay": PAY}, **OPTIONS)
    release.write(tmp_path / "a.parquet", log=False)
    release.write(tmp_path / "b.parquet")
    assert "b.parquet" in refusal(lambda: mask(source, tmp_path / "c.parquet"))


def test_a_pickled_release_is_checked_still(tmp_path, source):
    release = cm.mask_table(TABLE, {"pay": PAY}, **OPTIONS)
    copied = pickle.dumps(release)
    key = log().with_name("log.key")  # without which nobody can try values on it
    secret = key.read_bytes()
    key.write_bytes(bytes(16))
    assert pickle.dumps(release) != copied
    key.write_bytes(secret)
    mask(source, tmp_path / "a.parquet")
    assert "a.parquet" in refusal(lambda: pickle.loads(copied).write(tmp_path / "b.parquet"))
    few = cm.mask_table(TABLE.slice(1, 19), {"age": JOINT["age"]}, rng=1, nan_policy="omit")
    for one in (few, pickle.loads(pickle.dumps(few))):
        assert "a file must have at least 100" in refusal(lambda one=one: one.write(tmp_path / "few.parquet"))
    (tmp_path / "copied").write_bytes(copied)
    program = f"import pickle; pickle.load(open({str(tmp_path / 'copied')!r}, 'rb')).write('c.parquet')"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert "ReleaseError: 'pay': the same values are in" in ended.stderr.replace(
        "condmask.disclosure.release_check.", ""
    )


def test_a_log_that_is_none_is_refused_in_one_sentence(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    for content in (b"{}\n", b"[1]\n", b"no\n", b"\xff\xfe\n", b'{"columns": 1, "date": 2, "target": 3}\n'):
        log().write_bytes(content)
        with pytest.raises(cm.CondmaskError, match=r"log\.jsonl"):
            mask(source, tmp_path / "b.parquet")
    log().write_text("\n")
    mask(source, tmp_path / "b.parquet")
