"""Tables of any format give the words of their values. Oracle: the other formats."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from condmask.files.csv_format import CsvFormat
from condmask.files.read import open_table
from condmask.releases import record_words as module
from condmask.releases.record_words import batch_words, sketch_of_file, table_words
from condmask.releases.value_hash import as_words

N = 1_000
RNG = np.random.default_rng(1)
TABLE = pa.table({
    "income": RNG.lognormal(8, 1, N),
    "age": pa.array(RNG.integers(0, 90, N), pa.int8()),
    "region": np.array(["north", "the \"west\"", "Süd, Ost"])[RNG.integers(0, 3, N)],
    "large": pa.array([2**60 + k for k in range(N)]),
    "gap": pa.array([None if k % 3 else k / 4 for k in range(N)]),
    "yes": RNG.random(N) < 0.5,
    "code": [f"{k:03}" for k in range(N)],
})  # fmt: skip


def words_of(path, names, csv=None):
    table = open_table(path, csv)
    if csv is not None or path.suffix == ".csv":
        list(table.parts(["income"]))
    parts = list(table_words(table, names))
    return {name: np.concatenate([as_words(part[name]) for _, part in parts]) for name in names}


@pytest.fixture
def plain(tmp_path):
    pq.write_table(TABLE, tmp_path / "people.parquet", row_group_size=300)
    return tmp_path / "people.parquet"


@pytest.mark.parametrize("form", ["arrow", "csv", "german.csv", "dictionary.parquet"])
def test_formats_agree(plain, tmp_path, form):
    path, csv = tmp_path / f"other.{form}", None
    frame = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    if form == "arrow":
        with pa.ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif form == "csv":
        frame.to_csv(path, index=False)
    elif form == "german.csv":
        csv = CsvFormat(delimiter=";", decimal=",")
        frame.to_csv(path, index=False, sep=";", decimal=",")
    else:
        columns = {name: TABLE[name].dictionary_encode() for name in TABLE.column_names}
        pq.write_table(pa.table(columns), path)
    names = [name for name in TABLE.column_names if not (form.endswith("csv") and name == "region")]

    one, other = words_of(plain, names), words_of(path, names, csv)
    for name in names:
        assert np.array_equal(one[name], other[name]), name


def test_quoted_text_is_the_text_inside(tmp_path, plain):
    path = tmp_path / "other.csv"
    keep = TABLE["region"].to_numpy() != 'the "west"'  # quotes within quotes stay as they are
    TABLE.to_pandas().to_csv(path, index=False)

    one, other = words_of(plain, ["region"])["region"], words_of(path, ["region"])["region"]
    assert np.array_equal(one[keep], other[keep])


def test_times_are_days_and_lists_are_left_out():
    day = datetime.date(2024, 2, 29)
    batch = pa.record_batch({
        "date": pa.array([day, None]),
        "time": pa.array([day, None]).cast(pa.timestamp("ns")),
        "list": pa.array([[1], [2]]),
        "nothing": pa.nulls(2),
    })  # fmt: skip
    ((_, words),) = batch_words([batch], batch.schema.names)

    assert list(words) == ["date", "time", "nothing"]
    assert np.array_equal(as_words(words["date"]), as_words(words["time"]))
    assert as_words(words["date"])[1] == words["nothing"][0]


def test_small_and_large_dictionaries_are_the_same(monkeypatch):
    batch = pa.record_batch({"x": TABLE["region"].combine_chunks().dictionary_encode()})
    ((_, once),) = batch_words([batch], ["x"])
    monkeypatch.setattr(module, "REPEATED", 10**9)
    ((_, each),) = batch_words([batch], ["x"])

    assert np.array_equal(once["x"], each["x"])


def test_a_file_of_one_column_and_one_that_cannot_be_read(plain, monkeypatch):
    income = {"income": TABLE["income"].to_numpy()}
    kinds = {"income": "float64"}

    def fails(*_):
        raise ValueError("cannot be read")
        yield

    table = open_table(Path(plain))
    whole = sketch_of_file(table, income, kinds)
    monkeypatch.setattr(module, "table_words", fails)
    alone = sketch_of_file(table, income, kinds)
    assert (whole.records, alone.records) == (N, N)
    assert len(whole.samples) > 4
    monkeypatch.undo()
    path = plain.with_name("one.parquet")
    pq.write_table(TABLE.select(["income"]), path)
    only = sketch_of_file(open_table(path), income, kinds)
    assert only.records == N
    tokens = {tuple(sample.tokens.tolist()) for sample in only.samples}
    assert tokens <= {tuple(sample.tokens.tolist()) for sample in whole.samples}
