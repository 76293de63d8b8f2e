"""Releases in files as Dask frames. Oracle: pandas, file by file in the order of the release."""

import os

import dask
import many_files
import numpy as np
import pandas as pd
import partitioned
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
import condmask.dask
from condmask.files.atomic import FileError


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def folder(tmp_path):
    _, release = partitioned.released(partitioned.people())
    release.write(tmp_path / "released")
    return tmp_path / "released"


def test_the_records_are_those_of_the_release_in_its_order(folder):
    release, alone = condmask.dask.read_release(folder), cm.read_release(folder)

    assert (release.records, release.schemes, release.origins) == (4_000, alone.schemes, alone.origins)
    assert list(release.data.columns) == list(partitioned.people(5).columns)
    data = release.data.compute()
    for name in ("income", "bonus", "age"):
        assert np.array_equal(data[name], alone._columns.numbers(name), equal_nan=True)
    for name in ("region", "kind"):
        found = data[name].astype(object).where(data[name].notna(), None).tolist()
        assert found == cm.files.read.read_labels(folder, name).tolist()


@pytest.mark.parametrize("named", [
    lambda k: f"b{k}.parquet", lambda k: f"{'abc'[k % 3]}/{k}.parquet", lambda k: f"x{k % 2}y{k}.parquet",
])  # fmt: skip
def test_files_of_any_name_stay_in_order(tmp_path, named):
    table = many_files.people(1_200)
    for k in range(12):
        many_files.write(table.slice(100 * k, 100), tmp_path / "people" / named(k))
    scheme = cm.ConditionalMasking(0.6, 50.0, decimals=2, missing=-99_999)
    cm.mask_file(tmp_path / "people", tmp_path / "released", {"income": scheme}, accept_visible_coins=True)
    data = condmask.dask.read_release(tmp_path / "released").data
    expected = pa.concat_tables(map(pq.read_table, sorted(tmp_path.glob("released/**/*.parquet"))))
    assert data["id"].compute().tolist() == expected["id"].to_pylist()
    assert data["income"].compute().tolist() == expected["income"].to_pylist()


def test_one_file_is_read_too_and_text_is_refused(tmp_path):
    frame = partitioned.people()
    alone, _ = partitioned.released(frame)
    alone.write(tmp_path / "a.parquet")
    assert (
        condmask.dask.read_release(tmp_path / "a.parquet").data["age"].compute().tolist()
        == frame["age"].tolist()
    )
    alone.write(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"path must be a release in Parquet, got .*a\.csv"):
        condmask.dask.read_release(tmp_path / "a.csv")


def test_an_index_comes_back_as_a_column_as_on_one_machine(tmp_path):
    frame = partitioned.people(300)
    frame.index = pd.Index([f"p{k}" for k in range(300)], name="who")
    _, release = partitioned.released(frame, {"income": partitioned.SCHEME}, cuts=[100])
    release.write(tmp_path / "released")
    data = condmask.dask.read_release(tmp_path / "released").data
    assert data["who"].compute().tolist() == cm.files.read.read_labels(tmp_path / "released", "who").tolist()


def test_files_that_are_not_the_ones_released_are_refused(folder):
    names = sorted(path.name for path in folder.glob("part-*"))
    os.rename(folder / names[0], folder / "x")
    os.rename(folder / names[-1], folder / names[0])
    os.rename(folder / "x", folder / names[-1])
    with pytest.raises(FileError, match=rf"{names[0]} was {names[-1]} there"):
        condmask.dask.read_release(folder)
    (folder / names[0]).unlink()
    with pytest.raises(FileError, match="is not the folder that was released"):
        condmask.dask.read_release(folder)


def test_what_was_read_is_not_written(folder, tmp_path):
    release = condmask.dask.read_release(folder)
    with pytest.raises(ValueError, match="this one is in files already"):
        release.write(tmp_path / "again")


def test_a_folder_that_is_no_release_is_refused(tmp_path):
    pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="holds no scheme"):
        condmask.dask.read_release(tmp_path)
