"""Samples of large files are from all over them, and read no more than they have to.

Oracle: the rows themselves, which are numbered in a column.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from condmask._blocks import evenly_spaced
from condmask.files import csv_scan, sampling
from condmask.files.read import open_table

N = 6_000
ROWS = evenly_spaced(N, 100)


def sample_of(path):
    table = open_table(path)
    for _ in table.parts(["row"]):
        pass
    return table.sample(["row", "other"], ROWS)


def assert_spread(sample):
    """The rows are those that are named, about as many as were wanted, with no large gap between them."""
    assert sample.columns["row"].tolist() == sample.rows.tolist()
    assert sample.columns["other"].tolist() == (-sample.rows).tolist()
    assert 0.5 * ROWS.size <= sample.rows.size <= 1.5 * ROWS.size
    assert (np.diff(np.concatenate([[0], sample.rows, [N]])) <= N / 8).all()
    assert (np.diff(sample.rows) > 0).all()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("size", [2, 300])
def test_beginnings_of_pieces_are_read_where_all_would_be_too_much(tmp_path, monkeypatch, suffix, size):
    monkeypatch.setattr(sampling, "MOST_VALUES", 400)
    table, path = pa.table({"row": np.arange(N), "other": -np.arange(N)}), tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path, row_group_size=size)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=size)

    assert_spread(sample_of(path))


@pytest.mark.parametrize("chunk", [1 << 10, 1 << 13])
def test_text_has_stretches_of_runs(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)
    monkeypatch.setattr(csv_scan, "STRETCH", 200)
    path = tmp_path / "a.csv"
    path.write_text("text,row,other\n" + "".join(f'"a\n{k}",{k},{-k}\n' for k in range(N)))

    assert_spread(sample_of(path))


def test_no_more_stretches_are_kept_than_so_many(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_scan, "CHUNK", 64)
    monkeypatch.setattr(csv_scan, "MOST_STRETCHES", 5)
    monkeypatch.setattr(csv_scan, "STRETCH", 20)
    path = tmp_path / "a.csv"
    path.write_text("row,other\n" + "".join(f"{k},{-k}\n" for k in range(N)))
    table = open_table(path)
    stretches = csv_scan.Stretches()

    for part in csv_scan.scan(path, table.dialect, [0]):
        stretches.add(part)
        stretches.add(part)  # as by another pass
        assert 1 <= len(stretches.kept) <= 5

    first = [stretch.row for stretch in stretches.kept]
    assert len(first) >= 3
    assert max(np.diff([*first, N])) < N / 2
    for stretch in stretches.kept:
        whole = csv_scan.find(stretch.text, table.dialect, [0], len(stretch.text))[0]
        assert len(whole) == stretch.records > 0
