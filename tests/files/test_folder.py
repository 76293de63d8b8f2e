"""A long file and a folder are one table: masked part by part under keys of their own, and
estimated as one.

Oracles: `mask_table` of each slice under the key that is derived for it, and plain formulas part
by part.
"""

import itertools
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
from worlds import (
    AGE,
    JOINT,
    KEY,
    PAY,
    assert_same,
    in_memory,
    masked,
    numbers,
    people,
    read,
    write,
)

import condmask as cm
from condmask import _randomness  # which streams of words begin is seen where they are made alone
from condmask._blocks import in_stretches
from condmask.files.parts import Source

N = 5_003
SIZES = (1000, 1000, 1000, 1000, 1003)
STARTS = (0, 1000, 2000, 3000, 4000)
TABLE = people(N).select(["id", "pay", "age", "score", "region"])
WHOLE = cm.ConditionalMasking(0.6, 500.0, decimals=0)
OF_REGION = cm.ConditionalMasking(0.6, 500.0, decimals=2, strata="region", small_strata="merge")


def of_parts(table, schemes, starts=STARTS, sizes=SIZES):
    """The slices masked one by one, part k > 0 under the k-th derived key."""
    keys = [KEY, *(KEY.derive(b"part", str(k).encode()) for k in range(1, len(sizes)))]
    slices = [table.slice(*ends) for ends in zip(starts, sizes, strict=True)]
    return pa.concat_tables(
        [in_memory(one, schemes, key) for one, key in zip(slices, keys, strict=True)]
    )


def cut(table, folder, form, cuts, keys=("",)):
    """A folder of files that hold the rows between these cuts."""
    for k, (start, stop) in enumerate(itertools.pairwise(cuts)):
        key = keys[k % len(keys)]
        write(table.slice(start, stop - start), folder / key / f"{k}.{form}")
    return folder


def whole(folder, form):
    return pa.concat_tables(read(path) for path in sorted(folder.rglob(f"*.{form}")))


@pytest.mark.parametrize("schemes", [JOINT, {"pay": OF_REGION}])
def test_a_long_file_is_masked_part_by_part(tmp_path, schemes):
    source = write(TABLE, tmp_path / "a.parquet")
    release = masked(source, tmp_path / "b.parquet", schemes, part_rows=1000)
    expected = of_parts(TABLE, schemes)

    assert release.parts == SIZES
    for name in schemes:
        assert_same(read(release.path)[name], expected[name])


def test_bits_depend_on_the_rows_of_parts_alone(tmp_path):
    expected = of_parts(TABLE, JOINT)
    for k, options in enumerate([{"row_group_size": 77}, {"row_group_size": 1500}, {}]):
        for form in ("parquet", "arrow", "csv"):
            source = write(TABLE, tmp_path / f"a.{form}", **options)
            target = tmp_path / f"b{k}.{form}"
            masked(source, target, part_rows=1000, workers=(1, 3, 2)[k])
            for name in JOINT:
                assert_same(read(target)[name], expected[name])
    for form, cuts in (
        ("parquet", (0, 10, 999, 3000, 3001, N)),
        ("arrow", (0, 2600, N)),
        ("csv", (0, 1000, N)),
    ):
        source = cut(TABLE, tmp_path / f"in {form}", form, cuts)
        release = masked(source, tmp_path / f"out {form}", part_rows=1000)
        assert release.parts == SIZES
        found = whole(tmp_path / f"out {form}", form)
        for name in JOINT:
            assert_same(found[name], expected[name])
        assert found["id"].to_pylist() == TABLE["id"].to_pylist()
        assert [path.name for path in sorted(release.path.iterdir())] == [
            *(f"{k}.{form}" for k in range(len(cuts) - 1)),
            "_condmask.json",
        ]


@pytest.mark.parametrize(
    ("rows", "sizes"), [(5, (5,)), (6, (4, 2)), (9, (4, 5)), (13, (4, 4, 5)), (14, (4, 4, 4, 2))]
)
def test_the_last_part_has_half_to_one_and_a_half_of_the_rows(tmp_path, rows, sizes):
    table = TABLE.slice(1, rows * 100).select(["age"])
    source = write(table, tmp_path / "a.arrow", row_group_size=30)
    release = masked(source, tmp_path / "b.arrow", {"age": AGE}, part_rows=400)
    assert release.parts == tuple(100 * size for size in sizes)


def test_a_sample_is_of_all_parts_and_has_as_many_rows_as_a_part_by_itself_may_have(tmp_path):
    path = write(pa.table({"x": np.arange(20_000), "y": np.zeros(20_000)}), tmp_path / "a.parquet")
    source = Source(path, part_rows=6_000)

    assert [part.num_rows for part in source.parts()] == [6_000, 6_000, 8_000]
    assert source.sample()["x"].to_pylist() == in_stretches(20_000, 16_384).tolist()
    assert Source(path).part_rows == 2**24 // 2


def test_no_two_parts_share_words(tmp_path, monkeypatch):
    begun = []

    def counted(key, counter, made=_randomness.AESCounter):
        begun.append((key, counter))
        return made(key=key, counter=counter)

    monkeypatch.setattr(_randomness, "AESCounter", counted)
    same = pa.concat_tables([TABLE.slice(0, 1000)] * 3)
    for k, options in enumerate([{"rng": KEY}, {"rng": None, "log": False}, {"rng": 3}]):
        masked(
            write(same, tmp_path / "a.parquet"),
            tmp_path / f"{k}.parquet",
            part_rows=1000,
            **options,
        )
        found = numbers(read(tmp_path / f"{k}.parquet")["pay"])
        assert not np.array_equal(found[:1000], found[1000:2000], equal_nan=True)
    assert len({key for key, _ in begun}) == 9
    # coins are read for each use
    drawn = [(key, counter) for key, counter in begun if counter >> 56 & 3]
    assert len(set(drawn)) == len(drawn) >= 27


def test_what_rounding_moves_is_told_of_all_parts(tmp_path):
    source = write(TABLE, tmp_path / "a.parquet")
    shifts = []
    for rows in (1000, N):
        with pytest.warns(cm.ReleaseWarning, match="was rounded to multiples of 1"):
            release = masked(
                source, tmp_path / f"{rows}.parquet", {"pay": WHOLE}, part_rows=rows, round=True
            )
        shifts.append(release.origins["pay"].shift)
    assert shifts[0] == shifts[1] != ()


@pytest.mark.parametrize("gap", [None, 9e6])
def test_parts_that_differ_are_told_of(tmp_path, gap):
    pay = numbers(TABLE.sort_by("pay")["pay"])
    pay[::20] = np.nan if gap is None else gap  # codes are no values, and do not vary
    source = write(pa.table({"pay": pay}), tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=gap)
    with pytest.warns(
        cm.ReleaseWarning, match=r"pay is masked in 5 parts that differ \(\d\d% of its"
    ):
        masked(source, tmp_path / "b.parquet", {"pay": scheme}, part_rows=1000)


def test_a_column_alone_is_audited_in_parts_as_in_one(tmp_path):
    source = write(TABLE.select(["age"]), tmp_path / "a.parquet")
    scheme = {"age": cm.ConditionalMasking(0.6, 9.0, decimals=0)}
    never = tmp_path / "b.parquet"
    for rows in (1000, None):
        with pytest.raises(
            cm.ReleaseError, match=r"age: .* guesses \d\d% of the values to less than 20"
        ):
            cm.mask_file(source, never, scheme, part_rows=rows, max_risk={20.0: 0.3}, log=False)
    assert not never.exists()


def undone(z, pools):
    """What each record's value is on average that has this release, by its own pool."""
    found = np.full(z.size, np.nan)
    for pool in np.unique(pools):
        own = (pools == pool) & ~np.isnan(z)
        n = own.sum()
        p = 0.6
        found[own] = (z[own] - p * n / (n - 1) * z[own].mean()) / (1 - p - p / (n - 1))
    return found


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "folder"])
def test_relations_are_those_of_parts_and_all_else_of_the_whole(tmp_path, form):
    if form == "folder":
        source = cut(TABLE, tmp_path / "in", "parquet", (0, 1200, 1201, N))
        target = tmp_path / "out"
    else:
        source = write(TABLE, tmp_path / f"a.{form}")
        target = tmp_path / f"b.{form}"
    masked(source, target, {"pay": PAY}, part_rows=1000)
    pay = cm.read_release(target, "pay")
    z = numbers(of_parts(TABLE, {"pay": PAY})["pay"])
    score = numbers(TABLE["score"])
    region = np.array(TABLE["region"].to_pylist())
    parts = np.repeat(np.arange(5), SIZES)
    truth = undone(z, parts)
    there = ~np.isnan(z)

    assert pay.covariance("score") == pytest.approx(
        float(reference.covariance(z, score, 0.6, parts)), rel=1e-9
    )
    for name, found in pay.group_means("region").items():
        assert found.estimate == pytest.approx(truth[there & (region == name)].mean(), rel=1e-9)
    slope = np.cov(truth[there], score[there])[0, 1] / np.var(score[there], ddof=1)
    assert pay.regress("score")["score"].estimate == pytest.approx(slope, rel=1e-9)
    plain = PAY.estimate(z[there])
    assert pay.mean() == pytest.approx(plain.mean(), rel=1e-12)
    assert pay.std() == pytest.approx(plain.std(), rel=1e-9)
    assert pay.quantile([0.1, 0.5, 0.9]).tolist() == plain.quantile([0.1, 0.5, 0.9]).tolist()
    assert pay.cdf(900.0) == plain.cdf(900.0)
    counts = PAY.estimate(cm.read_counts(target, "pay"))
    assert counts.mean() == pytest.approx(plain.mean(), rel=1e-12)
    assert counts.quantile(0.5) == plain.quantile(0.5)


def test_relations_are_those_of_strata_and_patterns_within_parts(tmp_path):
    release = masked(
        write(TABLE, tmp_path / "a.parquet"),
        tmp_path / "b.parquet",
        strata="region",
        part_rows=1000,
    )
    z = numbers(read(release.path)["pay"])
    score = numbers(TABLE["score"])
    parts = np.repeat(np.arange(5), SIZES)
    pools = [
        f"{part} {region}" for part, region in zip(parts, TABLE["region"].to_pylist(), strict=True)
    ]
    expected = reference.covariance(z, score, 0.6, pools)
    assert release["pay"].covariance("score") == pytest.approx(float(expected), rel=1e-9)
    assert cm.read_release(release.path)["pay"].correlation("age") == release["pay"].correlation(
        "age"
    )


@pytest.mark.parametrize("form", ["parquet", "arrow", "folder"])
def test_moved_rows_have_no_relations_but_their_own_statistics(tmp_path, form):
    if form == "folder":
        source = cut(TABLE, tmp_path / "in", "parquet", (0, 1200, N))
        target = tmp_path / "out"
    else:
        source = write(TABLE, tmp_path / f"a.{form}")
        target = tmp_path / f"b.{form}"
    mean = masked(source, target, {"pay": PAY}, part_rows=1000)["pay"].mean()
    file = target / "1.parquet" if form == "folder" else target
    table = read(file)
    metadata = pq.read_metadata(file).metadata if form != "arrow" else {}
    notes = {key: value for key, value in metadata.items() if key == b"condmask.sums"}

    def rewrite(order):
        moved = table.take(order).replace_schema_metadata(
            {**(table.schema.metadata or {}), **notes}
        )
        write(moved, file)

    inside = np.arange(table.num_rows)
    inside[:500] = inside[:500][::-1]
    rewrite(inside)
    assert cm.read_release(target)["pay"].covariance("score") == pytest.approx(
        float(reference.covariance(*two(target, form), 0.6, np.repeat(np.arange(5), SIZES))),
        rel=1e-9,
    )
    rewrite(np.argsort(table["score"].to_numpy()))
    pay = cm.read_release(target, "pay")
    assert pay.mean() == pytest.approx(mean, rel=1e-12)
    for relation in (
        lambda: pay.correlation("score"),
        lambda: pay.group_means("region"),
        lambda: pay.regress("score"),
    ):
        with pytest.raises(
            ValueError, match="pay was masked in 5 parts, and rows were moved or left out since"
        ):
            relation()
    rewrite(np.flatnonzero(table["score"].to_numpy() > 50))
    with pytest.warns(cm.EstimateWarning, match="estimates from a part of it are wrong"):
        pay = cm.read_release(target, "pay")
    with pytest.raises(ValueError, match="rows were moved or left out since"):
        pay.correlation("score")


def two(target, form):
    table = whole(target, "parquet") if form == "folder" else read(target)
    return numbers(table["pay"]), numbers(table["score"])


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_keys_in_the_names_of_folders_are_columns_and_strata(tmp_path, form):
    keys = ("year=2020/kind=a%2Fb", "year=2021/kind=c", "year=__HIVE_DEFAULT_PARTITION__/kind=c")
    source = cut(TABLE, tmp_path / "in", form, (0, 1000, 3000, N), keys)
    (source / "_notes.txt").write_text("not a table")
    (source / keys[0] / ".hidden.csv").write_text("nor this")
    release = masked(source, tmp_path / "out", {"pay": PAY}, strata=["year", "kind"])

    year = pa.array([2020] * 1000 + [2021] * 2000 + [None] * 2003)
    kind = pa.array(["a/b"] * 1000 + ["c"] * 4003)
    paths = [tmp_path / "in" / key / f"{k}.{form}" for k, key in enumerate(keys)]
    assert sorted(
        path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob(f"*.{form}")
    ) == sorted(path.relative_to(source) for path in paths)
    order = sorted(range(3), key=lambda k: paths[k])
    pieces = [
        read(paths[k])
        .select(["pay"])
        .append_column("year", year.slice(*ENDS[k]))
        .append_column("kind", kind.slice(*ENDS[k]))
        for k in order
    ]
    expected = in_memory(pa.concat_tables(pieces), {"pay": PAY}, strata=["year", "kind"])["pay"]
    found = pa.concat_arrays(
        [numbers_of(tmp_path / "out" / paths[k].relative_to(source)) for k in order]
    )
    assert_same(pa.chunked_array([found]), expected)
    again = cm.read_release(tmp_path / "out", "pay")
    assert set(again.group_means("year")) == {2020, 2021}
    assert np.isfinite(again.correlation("year"))
    assert again.group_means("kind") == release["pay"].group_means("kind")
    with pytest.raises(ValueError, match="year cannot be masked: it stands in the names below"):
        masked(source, tmp_path / "none", {"year": PAY})
    by_file = masked(
        source / f"**/*.{form}", tmp_path / "by file", {"pay": PAY}, strata="__filename"
    )
    assert len(by_file["pay"].group_means("__filename")) == 3


def test_keys_with_zeros_in_front_are_texts(tmp_path):
    source = cut(TABLE, tmp_path / "in", "parquet", (0, 2500, N), ("area=007", "area=010"))
    release = masked(source, tmp_path / "out", {"pay": PAY})
    assert set(release["pay"].group_means("area")) == {"007", "010"}


ENDS = ((0, 1000), (1000, 2000), (3000, 2003))


def numbers_of(path):
    return pa.array(numbers(read(path)["pay"]))


def test_files_of_nulls_and_of_no_rows_are_among_the_others(tmp_path):
    source = cut(TABLE, tmp_path / "in", "parquet", (0, 0, 2000, N))
    pq.ParquetWriter(source / "0.parquet", TABLE.schema).close()  # which has no group of rows
    empty = (
        TABLE.slice(2000, 100)
        .set_column(1, "pay", pa.nulls(100))
        .set_column(0, "id", pa.nulls(100))
    )
    write(empty, source / "3.parquet")
    masked(source, tmp_path / "out", {"pay": PAY}, part_rows=1000)

    table = pa.concat_tables([TABLE, empty], promote_options="default")
    found = whole(tmp_path / "out", "parquet")
    assert_same(found["pay"], of_parts(table, {"pay": PAY}, sizes=(1000,) * 4 + (1103,))["pay"])
    assert found["id"].equals(table["id"])
    assert [read(tmp_path / f"out/{k}.parquet").num_rows for k in range(4)] == [0, 2000, 3003, 100]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table.rename_columns(["id", "pay", "old", "score", "region"]),
            "has files that differ in the columns 'age', 'old'",
        ),
        (
            lambda table: table.set_column(1, "pay", table["id"]),
            "columns of one type: .*pay",
        ),
    ],
)
def test_files_of_other_columns_are_refused(tmp_path, change, message):
    source = cut(TABLE, tmp_path / "in", "parquet", (0, N))
    write(change(TABLE), source / "1.parquet")
    with pytest.raises(ValueError, match=message):
        masked(source, tmp_path / "out")
    os.remove(source / "1.parquet")
    write(TABLE, source / "1.csv")
    with pytest.raises(ValueError, match=r"files of one format, selected .*0\.parquet and 1\.csv"):
        masked(source, tmp_path / "out")
    assert masked(source / "*.parquet", tmp_path / "out").records == N
    with pytest.raises(cm.FileError, match="no file of data in it"):
        masked(source / "*.arrow", tmp_path / "none")


def test_one_file_of_a_released_folder_is_no_release(tmp_path):
    source = cut(TABLE, tmp_path / "in", "csv", (0, 1200, N), ["", "deep/down"])
    masked(source, tmp_path / "out", {"pay": PAY})
    with pytest.raises(
        ValueError, match=r"pay is masked already in .*: mask all columns in one call"
    ):
        masked(tmp_path / "out", tmp_path / "two", {"age": AGE})
    for name in ("0.csv", "deep/down/1.csv"):
        with pytest.raises(
            ValueError, match="is one file of a released folder, or the metadata published with it"
        ):
            cm.read_release(tmp_path / "out" / name)
        with pytest.raises(
            ValueError, match=r"pay is masked already in .*csv: mask all columns in one call"
        ):
            masked(tmp_path / "out" / name, tmp_path / "two.csv", {"age": AGE})
    (tmp_path / "out/_condmask.json").unlink()
    with pytest.raises(ValueError, match=r"holds no scheme in _condmask\.json in it"):
        cm.read_release(tmp_path / "out")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_one_file_of_a_released_folder_says_what_it_is(tmp_path, form):
    masked(cut(TABLE, tmp_path / "in", form, (0, 1200, N), ["of=1"]), tmp_path / "out")

    with pytest.raises(
        ValueError, match="is one file of a released folder, which is read as a whole"
    ):
        cm.read_release(tmp_path / "out/of=1" / f"0.{form}")
    with pytest.raises(
        ValueError, match=r"pay, age is masked already in .*of=1: mask all columns in one"
    ):
        masked(tmp_path / "out/of=1", tmp_path / "two")


@pytest.mark.parametrize("end", ["parquet", "arrow", "csv"])
def test_sums_about_zero_and_of_single_precision_are_told_from_moved_rows(tmp_path, end):
    random = np.random.default_rng(4)
    x = np.round(64.0 * random.normal(size=6_000)).astype(np.float32) / np.float32(64.0)
    source = tmp_path / "a.parquet"
    target = tmp_path / f"b.{end}"
    write(pa.table({"x": x, "y": x + random.normal(size=x.size)}), source)

    scheme = cm.ConditionalMasking(0.6, 0.5, step=1 / 64)
    release = cm.mask_file(source, target, {"x": scheme}, rng=5, part_rows=1_000, accept="all")

    # by chance in one of 10^6: the standard error of the correlation is .03
    assert abs(release["x"].correlation("y") - np.sqrt(0.5)) < 0.15


@pytest.mark.parametrize(
    "other",
    ["id;pay\n1;2,5\n", "pay,id\n2.5,1\n"],
)
def test_text_written_in_several_ways_is_refused(tmp_path, other):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,pay\n1,2.5\n")
    (tmp_path / "in" / "b.csv").write_text(other)

    with pytest.raises(
        ValueError, match=r"files with one header, written in one way, got 'a\.csv and b\.csv'"
    ):
        masked(tmp_path / "in", tmp_path / "out")


def test_rare_values_are_looked_at_in_whole_parts_and_not_in_a_sample(tmp_path):
    random = np.random.default_rng(0)
    pay = random.lognormal(8.0, 0.4, 60_000).round()
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=5)
    for name, clear in (("alone", {}), ("beside", {"firm": np.repeat(np.arange(10_000), 6)})):
        write(pa.table({"pay": pay, **clear}), tmp_path / f"{name}.parquet")
        source = tmp_path / f"{name}.parquet"
        target = tmp_path / f"{name}_out.parquet"
        release = cm.mask_file(source, target, {"pay": scheme}, rng=5, part_rows=20_000)
        assert release.parts == (20_000,) * 3
