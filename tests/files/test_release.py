"""Releases are read again from what is published with them, or refused: those of version 1, too.

Oracles: `said.json`, which the version that wrote those releases computed (but for statistics with other
columns after reverse mapping, since exact to more digits); the originals; and numpy.
"""

import json
import re
import shutil
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


@pytest.mark.parametrize("name", SAID)
def test_releases_of_version_1_are_read_with_the_numbers_of_then(name):
    said, release = SAID[name], cm.read_release(RELEASED / name)
    assert release.records == said["records"]
    assert {column: scheme.to_dict() for column, scheme in release.schemes.items()} == said["schemes"]
    for column, then in said["columns"].items():
        estimate = release[column]
        close = {"rel": 1e-12, "nan_ok": False}
        assert estimate.mean() == pytest.approx(then["mean"], **close)
        assert estimate.std() == pytest.approx(then["std"], **close)
        # a quantile of rearranged T is right to a step of the grid, which is .01
        assert estimate.quantile(np.arange(1, 10) / 10) == pytest.approx(then["deciles"], abs=0.0101)
        assert estimate.cdf(2000.0) == pytest.approx(then["cdf"], **close)
        assert estimate.correlation("age") == pytest.approx(then["correlation with age"], rel=1e-9)
        means = {group: found.estimate for group, found in estimate.group_means("region").items()}
        assert means == pytest.approx(then["means by region"], rel=1e-9)


@pytest.mark.parametrize("name", SAID)
def test_the_same_seed_gives_the_bits_of_version_1(tmp_path, name):
    originals = pq.read_table(RELEASED / "originals.parquet")
    schemes = {
        column: cm.ConditionalMasking.from_dict(entries) for column, entries in SAID[name]["schemes"].items()
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
        then, now = read(RELEASED / name), read(tmp_path / f"masked {name}")
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
    pay, age = release["pay"], release["age"]
    found = read(path / "a.parquet" if form == "folder" else path)
    z, region = numbers(found["pay"]), np.array(found["region"].to_pylist())
    there = ~np.isnan(z)

    assert list(release) == ["pay", "age"]
    assert len(release) == 2
    assert release["pay"] is pay
    assert pay.mean() == pytest.approx(z[there].mean(), rel=1e-12)
    assert cm.read_release(path, "pay").mean() == pay.mean()
    assert pay.correlation("age") == pay.correlation(age)
    assert pay.covariance("score") == pay.covariance(cm.read_column(path, "score"))
    assert pay.group_means("region")["south"].estimate == pytest.approx(z[there & (region == "south")].mean())
    assert np.array_equal(cm.read_column(path, "pay"), z, equal_nan=True)
    assert cm.read_column(path, "region").tolist() == region.tolist()
    counts = cm.read_counts(path, "pay")
    assert (counts.n, counts.origin) == (there.sum(), release.origins["pay"])
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
    with pytest.raises(ValueError, match="column must be one of the masked columns 'pay', 'age', got None"):
        cm.read_counts(path)
    with pytest.raises(ValueError, match=r"has no column 'wage'; it has 'id', 'pay'"):
        pay.correlation("wage")
    with pytest.raises(ValueError, match="a file is written already"):
        release.write(tmp_path / "c.csv")


@pytest.mark.parametrize(
    ("name", "value"),
    [("strata", 5), ("rng", "x"), ("nan_policy", "x"), ("round", 5), ("workers", 0), ("max_lift", 0.0),
     ("accept_visible_coins", 5), ("max_risk", 5), ("shuffle", 5), ("missing", -9)],
)  # fmt: skip
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
        pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"condmask": entries}), path)
        return
    beside = path / "_condmask.json" if form == "folder" else path.with_name(path.name + ".condmask.json")
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
        (entries_with(version=3), ValueError, "was masked by a newer condmask, got version 3"),
        (lambda content: content[: len(content) // 2], cm.FileError, "is damaged|is not the file that"),
        (lambda content: b"\xff\xfe", cm.FileError, "is damaged|is not the file that"),
        (entries_with(version="2"), cm.FileError, "is damaged: it holds no release"),
        (entries_with(parts="six hundred"), cm.FileError, "is damaged: it holds no release"),
        (entries_with(columns={"pay": {"scheme": "Other"}}), (ValueError, cm.FileError), "out"),
        (entries_with(columns={"pay": COLUMN}, origins={"pay": {"group": 1}}), cm.FileError, "is damaged"),
        (entries_with(csv={"delimiter": ",,"}), (ValueError, cm.FileError), "is damaged|delimiter must be"),
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
    beside, content = tmp_path / "out.csv.condmask.json", path.read_bytes()
    path.rename(tmp_path / "moved.csv")
    beside.rename(tmp_path / "moved.csv.condmask.json")
    assert cm.read_release(tmp_path / "moved.csv", "pay").n == 1140
    for changed in (content + b"00600,1,2,3,west\n", content.replace(b"00001,", b"00002,"), b""):
        (tmp_path / "moved.csv").write_bytes(changed)
        for read_one in (cm.read_release, cm.read_counts):
            with pytest.raises(
                cm.FileError, match=r"is not the file that moved\.csv\.condmask\.json was published"
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
    with pytest.raises(ValueError, match="has no column 'region'; it has 'id', 'pay', 'age', 'score'"):
        cm.read_release(path, "pay")
    pq.write_table(table.drop_columns(["pay"]), path)
    with pytest.raises(ValueError, match="has no column 'pay'"):
        cm.read_release(path, "pay")
    pq.write_table(table.slice(0, 400), path)
    with pytest.warns(cm.EstimateWarning, match=r"pay has 400 records, .*\(except whole strata of 'region"):
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
    release = cm.mask_table(frame, {"age": JOINT["age"]}, rng=1, accept_visible_coins=True)
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
    pay[5::67], pay[7::133], pay[[11, 500, 900]] = -8.0, np.nan, (1e6, 1.2e6, 2e6)
    frame = pd.DataFrame({"pay": pay, "tax": (pay * 0.2).round(2), "age": random.integers(18, 90, 4_000)})
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    frame.to_csv(source, index=False)

    def mask(schemes, **options):
        return cm.mask_file(source, target, schemes, log=False, **options)

    mapped = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True)
    with pytest.raises(cm.CondmaskError, match=r"^\d things must be settled: ") as caught:
        mask({"pay": mapped})
    said = str(caught.value)
    assert 'pay has 31 missing values, the first at position 7; pass nan_policy="omit"' in said
    assert "missing must say whether -8 in pay (59 records" in said
    assert "pay = 5 tax in" in said
    assert "drop tax" in said
    frame.drop(columns="tax").to_csv(source, index=False)
    with pytest.raises(cm.CondmaskError, match=r"^3 things must be settled: ") as caught:
        mask({"pay": mapped})
    ends = int(re.search(r"records? with a rare value .* pass aggregate_ends=(\d+)", str(caught.value))[1])
    with pytest.raises(cm.CondmaskError, match=r"^3 .* \(in rows 1 to 1,000\)$"):
        mask({"pay": mapped}, part_rows=1000)
    remedied = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True, missing=-8, aggregate_ends=ends)
    with pytest.warns(cm.ReleaseWarning, match=f"aggregate_ends={ends} changes the standard deviation"):
        release = mask({"pay": remedied}, nan_policy="omit")
    assert release["pay"].n == np.sum(pay > 0)
    assert {*pd.read_csv(target)["pay"][pay == -8]} == {-8}


def test_a_file_of_few_records_is_refused_under_noise_alone(tmp_path):
    source = write(TABLE.slice(0, 99).select(["age"]), tmp_path / "a.parquet")
    with pytest.raises(cm.ReleaseError, match="99 records are too few, and a file must have at least 100"):
        cm.mask_file(source, tmp_path / "b.parquet", {"age": cm.ConditionalMasking(0.6, 20.0, decimals=0)})
    assert not (tmp_path / "b.parquet").exists()
