"""Folders as Dask and others write them: numbered files in one order for all readers, and no row
numbers.

Oracle: the table, cut into files.
"""

import os
import shutil
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from worlds import JOINT, assert_same, in_memory, masked, people, read

import condmask as cm
from condmask.files.names import padded

N = 2_600
TABLE = people(N).select(["id", "pay", "age"])
SIZE = 200  # with ten gaps, the fewest of a pool


def numbered(folder, name="part.{}.parquet", index=None):
    """A folder of 13 files, as Dask writes them."""
    folder.mkdir()
    for k in range(13):
        frame = TABLE.slice(k * SIZE, SIZE).to_pandas()
        if index is not None:
            frame.index = pd.RangeIndex(k * SIZE, (k + 1) * SIZE).rename(index)
            pq.write_table(
                TABLE.schema.empty_table().from_pandas(frame, preserve_index=True),
                folder / name.format(k),
            )
        else:
            pq.write_table(TABLE.slice(k * SIZE, SIZE), folder / name.format(k))
    return folder


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["part.0.csv", "part.9.csv"], ["part.0.csv", "part.9.csv"]),
        (["part.2.csv", "part.10.csv"], ["part.02.csv", "part.10.csv"]),
        (
            ["a/2.csv.gz", "a/10.csv.gz", "b/1.csv.gz"],
            ["a/02.csv.gz", "a/10.csv.gz", "b/1.csv.gz"],
        ),
        (["y=2/p.csv", "y=10/p.csv"], ["y=2/p.csv", "y=10/p.csv"]),
        (
            ["2024-2.csv", "2024-10.csv", "2025-1.csv"],
            ["2024-02.csv", "2024-10.csv", "2025-1.csv"],
        ),
        (["p1.csv", "p01.csv", "p10.csv"], ["p1.csv", "p01.csv", "p10.csv"]),
        (["one.csv", "two.csv"], ["one.csv", "two.csv"]),
        (
            ["part-00000-9f-c000.csv", "part-00001-a1-c000.csv"],
            ["part-00000-9f-c000.csv", "part-00001-a1-c000.csv"],
        ),
    ],
)
def test_numbers_that_differ_in_length_get_zeros(names, expected):
    assert padded(names) == expected


def test_a_release_of_numbered_files_has_the_order_of_numbers_for_all_readers(tmp_path):
    source = numbered(tmp_path / "in")
    release = masked(source, tmp_path / "out")
    expected = in_memory(TABLE)
    ids = TABLE["id"].to_pylist()

    names = sorted(name for name in os.listdir(tmp_path / "out") if not name.startswith("_"))
    assert names == [f"part.{k:02}.parquet" for k in range(13)]
    for name in JOINT:
        assert_same(pq.read_table(tmp_path / "out")[name], expected[name])
    assert pd.read_parquet(tmp_path / "out")["id"].tolist() == ids
    assert pl.read_parquet(tmp_path / "out/*.parquet")["id"].to_list() == ids
    for place in (source, source / "*.parquet", tmp_path / "out"):
        assert cm.read_column(place, "id").tolist() == ids
    if find_spec("duckdb"):  # which the lowest versions do without
        import duckdb

        rows = duckdb.sql(f"select id from '{tmp_path}/out/*.parquet'").fetchall()
        assert [row[0] for row in rows] == ids
    assert release["pay"].correlation("age") == cm.read_release(tmp_path / "out")[
        "pay"
    ].correlation("age")


def test_parts_that_were_put_into_another_order_are_noticed_where_relations_need_it(tmp_path):
    masked(numbered(tmp_path / "in"), tmp_path / "out", part_rows=SIZE)
    assert len(cm.read_release(tmp_path / "out").parts) == 13
    whole = cm.read_release(tmp_path / "out")["pay"]
    mean = whole.mean()
    correlation = whole.correlation("age")
    for k in range(13):
        os.rename(tmp_path / f"out/part.{k:02}.parquet", tmp_path / f"out/part.{k}.parquet")

    moved = cm.read_release(tmp_path / "out")["pay"]
    assert moved.mean() == pytest.approx(mean, rel=1e-12)
    with pytest.raises(
        ValueError, match=r"^pay was masked in 13 parts, and rows were moved or left out since"
    ):
        moved.correlation("age")
    assert np.isfinite(correlation)


def test_older_releases_without_zeros_are_read_in_the_order_in_which_they_were_masked(tmp_path):
    masked(numbered(tmp_path / "in", "{:02}.parquet"), tmp_path / "out", part_rows=SIZE)
    expected = cm.read_release(tmp_path / "out")["pay"].correlation("age")
    old = sorted(f"part.{k}.parquet" for k in range(13))  # part.10 before part.2
    for k, name in enumerate(old):
        os.rename(tmp_path / f"out/{k:02}.parquet", tmp_path / "out" / name)

    assert cm.read_release(tmp_path / "out")["pay"].correlation("age") == expected


@pytest.mark.parametrize("options", [{}, {"part_rows": 500}])
def test_the_row_numbers_of_dask_are_left_out(tmp_path, options):
    source = numbered(tmp_path / "in", index="__null_dask_index__")
    assert "__null_dask_index__" in pq.read_schema(source / "part.0.parquet").names
    masked(source, tmp_path / "out", **options)
    shutil.copy(source / "part.0.parquet", tmp_path / "one.parquet")
    masked(tmp_path / "one.parquet", tmp_path / "single.parquet", strata=None)

    for path in (*sorted((tmp_path / "out").glob("*.parquet")), tmp_path / "single.parquet"):
        assert read(path).schema.names == ["id", "pay", "age"]
        assert b"__null_dask_index__" not in path.read_bytes()
    found = pd.read_parquet(tmp_path / "out")
    assert found["id"].tolist() == TABLE["id"].to_pylist()
    assert found.index.equals(pd.RangeIndex(N))


def test_an_index_with_a_name_stays(tmp_path):
    source = numbered(tmp_path / "in", index="row")
    masked(source, tmp_path / "out")
    assert pd.read_parquet(tmp_path / "out").index.name == "row"
