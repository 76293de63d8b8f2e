"""Columns of a release on disk, in batches: the same bits as from memory, and no file but the one released.

Oracle: the same columns as arrays in memory, and estimates from them.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask import frames
from condmask.engines import counting
from condmask.files import parquet as files_parquet
from condmask.files.parquet import ParquetFile
from condmask.releases import file_columns
from condmask.releases.file_columns import FileColumns

pytestmark = pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
N = 3_000


def people():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"income": rng.lognormal(6.0, 0.7, N).round(), "bonus": rng.normal(100.0, 20.0, N).round()}
    )
    frame["region"] = rng.choice(["south", "north", "east"], N)
    frame["age"] = rng.integers(18, 80, N)
    return frame


@pytest.fixture
def tiny(monkeypatch):
    """Every column is a large one."""
    monkeypatch.setattr(file_columns, "LARGE", 1)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("large", [False, True])
def test_columns_are_those_of_the_file(suffix, large, tmp_path, monkeypatch):
    frame = people()
    frame.loc[::7, "region"] = None
    if large:
        monkeypatch.setattr(file_columns, "LARGE", 1)
    path = tmp_path / f"a{suffix}"
    write(frame, path)
    columns = FileColumns(path, N)
    assert np.array_equal(columns.numbers("income"), frame["income"])
    for labels in (columns.labels("region"), columns.strata("region")):
        texts = [labels.distinct[k] for k in labels.code.tolist()]
        missing = pd.isna(frame["region"])
        assert {text for text, gap in zip(texts, missing, strict=True) if gap} <= {None, "", "None"}
        assert np.array_equal(np.array(texts)[~missing], frame["region"][~missing])
    assert labels.distinct == sorted(labels.distinct)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".arrow":
        frame.to_feather(path)
    else:
        frame.to_parquet(path)


def test_labels_as_codes_make_the_groups_of_labels():
    values = np.array(["b", None, "a", "b", np.nan, 3], dtype=object)
    code, names = frames.groups(values, "labels", 6)
    coded = frames.Labels(np.array([1, 0, 2, 1, -1, 3], dtype=np.int32), [None, "b", "a", 3])
    again, names_again = frames.groups(coded, "labels", 6)
    assert names_again == names
    assert np.array_equal(again, code)
    with pytest.raises(ValueError, match="labels must be as long as z, 7 values, got 6"):
        frames.groups(coded, "labels", 7)


@pytest.mark.usefixtures("tiny")
def test_a_file_that_was_changed_is_refused_by_name(tmp_path):
    path = tmp_path / "a.parquet"
    people().to_parquet(path)
    columns = FileColumns(path, N)
    columns.numbers("income")
    people().sample(frac=1.0, random_state=1).to_parquet(path)
    with pytest.raises(cm.FileError, match=r"a\.parquet was changed after its release was read"):
        columns.numbers("bonus")


SCHEMES = {
    "on a grid": cm.ConditionalMasking(0.6, 200.0),
    "whole numbers, a code": cm.ConditionalMasking(0.6, 200.0, decimals=0, missing=-999.0),
    "strata": cm.ConditionalMasking(0.6, 200.0, decimals=0, strata="region"),
    "donors drawn anew": cm.ConditionalMasking(0.6, 200.0, strata="region", donors="sample"),
    "without a grid": cm.ConditionalMasking(0.6, 200.0, step=0),
    "in another order": cm.ConditionalMasking(0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=3),
    "noise alone": cm.AdditiveNoise(200.0),
}


@pytest.mark.usefixtures("unaudited")
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("workers", [1, 2])
def test_estimates_in_batches_have_the_bits_of_those_in_memory(name, suffix, workers, tmp_path, monkeypatch):
    frame, scheme = people(), SCHEMES[name]
    if "code" in name:
        frame.loc[::9, "income"] = -999.0
    release = cm.mask_table(frame, {"income": scheme}, rng=1, nan_policy="omit")
    release.write(tmp_path / f"a{suffix}", ledger=False)
    whole = release["income"]

    monkeypatch.setattr(file_columns, "LARGE", 1000)
    batches = cm.read_release(tmp_path / f"a{suffix}", "income", workers=workers)

    assert batches.n == whole.n
    if name == "noise alone":
        assert (batches.mean(), batches.std()) == (whole.mean(), whole.std())
    else:
        assert str(batches.summary(points=[500.0])) == str(whole.summary(points=[500.0]))
        for target in ("population", "file"):
            one, other = (each.quantile_interval([0.2, 0.5], target=target) for each in (batches, whole))
            assert np.array_equal(one.low, other.low)
            assert np.array_equal(one.standard_error, other.standard_error)
    assert np.array_equal(batches.pseudo_values(), whole.pseudo_values(), equal_nan=True)
    assert batches.correlation("age") == whole.correlation("age")
    assert str(batches.group_means("region")) == str(whole.group_means("region"))


@pytest.mark.usefixtures("unaudited", "tiny")
def test_patterns_of_gaps_and_float32_are_read_in_batches(tmp_path, monkeypatch):
    frame = people().astype({"bonus": np.float32})
    frame.loc[::5, "income"] = np.nan
    frame.loc[::8, "bonus"] = np.nan
    schemes = {
        "income": cm.ConditionalMasking(0.6, 200.0, decimals=0),
        "bonus": cm.ConditionalMasking(0.6, 10.0, decimals=1),
    }
    release = cm.mask_table(frame, schemes, rng=1, nan_policy="omit")
    release.write(tmp_path / "a.parquet", ledger=False)
    batches = cm.read_release(tmp_path / "a.parquet")
    for name in schemes:
        assert str(batches[name].summary()) == str(release[name].summary())
    assert batches["income"].correlation("bonus") == release["income"].correlation("bonus")


@pytest.mark.usefixtures("unaudited")
def test_values_on_too_many_points_are_sorted(tmp_path, monkeypatch):
    scheme = cm.ConditionalMasking(0.6, 200.0, decimals=4)
    release = cm.mask_table(people()[["income"]] + 0.0001, {"income": scheme}, rng=1)
    release.write(tmp_path / "a.parquet", ledger=False)
    counted = cm.read_release(tmp_path / "a.parquet", "income")
    monkeypatch.setattr(file_columns, "LARGE", 1000)
    monkeypatch.setattr(counting, "MERGED", 10)
    monkeypatch.setattr(counting, "ROOM", 10)
    monkeypatch.setattr(counting, "MOST_POINTS", 100)
    sorted_ = cm.read_release(tmp_path / "a.parquet", "income")
    assert str(sorted_.summary()) == str(counted.summary())


@pytest.mark.usefixtures("unaudited", "tiny")
def test_records_are_read_when_another_column_is_asked_for(tmp_path, monkeypatch):
    release = cm.mask_table(people(), {"income": cm.ConditionalMasking(0.6, 200.0, strata="region")}, rng=1)
    release.write(tmp_path / "a.parquet", ledger=False)
    reads = []
    read = ParquetFile.parts

    def parts(table, names, labels=()):
        reads.extend([*names, *labels])
        yield from read(table, names, labels)

    monkeypatch.setattr(ParquetFile, "parts", parts)
    estimate = cm.read_release(tmp_path / "a.parquet")["income"]
    estimate.summary()
    assert reads == ["income"]
    for _ in range(2):
        estimate.correlation("age")
    estimate.group_means("region")
    assert sorted(set(reads)) == ["age", "income", "region"]
    assert (reads.count("income"), reads.count("region")) == (2, 1)


@pytest.mark.usefixtures("unaudited", "tiny")
def test_records_of_another_file_are_refused(tmp_path):
    release = cm.mask_table(people(), {"income": cm.ConditionalMasking(0.6, 200.0)}, rng=1)
    release.write(tmp_path / "a.parquet", ledger=False)
    estimate = cm.read_release(tmp_path / "a.parquet", "income")
    estimate.summary()
    release.write(tmp_path / "a.parquet", ledger=False, overwrite=True)
    with pytest.raises(cm.FileError, match=r"a\.parquet was changed after its release was read"):
        estimate.correlation("age")


@pytest.mark.usefixtures("unaudited", "tiny")
def test_a_value_off_the_grid_is_named_by_its_place_in_the_file(tmp_path, monkeypatch):
    release = cm.mask_table(people(), {"income": cm.ConditionalMasking(0.6, 200.0, decimals=0)}, rng=1)
    release.write(tmp_path / "a.parquet", ledger=False)
    table = pq.read_table(tmp_path / "a.parquet")
    z = table["income"].to_numpy().copy()
    z[2_500] = 0.5
    table = table.set_column(0, "income", pa.array(z)).replace_schema_metadata(table.schema.metadata)
    pq.write_table(table, tmp_path / "b.parquet")
    monkeypatch.setattr(files_parquet, "BLOCK", 1000)
    with pytest.raises(ValueError, match=r"got 0\.5 at position 2500 \(1 such values\)"):
        cm.read_release(tmp_path / "b.parquet", "income")
