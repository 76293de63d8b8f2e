"""Releases are read again from what is published with them, or refused; the log knows values of
before."""

import doctest
import json
import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from worlds import JOINT, PAY, assert_same, masked, numbers, people, read, write

import condmask as cm

RELEASED = Path(__file__).parents[1] / "data/released"
SAID = json.loads((RELEASED / "said.json").read_text())
SEEDS = {"people.parquet": 1, "people.arrow": 2, "people.csv": 3, "months": 4}
TABLE = people(1200).select(["id", "pay", "age", "score", "region"])


def in_terms_of_today(entries):
    """A scheme of version 1, in which one class had the parameters of both."""
    entries = dict(entries)
    if entries.pop("reverse_mapping", False):
        del entries["donors"]
        return entries | {"scheme": "ReverseMapping"}
    del entries["scale"]
    return entries


@pytest.mark.parametrize("name", SAID)
def test_releases_of_version_1_are_read_with_the_numbers_of_then(name):
    said = SAID[name]
    release = cm.read_release(RELEASED / name)
    assert release.records == said["records"]
    assert {column: scheme.to_dict() for column, scheme in release.schemes.items()} == {
        column: in_terms_of_today(entries) for column, entries in said["schemes"].items()
    }
    for column, then in said["columns"].items():
        estimate = release[column]
        close = {"rel": 1e-12, "nan_ok": False}
        assert estimate.mean() == pytest.approx(then["mean"], **close)
        assert estimate.std() == pytest.approx(then["std"], **close)
        # a quantile of rearranged T is right to a step of the grid, which is .01
        assert estimate.quantile(np.arange(1, 10) / 10) == pytest.approx(
            then["deciles"], abs=0.0101
        )
        assert estimate.cdf(2000.0) == pytest.approx(then["cdf"], **close)
        assert estimate.correlation("age") == pytest.approx(then["correlation with age"], rel=1e-9)
        means = {group: found.estimate for group, found in estimate.group_means("region").items()}
        assert means == pytest.approx(then["means by region"], rel=1e-9)


@pytest.mark.parametrize("name", SAID)
def test_the_same_seed_gives_the_bits_of_version_1(tmp_path, name):
    originals = pq.read_table(RELEASED / "originals.parquet")
    schemes = {
        column: cm.ConditionalMasking.from_dict(entries)
        for column, entries in SAID[name]["schemes"].items()
    }
    options = {"rng": SEEDS[name], "nan_policy": "omit"}
    if name == "months":
        files = sorted(RELEASED.glob("months/**/*.parquet"))
        starts = np.cumsum([0, *(read(file).num_rows for file in files)])
        for file, start in zip(files, starts, strict=False):
            path = tmp_path / "in" / file.relative_to(RELEASED / "months")
            write(originals.slice(start, read(file).num_rows), path)
        masked(tmp_path / "in", tmp_path / "out", schemes, **options)
        then = pa.concat_tables([read(file) for file in files])
        now = pa.concat_tables([read(file) for file in sorted(tmp_path.glob("out/**/*.parquet"))])
    else:
        source = write(originals, tmp_path / name)
        masked(source, tmp_path / f"masked {name}", schemes, **options)
        then = read(RELEASED / name)
        now = read(tmp_path / f"masked {name}")
    for column in schemes:
        assert_same(now[column], then[column])
    assert now["id"].to_pylist() == then["id"].to_pylist()


def released(folder, form, **options):
    """A release of a file or a folder; where what is published with it stands, and the data."""
    if form == "folder":
        write(TABLE, folder / "in/a.parquet")
        masked(folder / "in", folder / "out", **options)
        return folder / "out"
    masked(write(TABLE, folder / f"in.{form}"), folder / f"out.{form}", **options)
    return folder / f"out.{form}"


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "folder"])
def test_a_release_is_a_mapping_of_estimates_that_know_the_other_columns(tmp_path, form):
    path = released(tmp_path, form, strata="region")
    release = cm.read_release(path, workers=2)
    pay = release["pay"]
    age = release["age"]
    found = read(path / "a.parquet" if form == "folder" else path)
    z = numbers(found["pay"])
    region = np.array(found["region"].to_pylist())
    there = ~np.isnan(z)

    assert list(release) == ["pay", "age"]
    assert len(release) == 2
    assert release["pay"] is pay
    assert pay.mean() == pytest.approx(z[there].mean(), rel=1e-12)
    assert cm.read_release(path, "pay").mean() == pay.mean()
    assert pay.correlation("age") == pay.correlation(age)
    assert pay.covariance("score") == pay.covariance(cm.read_column(path, "score"))
    assert pay.group_means("region")["south"].estimate == pytest.approx(
        z[there & (region == "south")].mean()
    )
    assert np.array_equal(cm.read_column(path, "pay"), z, equal_nan=True)
    assert cm.read_column(path, "region").tolist() == region.tolist()
    counts = cm.read_counts(path, "pay")
    assert counts.n == there.sum()
    assert repr(release).endswith(f", path={str(path)!r})")
    assert release.schemes["pay"].estimate(counts).mean() == pytest.approx(pay.mean(), rel=1e-12)
    assert release.origins["pay"].group == release.origins["age"].group
    assert release.origins["pay"].patterns == ("pay", "age")
    assert release.data is None
    with pytest.raises(KeyError, match="'score' is not one of the masked columns 'pay', 'age'"):
        release["score"]
    for read_one in (cm.read_release, cm.read_counts):
        with pytest.raises(
            ValueError, match="column must be one of the masked columns 'pay', 'age', got 'score'"
        ):
            read_one(path, "score")
    with pytest.raises(
        ValueError, match="column must be one of the masked columns 'pay', 'age', got None"
    ):
        cm.read_counts(path)
    with pytest.raises(ValueError, match=r"has no column 'wage'; it has 'id', 'pay'"):
        pay.correlation("wage")
    with pytest.raises(ValueError, match="a file is written already"):
        release.write(tmp_path / "c.csv")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strata", 5),
        ("rng", "x"),
        ("nan_policy", "x"),
        ("round", 5),
        ("workers", 0),
        ("max_lift", 0.0),
        ("accept", 5),
        ("accept", ["C99"]),
        ("accept_visible_coins", 5),
        ("max_clear", 0.0),
        ("max_risk", 5),
        ("shuffle", 5),
        ("missing", -9),
    ],
)
def test_no_option_is_passed_over(tmp_path, name, value):
    path = write(TABLE, tmp_path / "a.parquet")
    for call in (cm.mask_table, TABLE), (cm.mask_file, path, tmp_path / "b.parquet"):
        with pytest.raises((ValueError, TypeError), match=f"^{name} must"):
            call[0](*call[1:], JOINT, **{name: value})


def edit(path, form, change):
    """Change what is published with a release."""
    if form == "parquet":
        table = pq.read_table(path)
        entries = change(table.schema.metadata[b"condmask"])
        pq.write_table(
            table.replace_schema_metadata({**table.schema.metadata, b"condmask": entries}), path
        )
        return
    beside = (
        path / "_condmask.json"
        if form == "folder"
        else path.with_name(path.name + ".condmask.json")
    )
    beside.write_bytes(change(beside.read_bytes()))


def entries_with(**changes):
    def change(content):
        return json.dumps({**json.loads(content), **changes}).encode()

    return change


COLUMN = {"scheme": "ConditionalMasking", "p": 0.6, "sigma": 500.0}


@pytest.mark.parametrize("form", ["parquet", "csv", "folder"])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (entries_with(version=4), ValueError, "was masked by a newer condmask, got version 4"),
        (
            lambda content: content[: len(content) // 2],
            cm.FileError,
            "is damaged|is not the file that",
        ),
        (lambda content: b"\xff\xfe", cm.FileError, "is damaged|is not the file that"),
        (entries_with(version="2"), cm.FileError, "is damaged: it holds no release"),
        (entries_with(parts="six hundred"), cm.FileError, "is damaged: it holds no release"),
        (entries_with(columns={"pay": {"scheme": "Other"}}), (ValueError, cm.FileError), "out"),
        (
            entries_with(columns={"pay": COLUMN}, origins={"pay": {"group": 1}}),
            cm.FileError,
            "is damaged",
        ),
        (
            entries_with(csv={"delimiter": ",,"}),
            (ValueError, cm.FileError),
            "is damaged|delimiter must be",
        ),
        (entries_with(sums={"pay": ["x"]}), cm.FileError, "is damaged: it holds no release"),
    ],
)
def test_what_is_published_and_damaged_or_newer_is_refused(tmp_path, form, change, error, message):
    path = released(tmp_path, form)
    edit(path, form, change)
    for read_one in (cm.read_release, lambda path: cm.read_counts(path, "pay")):
        with pytest.raises(error, match=message):
            read_one(path)


def test_text_belongs_to_its_sidecar(tmp_path):
    path = released(tmp_path, "csv")
    beside = tmp_path / "out.csv.condmask.json"
    content = path.read_bytes()
    path.rename(tmp_path / "moved.csv")
    beside.rename(tmp_path / "moved.csv.condmask.json")
    assert cm.read_release(tmp_path / "moved.csv", "pay").n == 1140
    for changed in (content + b"00600,1,2,3,west\n", content.replace(b"00001,", b"00002,"), b""):
        (tmp_path / "moved.csv").write_bytes(changed)
        for read_one in (cm.read_release, cm.read_counts):
            with pytest.raises(
                cm.FileError,
                match=r"is not the file that moved\.csv\.condmask\.json was published",
            ):
                read_one(tmp_path / "moved.csv")
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"holds no scheme in its schema, or in out\.csv\.condmask\.json: it was"
    ):
        cm.read_release(path)


def test_a_release_whose_strata_or_columns_are_lost_is_refused(tmp_path):
    path = released(tmp_path, "parquet", schemes={"pay": PAY}, strata="region")
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["region"]), path)
    with pytest.raises(
        ValueError, match="has no column 'region'; it has 'id', 'pay', 'age', 'score'"
    ):
        cm.read_release(path, "pay")
    pq.write_table(table.drop_columns(["pay"]), path)
    with pytest.raises(ValueError, match="has no column 'pay'"):
        cm.read_release(path, "pay")
    pq.write_table(table.slice(0, 400), path)
    with pytest.warns(
        cm.EstimateWarning, match=r"pay has 400 records, .*\(except whole strata of 'region"
    ):
        cm.read_release(path, "pay")


@pytest.mark.parametrize("form", ["parquet", "csv", "folder"])
def test_a_release_that_changes_after_it_was_read_is_read_again(tmp_path, form):
    path = released(tmp_path, form)
    release = cm.read_release(path)
    data = path / "a.parquet" if form == "folder" else path
    shutil.copy(data, tmp_path / "copy")
    data.write_bytes((tmp_path / "copy").read_bytes() + b"\n")
    with pytest.raises(cm.FileError, match="was changed since it was opened: begin again"):
        release["pay"]


def test_data_of_a_release_are_a_copy(tmp_path):
    frame = TABLE.to_pandas()
    release = cm.mask_table(frame, {"age": JOINT["age"]}, rng=1, accept="all")
    mean = release["age"].mean()
    changed = release.data
    changed["age"] = 0
    changed.loc[:, "id"] = "x"
    assert release["age"].mean() == mean
    assert (release.data["age"] != 0).any()
    release.write(tmp_path / "a.parquet", log=False)
    assert cm.read_release(tmp_path / "a.parquet", "age").mean() == mean
    assert frame["id"].tolist() == release.data["id"].tolist()


def test_all_that_is_wrong_is_said_at_once_and_its_remedies_settle_it(tmp_path):
    random = np.random.default_rng(3)
    pay = random.lognormal(7.0, 0.5, 4_000).round(2)
    pay[5::67] = -8.0
    pay[7::133] = np.nan
    pay[[11, 500, 900]] = (1e6, 1.2e6, 2e6)
    frame = pd.DataFrame(
        {"pay": pay, "tax": (pay * 0.2).round(2), "age": random.integers(18, 90, 4_000)}
    )
    source = tmp_path / "a.csv"
    target = tmp_path / "b.csv"
    frame.to_csv(source, index=False)

    def mask(schemes, **options):
        return cm.mask_file(source, target, schemes, log=False, **options)

    mapped = cm.ReverseMapping(0.6, 500.0)
    with pytest.raises(cm.CondmaskError, match=r"^\d problems were found: ") as caught:
        mask({"pay": mapped})
    said = str(caught.value)
    assert 'pay has 31 missing values, the first at position 7; pass nan_policy="omit"' in said
    assert "missing must say whether -8 in pay (59 records" in said
    of = cm.ReverseMapping(0.6, 500.0, missing=-8)
    # the attack
    with pytest.raises(cm.CondmaskError, match=r"^2 problems were found: ") as caught:
        mask({"pay": of}, nan_policy="omit")
    said = str(caught.value)
    assert re.search(r"C\d pay: .* 100% of ", said)
    assert "drop=['tax']" in said
    ends = int(re.search(r"records? with a rare value .* pass aggregate_ends=(\d+)", said)[1])
    frame.drop(columns="tax").to_csv(source, index=False)
    with pytest.raises(cm.CondmaskError, match=r"^2 .* \(in rows 1 to 1,000\)$"):
        mask({"pay": mapped}, part_rows=1000)
    remedied = cm.ReverseMapping(0.6, 500.0, missing=-8, aggregate_ends=ends)
    with pytest.warns(
        cm.ReleaseWarning, match=f"aggregate_ends={ends} changes the standard deviation"
    ):
        release = mask({"pay": remedied}, nan_policy="omit")
    assert release["pay"].n == np.sum(pay > 0)
    assert {*pd.read_csv(target)["pay"][pay == -8]} == {-8}


def test_a_file_of_few_records_is_refused_under_noise_alone(tmp_path):
    source = write(TABLE.slice(0, 99).select(["age"]), tmp_path / "a.parquet")
    with pytest.raises(
        cm.ReleaseError, match="99 records are too few: a file must have at least 100"
    ):
        cm.mask_file(
            source, tmp_path / "b.parquet", {"age": cm.ConditionalMasking(0.6, 20.0, decimals=0)}
        )
    assert not (tmp_path / "b.parquet").exists()


PEOPLE = people(4_000).select(["id", "pay", "age"])
OTHER_NANS = np.nan_to_num(np.sort(numbers(PEOPLE["pay"])), nan=-np.nan)  # which have other bits
OPTIONS = {"nan_policy": "omit", "accept": "all"}


def log():
    """The log of this test."""
    return Path(os.environ["XDG_DATA_HOME"], "condmask/log.jsonl")


def mask(source, target, schemes=None, **options):
    return cm.mask_file(source, target, schemes or {"pay": PAY}, **OPTIONS, **options)


@pytest.fixture
def source(tmp_path):
    return write(PEOPLE, tmp_path / "people.parquet")


def refusal(job):
    with pytest.raises(cm.ReleaseError) as caught:
        job()
    return str(caught.value)


def test_the_example_of_write_works_twice():
    examples = doctest.DocTestFinder().find(cm.Release.write, globs={})
    runner = doctest.DocTestRunner()

    assert [runner.run(example).failed for example in examples * 2] == [0, 0]


def test_the_same_command_twice_is_refused_until_the_user_says_so(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    said = refusal(lambda: mask(source, tmp_path / "b.parquet"))
    assert re.match(
        rf"'pay': the same values are in {tmp_path}/a\.parquet, released on 20\d\d-\d\d-\d\d; ",
        said,
    )
    with pytest.warns(cm.ReleaseWarning) as warned:
        mask(source, tmp_path / "b.parquet", dry_run=True)
    assert [str(each.message) for each in warned][-1] == f"the release would be refused: {said}"
    assert not (tmp_path / "b.parquet").exists()

    assert "destroy it and pass again=True" in said
    mask(source, tmp_path / "b.parquet", again=True)
    assert len(log().read_text().splitlines()) == 2

    assert said.endswith(f". {log()} lists it")


@pytest.mark.parametrize(
    ("name", "change", "options"),
    [
        ("people.arrow", lambda table: table, {}),
        ("people.csv", lambda table: table, {}),
        (
            "people.parquet",
            lambda table: table.sort_by("pay").set_column(1, "pay", pa.array(OTHER_NANS)),
            {},
        ),
        (
            "other.parquet",
            lambda table: table.take(np.random.default_rng(1).permutation(4_000)),
            {},
        ),
        ("people.parquet", lambda table: table, {"part_rows": 1000}),
        (
            "people.parquet",
            lambda table: table.set_column(1, "pay", table["pay"].cast(pa.decimal128(12, 2))),
            {},
        ),
        ("people.parquet", lambda table: table.rename_columns(["id", "pay", "wage"]), {}),
    ],
)
def test_the_same_values_are_known_in_any_order_form_and_parts(
    tmp_path, source, name, change, options
):
    mask(source, tmp_path / "a.parquet")
    (tmp_path / "new").mkdir()
    other = write(change(PEOPLE), tmp_path / "new" / name)
    out = tmp_path / f"b{other.suffix}"
    assert "the same values are in" in refusal(lambda: mask(other, out, **options))
    halves = tmp_path / "halves"
    write(PEOPLE.slice(0, 900), halves / "1.parquet")
    write(PEOPLE.slice(900), halves / "2.parquet")
    assert "the same values are in" in refusal(
        lambda: mask(halves, tmp_path / "out", {"pay": PAY})
    )


def test_one_of_several_columns_is_enough_and_other_values_are_released(tmp_path, source):
    mask(source, tmp_path / "a.parquet", JOINT)
    assert refusal(lambda: mask(source, tmp_path / "b.parquet")).startswith(
        "'pay': the same values"
    )
    assert refusal(lambda: mask(source, tmp_path / "b.parquet", JOINT)).startswith(
        "'pay', 'age': the same"
    )
    renamed = write(PEOPLE.rename_columns(["id", "wage", "age"]), tmp_path / "renamed.parquet")
    said = refusal(lambda: mask(renamed, tmp_path / "b.parquet", {"wage": PAY}))
    assert said.startswith("'wage': the same values")
    other = write(people(4_000, seed=2), tmp_path / "others.parquet")
    mask(other, tmp_path / "c.parquet")


def test_a_column_that_was_masked_is_not_released_in_clear_from_the_same_source(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    only_age = {"age": JOINT["age"]}
    said = refusal(lambda: mask(source, tmp_path / "b.parquet", only_age))
    assert said.startswith(f"'pay': masked in {tmp_path}/a.parquet")
    mask(write(PEOPLE.drop_columns(["pay"]), source), tmp_path / "b.parquet", only_age)
    mask(write(PEOPLE, source), tmp_path / "c.parquet", only_age, again=True)


def test_other_values_of_the_same_source_warn(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    pay = PEOPLE["pay"].to_pylist()
    pay[7] += 0.01
    write(PEOPLE.set_column(1, "pay", pa.array(pay)), source)
    with pytest.warns(
        cm.ReleaseWarning, match=r"people\.parquet is the source of .*a\.parquet, released on 20"
    ):
        mask(source, tmp_path / "b.parquet")
    assert len(log().read_text().splitlines()) == 2


def test_a_shared_log_knows_only_the_sources_of_another_user(tmp_path, source, monkeypatch):
    shared = tmp_path / "shared/log.jsonl"
    copy = write(PEOPLE, tmp_path / "copy.parquet")
    mask(source, tmp_path / "a.parquet", log=shared)
    assert "the same values" in refusal(lambda: mask(copy, tmp_path / "b.parquet", log=shared))

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home of a colleague"))
    mask(copy, tmp_path / "b.parquet", log=shared)  # another key has another hash
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home of a second colleague"))
    with pytest.warns(cm.ReleaseWarning, match="if another user masked them: never publish both"):
        mask(source, tmp_path / "c.parquet", log=shared)
    only_age = {"age": JOINT["age"]}
    clear = refusal(lambda: mask(source, tmp_path / "d.parquet", only_age, log=shared))
    assert clear.startswith(f"'pay': masked in {tmp_path}/a.parquet")
    hashes = [json.loads(line)["columns"]["pay"] for line in shared.read_text().splitlines()]
    assert len({*hashes}) == 3


def test_what_leaves_no_line(tmp_path, source):
    mask(source, tmp_path / "a.parquet", rng=1)
    mask(source, tmp_path / "b.parquet", log=False)
    mask(source, tmp_path / "c.parquet", dry_run=True)
    with pytest.raises(ValueError, match="wage"):
        mask(source, tmp_path / "d.parquet", {"wage": PAY})
    cm.mask_table(PEOPLE, {"pay": PAY}, rng=1, **OPTIONS).write(tmp_path / "e.parquet")
    assert not log().exists()
    mask(source, tmp_path / "f.parquet", log=tmp_path / "own/log.jsonl")
    assert not log().exists()
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
    assert sorted(entry) == ["accepted", "columns", "date", "source", "target"]
    assert entry["source"] == str(source)
    assert entry["target"] == str(tmp_path / "a.parquet")
    content = log().read_bytes().replace(entry["date"].encode(), b"")
    for value in PEOPLE["pay"].to_pylist():
        assert value is None or f"{value!r}".encode() not in content
    assert key.read_bytes().hex().encode() not in content

    mark = entry["columns"]["pay"]  # and without the key nobody can try values on it
    key.write_bytes(bytes(16))
    with pytest.warns(cm.ReleaseWarning, match="with other values"):
        mask(source, tmp_path / "b.parquet")
    [_, again] = map(json.loads, log().read_text().splitlines())
    # as of old
    assert again["columns"] == {"pay": "9e3c799cf6b9e0d2e1e39f0c07ebe41e"} != {"pay": mark}


def test_a_masked_frame_is_one_release_however_often_it_is_written(tmp_path, source):
    release = cm.mask_table(PEOPLE, {"pay": PAY}, **OPTIONS)
    release.write(tmp_path / "a.parquet")
    release.write(tmp_path / "b.csv")
    assert len(log().read_text().splitlines()) == 1
    assert "a.parquet" in refusal(lambda: mask(source, tmp_path / "c.parquet"))
    second = cm.mask_table(PEOPLE, {"pay": PAY}, **OPTIONS)
    assert "a.parquet" in refusal(lambda: second.write(tmp_path / "c.parquet"))
    second.write(tmp_path / "c.parquet", again=True)


def test_a_masked_frame_that_was_written_without_the_log_is_entered_the_next_time(
    tmp_path, source
):
    release = cm.mask_table(PEOPLE, {"pay": PAY}, **OPTIONS)
    release.write(tmp_path / "a.parquet", log=False)
    release.write(tmp_path / "b.parquet")
    assert "b.parquet" in refusal(lambda: mask(source, tmp_path / "c.parquet"))


def test_a_pickled_release_is_checked_still(tmp_path, source):
    release = cm.mask_table(PEOPLE, {"pay": PAY}, **OPTIONS)
    copied = pickle.dumps(release)
    key = log().with_name("log.key")  # without which nobody can try values on it
    secret = key.read_bytes()
    key.write_bytes(bytes(16))
    assert pickle.dumps(release) != copied
    key.write_bytes(secret)
    mask(source, tmp_path / "a.parquet")
    assert "a.parquet" in refusal(lambda: pickle.loads(copied).write(tmp_path / "b.parquet"))
    few = cm.mask_table(PEOPLE.slice(1, 19), {"age": JOINT["age"]}, rng=1, nan_policy="omit")
    for one in (few, pickle.loads(pickle.dumps(few))):
        assert "a file must have at least 100" in refusal(
            lambda one=one: one.write(tmp_path / "few.parquet")
        )
    (tmp_path / "copied").write_bytes(copied)
    program = (
        f"import pickle; pickle.load(open({str(tmp_path / 'copied')!r}, 'rb')).write('c.parquet')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert "ReleaseError: 'pay': the same values are in" in ended.stderr.replace(
        "condmask.disclosure.release_check.", ""
    )


def test_a_log_that_is_none_is_refused_in_one_sentence(tmp_path, source):
    mask(source, tmp_path / "a.parquet")
    for content in (
        b"{}\n",
        b"[1]\n",
        b"no\n",
        b"\xff\xfe\n",
        b'{"columns": 1, "date": 2, "target": 3}\n',
    ):
        log().write_bytes(content)
        with pytest.raises(cm.CondmaskError, match=r"log\.jsonl"):
            mask(source, tmp_path / "b.parquet")
    log().write_text("\n")
    mask(source, tmp_path / "b.parquet")
