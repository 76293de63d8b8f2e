"""Columns of a release on disk, in batches: the same bits as from memory, and no file but the one released.

Oracle: the same columns as arrays in memory, and estimates from them.
"""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask import _scratch, frames
from condmask.releases.file_columns import FileColumns

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
    """Every array is a large one."""
    monkeypatch.setattr(_scratch, "LARGE", 1)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("large", [False, True])
def test_columns_are_those_of_the_file(suffix, large, tmp_path, monkeypatch):
    frame = people()
    frame.loc[::7, "region"] = None
    if large:
        monkeypatch.setattr(_scratch, "LARGE", 1)
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
    assert isinstance(columns.numbers("income").base, np.memmap) == large


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
    coded = frames.Labels(np.array([1, 0, 2, 1, 0, 3], dtype=np.int32), [None, "b", "a", 3])
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
