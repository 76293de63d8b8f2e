"""Many files are one table. Oracle: the same rows in one file, and readers that are not ours."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_files import FORMATS, people, write, write_parts

import condmask as cm
from condmask.files.arrow_folder import ArrowFiles
from condmask.files.read import open_table

pytestmark = pytest.mark.usefixtures("unaudited")

TABLE = people()
ADDITIVE = cm.ConditionalMasking(0.6, 50.0, decimals=2, strata="region", missing=-99_999)
MAPPED = cm.ConditionalMasking(0.6, 50.0, reverse_mapping=True, strata="region", missing=-99_999)
COLUMNS = {name: np.asarray(TABLE[name]) for name in ("income", "bonus")}


def masked(path, target, scheme, **options):
    schemes = dict.fromkeys(COLUMNS, scheme)
    return cm.mask_file(path, target, schemes, rng=3, **options)


@pytest.fixture(scope="module")
def in_one(tmp_path_factory):
    """The columns as they are masked in one file, by kind."""
    folder = tmp_path_factory.mktemp("one")
    source = write(TABLE, folder / "one.parquet")
    released = {}
    for scheme in (ADDITIVE, MAPPED):
        target = folder / f"{scheme.reverse_mapping}.parquet"
        masked(source, target, scheme)
        released[scheme.reverse_mapping] = {name: cm.read_column(target, name) for name in COLUMNS}
    return released


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("scheme", [ADDITIVE, MAPPED], ids=["additive", "mapped"])
def test_the_bits_are_those_of_one_file(tmp_path, in_one, suffix, scheme):
    source = write_parts(TABLE, tmp_path / "in", suffix, [0, 1, 1_234, 1_234, 1_999])
    masked(source, tmp_path / "out", scheme, workers=2)

    for name in COLUMNS:
        values = cm.read_column(tmp_path / "out", name)
        assert np.array_equal(values, in_one[scheme.reverse_mapping][name])
    sizes = [len(cm.read_column(path, "id")) for path in sorted((tmp_path / "out").glob(f"*.{suffix}"))]
    assert sizes == [0, 1, 1_233, 0, 765, 1]


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, 2_000), max_size=5), suffix=st.sampled_from(FORMATS))
def test_any_cut_gives_the_same_bits(in_one, cuts, suffix):
    with tempfile.TemporaryDirectory() as folder:
        source = write_parts(TABLE, Path(folder, "in"), suffix, cuts)
        masked(source, Path(folder, "out"), ADDITIVE)

        assert np.array_equal(cm.read_column(Path(folder, "out"), "bonus"), in_one[False]["bonus"])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_donors_within_files_are_those_of_a_column_that_names_them(tmp_path, suffix):
    source = write_parts(TABLE, tmp_path / "in", suffix, [500, 1_100])
    name = np.repeat([f"part-0000{k}.{suffix}" for k in range(3)], [500, 600, 900])
    one = write(TABLE.append_column("__filename", pa.array(name)), tmp_path / f"one.{suffix}")
    scheme = cm.ConditionalMasking(0.6, 50.0, decimals=2)
    within = cm.mask_file(source, tmp_path / "out", {"bonus": scheme}, strata="__filename", rng=3)
    cm.mask_file(one, tmp_path / f"masked.{suffix}", {"bonus": scheme}, strata="__filename", rng=3)

    assert np.array_equal(
        cm.read_column(tmp_path / "out", "bonus"), cm.read_column(tmp_path / f"masked.{suffix}", "bonus")
    )
    assert within["bonus"].mean() == cm.read_release(tmp_path / f"masked.{suffix}", "bonus").mean()


def by_year(parts, suffix):
    return [f"year={2000 + k}/place=a%20b{k}/part.{suffix}" for k in range(parts)]


@pytest.mark.parametrize("suffix", FORMATS)
def test_folders_of_hive_are_columns(tmp_path, suffix):
    source = write_parts(TABLE, tmp_path / "in", suffix, [500, 1_100], by_year)
    masked(source, tmp_path / "out", ADDITIVE)
    year = np.repeat([2000, 2001, 2002], [500, 600, 900])

    assert np.array_equal(cm.read_column(tmp_path / "out", "year"), year)
    assert list(cm.read_column(tmp_path / "out", "place"))[499:501] == ["a b0", "a b1"]
    groups = cm.read_release(tmp_path / "out", "bonus").group_means("year")
    labels = cm.read_release(tmp_path / "out", "bonus").group_means(year)
    assert [groups[k].estimate for k in groups] == [labels[k].estimate for k in labels]


NONE = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_folder_may_have_no_value(tmp_path, suffix):
    folders = ["k=1/z=x", f"k={NONE}/z={NONE}", "k=3/z=y"]
    source = write_parts(
        TABLE, tmp_path / "in", suffix, [500, 1_100], lambda *_: [f"{name}/a.{suffix}" for name in folders]
    )
    table = open_table(source)
    k = np.repeat([1, 3, np.nan], [500, 900, 600])

    assert np.array_equal(cm.read_column(source, "k"), k, equal_nan=True)
    assert {part.numbers["k"][1] for part in table.parts(["k"])} == {"int"}
    for _ in table.parts(["id"]):
        pass
    sample = table.sample(["k", "z"], np.array([0, 700, 1_500]))
    assert np.array_equal(sample.columns["k"], k[sample.rows], equal_nan=True)
    assert set(sample.columns["z"]) == {"x", "y", None}
    with pytest.raises(TypeError, match="z must be numeric, got text, in the names of the files"):
        next(table.parts(["z"]))


def test_one_file_has_no_strata_by_file(tmp_path):
    scheme = {"bonus": cm.ConditionalMasking(0.6, 50.0, strata="__filename")}
    with pytest.raises(ValueError, match=r"one.csv is one file, and strata by file"):
        cm.mask_file(write(TABLE, tmp_path / "one.csv"), tmp_path / "b.csv", scheme)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_sample_has_these_rows_of_all_files(tmp_path, suffix):
    table = open_table(write_parts(TABLE, tmp_path / "in", suffix, [0, 500, 1_100, 1_100], by_year))
    rows = np.array([0, 499, 500, 1_999])
    sample = table.sample(["year", "__filename", "id", "region"], rows)

    assert sample.rows.tolist() == sample.columns["id"].tolist() == rows.tolist()
    assert sample.columns["year"].tolist() == [2001, 2001, 2002, 2004]
    assert sample.columns["__filename"][0] == f"year=2001/place=a%20b1/part.{suffix}"
    assert sample.columns["region"].tolist() == np.asarray(TABLE["region"])[rows].tolist()


def test_a_sample_of_text_comes_from_all_files(tmp_path):
    table = open_table(write_parts(TABLE, tmp_path / "in", "csv", range(100, 2_000, 100)))
    for _ in table.parts([]):
        pass
    sample = table.sample(["id", "__filename"], np.arange(0, 2_000, 5))

    assert np.array_equal(sample.columns["id"], sample.rows)
    assert len(set(sample.columns["__filename"])) == 20
    assert all(
        name == f"part-{row // 100:05}.csv"
        for row, name in zip(sample.rows, sample.columns["__filename"], strict=True)
    )


def test_other_readers_read_the_same_table(tmp_path):
    source = write_parts(
        TABLE,
        tmp_path / "in",
        "parquet",
        [500, 1_100],
        lambda parts, suffix: [f"year={2000 + k}/part.{suffix}" for k in range(parts)],
    )
    masked(source, tmp_path / "out", ADDITIVE)
    year = np.repeat([2000, 2001, 2002], [500, 600, 900])
    bonus = cm.read_column(tmp_path / "out", "bonus")

    table = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    frames = [
        table.to_pandas(),
        pd.read_parquet(tmp_path / "out"),
        pl.read_parquet(tmp_path / "out/**/*.parquet", hive_partitioning=True).to_pandas(),
    ]
    for frame in frames:
        assert list(frame) == [*TABLE.column_names, "year"]
        assert np.array_equal(frame["bonus"], bonus)
        assert np.array_equal(frame["year"].astype(int), year)
        assert np.array_equal(frame["id"], TABLE["id"])


def test_a_column_of_names_is_never_masked_or_doubled(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [500], by_year)
    with pytest.raises(ValueError, match="year cannot be masked: the names of files"):
        cm.mask_file(source, tmp_path / "out", {"year": ADDITIVE})
    source = write_parts(
        TABLE, tmp_path / "b", "parquet", [500], lambda *_: ["id=1/a.parquet", "id=2/a.parquet"]
    )
    with pytest.raises(ValueError, match="'id' agrees with the names of their folders, got another"):
        open_table(source)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_column_may_stand_in_the_files_and_in_the_names_of_their_folders(tmp_path, suffix):
    """As where polars writes a folder for each value: it keeps the column."""
    year = np.repeat([2020, 2021], TABLE.num_rows // 2)
    table = TABLE.slice(0, year.size).append_column("year", pa.array(year))
    for k in (0, 1):
        path = tmp_path / "in" / f"year={2020 + k}" / f"a.{suffix}"
        path.parent.mkdir(parents=True)
        write(table.slice(k * year.size // 2, year.size // 2), path)

    with pytest.raises(ValueError, match="year cannot be masked: the names of files"):
        cm.mask_file(tmp_path / "in", tmp_path / "out", {"year": ADDITIVE})
    cm.mask_file(tmp_path / "in", tmp_path / "out", {"bonus": ADDITIVE})

    released = open_table(tmp_path / "out")
    assert released.names.count("year") == 1
    assert np.array_equal(cm.read_column(tmp_path / "out", "year"), year)
    (tmp_path / "in/year=2021").rename(tmp_path / "in/year=2022")
    with pytest.raises(ValueError, match=f"got another value in year=2022/a.{suffix}: rename one"):
        cm.mask_file(tmp_path / "in", tmp_path / "other", {"bonus": ADDITIVE})


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_errors_name_the_file_and_the_row(tmp_path, suffix):
    values = np.asarray(TABLE["bonus"]).copy()
    values[1_100] = np.nan
    table = TABLE.set_column(2, "bonus", pa.array(values, from_pandas=True))
    source = write_parts(table, tmp_path / "in", suffix, [500, 1_100, 1_100])
    where = "in line 2 of part-00003.csv" if suffix == "csv" else "at position 0 of part-00003.parquet"

    with pytest.raises(ValueError, match=f"bonus .*{where}"):
        cm.mask_file(source, tmp_path / "out", {"bonus": cm.ConditionalMasking(0.6, 50.0)})


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("other", [["id", "bonus", "income", "region"], ["id", "income"]])
def test_other_columns_are_refused(tmp_path, suffix, other):
    source = write_parts(TABLE, tmp_path / "in", suffix, [])
    write(TABLE.select(other), source / f"z.{suffix}")

    with pytest.raises(
        ValueError,
        match=rf"same columns, got as column [23] '.* in part-00000.{suffix} and .* in z.{suffix}",
    ):
        open_table(source)


def test_other_types_are_refused(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [])
    write(TABLE.set_column(0, "id", TABLE["id"].cast(pa.int32())), source / "z.parquet")

    with pytest.raises(
        ValueError, match=r"column 1 'id' \(int64\) in part-00000.parquet and 'id' \(int32\) in z.parquet"
    ):
        open_table(source)


def test_categories_may_differ_and_groups_be_none(tmp_path):
    regions = TABLE["region"].combine_chunks().dictionary_encode()
    table = TABLE.set_column(
        3, "region", pa.DictionaryArray.from_arrays(regions.indices.cast(pa.int8()), regions.dictionary)
    )
    write(TABLE, tmp_path / "in/a.parquet")
    write(table, tmp_path / "in/b.parquet")
    integers = pa.schema([*TABLE.schema])
    with pq.ParquetWriter(tmp_path / "in/c.parquet", integers):
        pass  # no row group at all
    masked(tmp_path / "in", tmp_path / "out", ADDITIVE)

    assert cm.read_release(tmp_path / "out").records == 4_000
    assert pq.read_schema(tmp_path / "out/c.parquet").field("income").type == pa.float64()


def semicolons(rows, mark):
    return "id;x\n" + "".join(f"{k};{str(value).replace('.', mark)}\n" for k, value in rows)


def test_whole_numbers_take_the_mark_of_the_other_files(tmp_path):
    rng = np.random.default_rng(1)
    rows = [(k, round(float(v), 2)) for k, v in enumerate(rng.normal(50, 9, 300))]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text(semicolons([(k, int(v)) for k, v in rows], ","))
    (tmp_path / "in/b.csv").write_text(semicolons(rows, ","))
    cm.mask_file(tmp_path / "in", tmp_path / "out", {"x": cm.ConditionalMasking(0.6, 5.0, decimals=2)})

    assert "." not in (tmp_path / "out/a.csv").read_text()
    assert open_table(tmp_path / "out").original.decimal == ","


def test_files_written_otherwise_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text(semicolons([(1, 1.5)] * 200, ","))
    (tmp_path / "in/b.csv").write_text(semicolons([(1, 1.5)] * 200, "."))
    with pytest.raises(
        TypeError, match=r"x must be numeric with decimal commas, got a point .* in line 2 of b.csv"
    ):
        cm.mask_file(tmp_path / "in", tmp_path / "out", {"x": cm.ConditionalMasking(0.6, 5.0)})
    (tmp_path / "in/b.csv").write_text("id,x\n1,2\n")
    with pytest.raises(ValueError, match=r"one delimiter, got ';' in a.csv and ',' in b.csv"):
        open_table(tmp_path / "in")


def test_other_bytes_of_text_stay(tmp_path):
    (tmp_path / "in").mkdir()
    texts = [
        '"id","x"\r\n' + "".join(f'"{k}", 1{k % 7}.5\r\n' for k in range(first, first + 150))
        for first in (0, 150)
    ]
    texts[1] = texts[1].removesuffix("\r\n")
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / f"in/{name}.csv").write_bytes(text.encode())
    cm.mask_file(tmp_path / "in", tmp_path / "out", {"x": cm.ConditionalMasking(0.6, 5.0, decimals=1)})

    for name, text in zip("ab", texts, strict=True):
        lines = (tmp_path / f"out/{name}.csv").read_bytes().decode().split("\r\n")
        before = text.split("\r\n")
        assert [line.split(",")[0] for line in lines] == [line.split(",")[0] for line in before]


def test_quotes_of_some_numbers_in_one_file_are_gone_from_all(tmp_path):
    (tmp_path / "in").mkdir()
    for name, quote in (("a", '"'), ("b", "")):
        rows = "".join(f"{k},{quote * (k < 9)}1{k % 7}.5{quote * (k < 9)}\n" for k in range(150))
        (tmp_path / f"in/{name}.csv").write_text("id,x\n" + rows)
    cm.mask_file(tmp_path / "in", tmp_path / "out", {"x": cm.ConditionalMasking(0.6, 5.0, decimals=1)})

    assert not [path for path in (tmp_path / "out").glob("*.csv") if '"' in path.read_text()]


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        ("id,x\n1,2\n", "id, x\n1, 2\n", "one blanks after delimiters, got"),
        (b"id,x\n1,2\n", "id,x\n1,2\n".encode("utf-16"), "one encoding, got"),
    ],
)
def test_texts_of_other_forms_are_refused(tmp_path, first, other, message):
    (tmp_path / "in").mkdir()
    for name, text in (("a", first), ("b", other)):
        (tmp_path / f"in/{name}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        open_table(tmp_path / "in")


def test_a_column_that_cannot_be_read_in_one_file_is_no_part_of_a_sample(tmp_path, monkeypatch):
    table = open_table(write_parts(TABLE, tmp_path / "in", "parquet", [500]))
    columns_of = ArrowFiles._columns_of

    def unread(self, k, names, pieces):
        columns = columns_of(self, k, names, pieces)
        return columns if k == 0 else {name: columns[name] for name in columns if name != "region"}

    monkeypatch.setattr(ArrowFiles, "_columns_of", unread)
    assert list(table.sample(["id", "region"], np.array([0, 600])).columns) == ["id"]


def test_the_ledger_knows_records_in_many_files(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [500], by_year)
    scheme = {"bonus": cm.ConditionalMasking(0.6, 50.0, decimals=2)}
    cm.mask_file(source, tmp_path / "out", scheme)

    with pytest.raises(cm.ReleaseError, match=r"a.csv shares 100% of its records with .*out"):
        cm.mask_file(write(TABLE, tmp_path / "one.csv"), tmp_path / "a.csv", scheme)


def test_another_column_of_a_released_folder_is_masked(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "csv", [500])
    schemes = {name: cm.ConditionalMasking(0.6, 50.0, decimals=2, missing=-99_999) for name in COLUMNS}
    cm.mask_file(source, tmp_path / "a", {"income": schemes["income"]}, rng=1)
    cm.mask_file(tmp_path / "a", tmp_path / "b", {"bonus": schemes["bonus"]}, rng=2)

    assert list(cm.read_release(tmp_path / "b")) == ["income", "bonus"]
    with pytest.raises(ValueError, match="bonus is masked already"):
        cm.mask_file(tmp_path / "b", tmp_path / "c", {"bonus": schemes["bonus"]})


def test_a_file_that_is_a_release_is_no_part(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [500])
    scheme = {"bonus": cm.ConditionalMasking(0.6, 50.0, decimals=2)}
    cm.mask_file(source / "part-00000.parquet", source / "z.parquet", scheme, rng=1)

    with pytest.raises(ValueError, match=r"z.parquet is a release by itself"):
        cm.mask_file(source, tmp_path / "out", scheme)


def test_notes_of_any_file_may_be_kept(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", [500])
    write(TABLE.replace_schema_metadata({"geo": "b"}), source / "z.parquet")
    masked(source, tmp_path / "out", ADDITIVE, keep_metadata=["geo"])

    with pytest.raises(ValueError, match="keep_metadata"):
        masked(source, tmp_path / "other", ADDITIVE, keep_metadata=["map"])
    assert open_table(source).notes() == ["geo"]
    assert pq.read_schema(tmp_path / "out/z.parquet").metadata[b"geo"] == b"b"
    assert b"geo" not in pq.read_schema(tmp_path / "out/part-00000.parquet").metadata


def test_few_descriptors_are_open_at_once(tmp_path):
    source = write_parts(TABLE, tmp_path / "in", "parquet", range(10, 2_000, 10))
    table = open_table(source)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    most = 0
    for _ in table.parts(["id"], ["region", "__filename"]):
        most = max(most, len(os.listdir("/proc/self/fd")) - before if before else 0)

    assert most < 10
