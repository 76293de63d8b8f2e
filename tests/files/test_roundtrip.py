"""Files in, files out: what is masked is what memory has, and all else comes back as it was.

Oracles: `mask_table` of the same table under the same key, and pyarrow, pandas, polars, DuckDB, fastparquet.
"""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from worlds import AGE, JOINT, KEY, PAY, assert_same, in_memory, masked, numbers, people, read, write

import condmask as cm

SCORE = cm.ConditionalMasking(0.6, 5.0, decimals=3)
ALL = {**JOINT, "score": SCORE, "euro": cm.ConditionalMasking(0.6, 500.0, decimals=2)}
TYPES = {"pay": pa.float64(), "age": pa.int64(), "score": pa.float32(), "euro": pa.decimal128(38, 2)}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("out", ["parquet", "arrow"])
def test_a_table_comes_back_with_its_types_nulls_and_order(tmp_path, form, out):
    table = people()
    source = write(table, tmp_path / f"a.{form}", row_group_size=77)
    release = masked(source, tmp_path / f"b.{out}", ALL)

    found = read(tmp_path / f"b.{out}")
    expected = in_memory(table, ALL)
    assert found.schema.names == table.schema.names
    for name in table.schema.names:
        if name in ALL:
            assert found.schema.field(name).type == TYPES[name]
            assert_same(found[name], expected[name])
            assert not np.array_equal(numbers(found[name]), numbers(table[name]), equal_nan=True)
        elif name == "region":
            assert pa.types.is_dictionary(found[name].type)
            assert found[name].to_pylist() == table[name].to_pylist()
        else:
            assert found.schema.field(name).type == table.schema.field(name).type
            assert found[name].equals(table[name])
    assert release.records == 600
    assert release.parts == (600,)
    assert dict(release.schemes) == ALL


def test_integers_with_noise_that_is_not_whole_become_float_and_mapped_ones_stay(tmp_path):
    source = write(people(), tmp_path / "a.parquet")
    masked(source, tmp_path / "b.parquet", {"age": cm.ConditionalMasking(0.6, 9.0, decimals=1)})
    masked(source, tmp_path / "c.parquet", {"age": cm.ConditionalMasking(0.6, 9.0, reverse_mapping=True)})

    assert read(tmp_path / "b.parquet").schema.field("age").type == pa.float64()
    mapped = read(tmp_path / "c.parquet")["age"]
    assert mapped.type == pa.int64()
    assert sorted(mapped.to_pylist()) == sorted(people()["age"].to_pylist())


def test_codecs_of_the_source_are_kept(tmp_path):
    codecs = dict.fromkeys(people().select(["id", "pay", "age", "note"]).schema.names, "zstd")
    codecs |= {"note": "gzip", "id": "none"}
    source = write(people().select(list(codecs)), tmp_path / "a.parquet", compression=codecs)
    masked(source, tmp_path / "b.parquet")

    group = pq.read_metadata(tmp_path / "b.parquet").row_group(0)
    columns = [group.column(k) for k in range(4)]
    found = {column.path_in_schema: column.compression for column in columns}
    assert found == {"id": "UNCOMPRESSED", "pay": "ZSTD", "age": "ZSTD", "note": "GZIP"}


def test_pandas_gets_its_index_and_types_back_but_no_attributes(tmp_path):
    frame = people().select(["id", "day", "pay", "region", "time"]).to_pandas().set_index("id")
    frame["hours"] = pd.array([None if k % 7 == 0 else k % 40 for k in range(600)], "Int64")
    frame["age"] = pd.array(np.random.default_rng(2).integers(18, 90, 600), "Int64")
    frame.iloc[:60:4, frame.columns.get_loc("age")] = None
    frame.columns.name = "what"
    frame.attrs["checked by"] = "us"
    frame.to_parquet(tmp_path / "a.parquet")
    masked(tmp_path / "a.parquet", tmp_path / "b.parquet")

    found = pd.read_parquet(tmp_path / "b.parquet")
    plain = frame.drop(columns=list(JOINT))
    pd.testing.assert_frame_equal(found.drop(columns=list(JOINT)), plain, check_freq=False)
    assert found.dtypes[["pay", "age"]].astype(str).to_dict() == {"pay": "float64", "age": "Int64"}
    assert found["age"].isna().tolist() == frame["age"].isna().tolist()
    assert found.attrs == {}


def by_duckdb(table, path):
    import duckdb  # which the lowest versions do without

    with duckdb.connect() as own:
        own.register("t", table)
        own.sql(f"copy t to '{path}' (format parquet, row_group_size 2048)")


def from_duckdb(path):
    import duckdb

    with duckdb.connect() as own:
        return own.sql(f"select * from read_parquet('{path}')").to_arrow_table()


def by_fastparquet(table, path):
    import fastparquet

    frame = table.to_pandas()
    fastparquet.write(str(path), frame.assign(id=frame["id"].astype(object)), compression="ZSTD")


def from_fastparquet(path):
    import fastparquet

    content = io.BytesIO(path.read_bytes())
    frame = fastparquet.ParquetFile("a", open_with=lambda *_: content).to_pandas()
    return pa.Table.from_pandas(frame, preserve_index=False)


PROGRAMS = {
    "DuckDB": (by_duckdb, from_duckdb),
    "fastparquet": (by_fastparquet, from_fastparquet),
    "polars": (
        lambda table, path: pl.from_arrow(table).write_parquet(path),
        lambda path: pl.read_parquet(path).to_arrow(),
    ),
    "pandas": (
        lambda table, path: table.to_pandas().to_parquet(path),
        lambda path: pa.Table.from_pandas(pd.read_parquet(path), preserve_index=False),
    ),
}


@pytest.mark.parametrize("writer", PROGRAMS)
def test_other_programs_write_what_is_read_and_read_what_is_written(tmp_path, writer):
    table = people(5_000).select(["id", "pay", "age", "yes" if writer != "fastparquet" else "score"])
    PROGRAMS[writer][0](table, tmp_path / "a.parquet")
    masked(tmp_path / "a.parquet", tmp_path / "b.parquet")

    expected = in_memory(table)
    for _, back in PROGRAMS.values():
        found = back(tmp_path / "b.parquet")
        assert found.schema.names == table.schema.names
        for name in JOINT:
            assert_same(found[name], expected[name])
        for name in (name for name in table.schema.names if name not in JOINT):
            assert found[name].to_pylist() == table[name].to_pylist()


def test_views_of_text_come_back_as_such(tmp_path):
    frame = pl.from_arrow(people().select(["pay", "region", "note"]))
    frame = frame.with_columns(pl.struct("note").alias("pair"), pl.concat_list("note").alias("list"))
    frame = frame.with_columns(pl.col("list").list.to_array(1).alias("array"))
    frame.write_ipc(tmp_path / "a.arrow", compat_level=pl.CompatLevel.newest())
    for options in ({"shuffle": True}, {"part_rows": 400}):
        release = masked(tmp_path / "a.arrow", tmp_path / "b.arrow", {"pay": PAY}, force=True, **options)
        assert read(release.path).schema.types == read(tmp_path / "a.arrow").schema.types
    assert pl.read_ipc(release.path).drop("pay").equals(frame.drop("pay"))


def test_notes_are_left_out_unless_they_are_kept_by_name(tmp_path):
    table = people().select(["id", "pay", "age"]).replace_schema_metadata({"geo": "{}", "made by": "us"})
    field = table.schema.field("id").with_metadata({"unit": "none", "geo": "x"})
    table = table.set_column(0, field, table["id"])
    field = table.schema.field("pay").with_metadata({"geo": "of pay"})
    table = table.set_column(1, field, table["pay"])
    source = write(table, tmp_path / "a.arrow")
    masked(source, tmp_path / "b.arrow")
    masked(source, tmp_path / "c.arrow", keep_metadata=["geo"])

    bare, kept = read(tmp_path / "b.arrow").schema, read(tmp_path / "c.arrow").schema
    assert set(bare.metadata) == {b"condmask"}
    assert kept.metadata[b"geo"] == b"{}"
    assert set(kept.metadata) == {b"condmask", b"geo"}
    assert [bare.field(name).metadata for name in bare.names] == [None, None, None]
    assert [kept.field(name).metadata for name in kept.names] == [{b"geo": b"x"}, None, None]
    with pytest.raises(ValueError, match=r"keep_metadata must name .* got 'other'; it has \['geo', "):
        masked(source, tmp_path / "d.arrow", keep_metadata=["other"])


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_a_masked_frame_is_written(tmp_path, form):
    table = people(5_000).select(["id", "pay", "age", "region"])
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        release = cm.mask_table(
            frame, JOINT, strata="region", rng=KEY, nan_policy="omit", accept_visible_coins=True
        )
        target = tmp_path / f"all.{form}"
        release.write(target, force=True, log=False)
        with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
            release.write(target, log=False)
        found = read(target)
        assert found["id"].to_pylist() == table["id"].to_pylist()
        for name in JOINT:
            assert_same(found[name], in_memory(table, strata="region")[name])
        again = cm.read_release(target)
        assert again["pay"].mean() == release["pay"].mean()
        assert again["pay"].correlation("age") == release["pay"].correlation("age")
        assert again["pay"].group_means("region") == release["pay"].group_means("region")


@pytest.mark.parametrize("make", [dict, pl.DataFrame, pa.table])
def test_gaps_that_are_nan_and_strata_of_any_kind_are_those_of_the_frame(tmp_path, make):
    random, n = np.random.default_rng(2), 900
    strata = {"zero": [0.0, -0.0, 1.0], "gap": [None, float("nan"), 1.0], "text": ["", None, "a"]}
    for kind, labels in strata.items():
        pay, group = random.lognormal(7.0, 0.5, n).round(2), [labels[k] for k in random.integers(0, 3, n)]
        pay[::9] = np.nan
        frame = make({"pay": pay, "age": random.normal(size=n), "group": group})
        scheme = {"pay": cm.ConditionalMasking(0.6, 500.0, decimals=2, strata="group")}
        release = cm.mask_table(frame, scheme, nan_policy="omit", accept_visible_coins=True)
        told = release["pay"].covariance("age")
        release.write(tmp_path / f"{kind}.parquet", log=False)
        assert cm.read_release(tmp_path / f"{kind}.parquet", "pay").covariance("age") == told
        with pytest.raises(cm.FileError, match="group has strata that are others in text"):
            release.write(tmp_path / f"{kind}.csv", log=False)
    scheme = {"pay": PAY}
    release = cm.mask_table(frame, scheme, nan_policy="omit", accept_visible_coins=True)
    release.write(tmp_path / "a.csv", log=False)
    assert cm.read_release(tmp_path / "a.csv", "pay").mean() == release["pay"].mean()


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_a_second_column_of_a_release_is_refused(tmp_path, form):
    source = write(people().select(["id", "pay", "age"]), tmp_path / f"a.{form}")
    masked(source, tmp_path / f"b.{form}", {"pay": PAY})

    with pytest.raises(ValueError, match=r"^pay is masked already in .*: mask all columns in one call"):
        masked(tmp_path / f"b.{form}", tmp_path / f"c.{form}", {"age": AGE})
    assert not (tmp_path / f"c.{form}").exists()
