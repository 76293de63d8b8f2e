"""What a table of any format gives; oracle: a count of the bytes and rows that are read, and pandas."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import condmask as cm
from condmask._blocks import in_stretches
from condmask.files import csv_format, recoding
from condmask.files.arrow import ArrowFile
from condmask.files.parquet import ParquetFile
from condmask.files.read import open_table

N = 20_000
SCHEMES = {"pay": cm.ConditionalMasking(0.6, 500.0, strata=("g", "h"))}


def table():
    random = np.random.default_rng(1)
    columns = {f"clear{k}": random.normal(size=N).round(6) for k in range(10)}
    groups = {name: np.array(["a", "b", "c"])[random.integers(0, 3, N)] for name in "gh"}
    return {"pay": random.lognormal(8.0, 0.5, N).round(2), **groups, **columns}


def write(path):
    if path.suffix == ".csv":
        columns = table()
        rows = zip(*(map(str, column.tolist()) for column in columns.values()), strict=True)
        path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    elif path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(table()), path, row_group_size=7_000)
    else:
        with pa.ipc.new_file(path, pa.table(table()).schema) as writer:
            writer.write_table(pa.table(table()), max_chunksize=7_000)
    return path


def mask(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        cm.mask_file(source, source.with_name("b" + source.suffix), SCHEMES, rng=1)


def test_text_is_read_twice_and_its_dialect_and_sample_from_the_beginning_once(tmp_path, monkeypatch):
    source = write(tmp_path / "a.csv")
    opens, counts = recoding.open_bytes, []

    def counted(path):
        file = opens(path)
        read = file.read

        class Counted:
            def read(self, size):
                data = read(size)
                counts.append(len(data))
                return data

            def __enter__(self):
                return self

            def __exit__(self, *_):
                file.close()

        return Counted()

    for module in (csv_format, recoding):
        monkeypatch.setattr(module, "open_bytes", counted)
    mask(source)

    # two passes, and what tells the dialect
    assert sum(counts) == 2 * source.stat().st_size + csv_format.SAMPLE


@pytest.mark.parametrize(("suffix", "kind"), [("parquet", ParquetFile), ("arrow", ArrowFile)])
def test_columns_are_read_once_before_they_are_rewritten(tmp_path, monkeypatch, suffix, kind):
    source = write(tmp_path / f"a.{suffix}")
    batches, counts = kind._batches, []

    def counted(self, names, labels):
        for batch in batches(self, names, labels):
            counts.append((len(names), batch.num_rows))
            yield batch

    monkeypatch.setattr(kind, "_batches", counted)
    mask(source)

    assert sum(rows for names, rows in counts if names == 3) == N  # what is masked, with its strata
    assert {names for names, _ in counts} == {3}  # the sample takes rows of others


# --- the sample ---


def frame():
    random = np.random.default_rng(2)
    return pa.table({
        "whole": pa.array([None, *range(1, 50)], pa.int64()),
        "text": pa.array([f"x{k}" for k in range(50)]),
        "number": random.normal(size=50),
        "large": pa.array([2**60] * 50, pa.int64()),
    })  # fmt: skip


@pytest.mark.parametrize("kind", ["a.parquet", "a.arrow", "a.csv"])
@pytest.mark.parametrize("rows", [7, 50])
def test_a_sample_has_rows_from_all_over_the_file(tmp_path, kind, rows):
    columns = frame()
    path = tmp_path / kind
    if kind == "a.parquet":
        pa.parquet.write_table(columns, path, row_group_size=3)
    elif kind == "a.arrow":
        with pa.ipc.new_file(path, columns.schema) as writer:
            writer.write_table(columns, max_chunksize=3)
    else:
        pa.csv.write_csv(columns, path)

    sample = open_table(path).sample(["number", "text", "large", "whole"], in_stretches(50, rows))

    assert sample.rows.tolist() == in_stretches(50, rows).tolist()
    assert list(sample.columns) == ["number", "text", "large", "whole"]
    expected = columns.to_pandas().iloc[sample.rows]
    for name in ("number", "whole"):
        assert np.array_equal(sample.columns[name], expected[name].to_numpy(), equal_nan=True)
    assert [value or None for value in sample.columns["text"]] == [
        value or None for value in expected["text"]
    ]
    assert [int(value) for value in sample.columns["large"]] == expected["large"].tolist()


def test_a_sample_leaves_out_columns_with_text_after_a_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b,c\n1,"x"y,3\n2,z,4\n')

    sample = open_table(path).sample(["a", "b", "c"], np.arange(2)).columns

    assert {name: values.tolist() for name, values in sample.items()} == {"a": [1.0, 2.0], "c": [3.0, 4.0]}


def test_a_sample_leaves_out_columns_that_cannot_be_decoded(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {name: np.arange(100.0) * k for k, name in enumerate("abc", 1)}
    pa.parquet.write_table(pa.table(columns), path, use_dictionary=False, compression="none")
    data = bytearray(path.read_bytes())
    start = pa.parquet.read_metadata(path).row_group(0).column(1).data_page_offset
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)

    sample = open_table(path).sample(["a", "b", "c"], np.arange(10)).columns

    assert {name: values.tolist() for name, values in sample.items()} == {
        "a": list(range(10)),
        "c": list(range(0, 30, 3)),
    }
