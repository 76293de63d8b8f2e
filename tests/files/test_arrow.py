"""Parquet and Arrow files: what is not masked comes back equal, from pyarrow's own reader."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import condmask as cm
from condmask.files import parquet as parquet_files

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 500.0)
N = 1000


VIEW = pa.string_view() if int(pa.__version__.split(".")[0]) >= 21 else pa.string()  # in Parquet since then


def rich(n=N):
    """A column of every kind that might not survive."""
    random = np.random.default_rng(2)
    income = pa.field("income", pa.float64(), metadata={b"unit": b"dollars"})
    table = pa.table({
        "income": random.lognormal(6, 0.7, n),
        "list": [[i, i + 1] for i in range(n)],
        "struct": [{"a": i, "b": str(i)} for i in range(n)],
        "category": pa.array([f"c{i % 4}" for i in range(n)]).dictionary_encode(),
        "time": pa.array(np.arange(n), pa.timestamp("ms", "UTC")),
        "decimal": pa.array(range(n), pa.decimal128(10, 2)),
        "nothing": pa.nulls(n),
        "large": pa.array([f"{i}" * (i % 30) for i in range(n)], pa.large_string()),
        "view": pa.array([f"{i}" * (i % 30) for i in range(n)], VIEW),
        "fixed": pa.array([[i, None] for i in range(n)], pa.list_(pa.int32(), 2)),
        "map": pa.array([[("k", i)] if i % 3 else None for i in range(n)], pa.map_(pa.string(), pa.int64())),
        "half": pa.array(np.arange(n, dtype=np.float16)),
        "largest": pa.array([2**64 - 1] * n, pa.uint64()),
        "nan": pa.array([[np.nan, -0.0, None][i % 3] for i in range(n)]).cast(pa.float32()),
        "zone": pa.array(np.arange(n), pa.timestamp("ns", "Europe/Paris")),
        "ordered": pa.array(["b", "a"] * (n // 2)).cast(pa.dictionary(pa.int8(), pa.string(), True)),
    })  # fmt: skip
    return table.cast(pa.schema([income, *list(table.schema)[1:]], metadata={b"made by": b"a test"}))


def write(table, path):
    if path.suffix.lower() in (".parquet", ".pq"):
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def read(path):
    return (
        pq.read_table(path)
        if path.suffix.lower() in (".parquet", ".pq")
        else pa.ipc.open_file(path).read_all()
    )


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".PARQUET", ".arrow", ".feather", ".ipc"])
def test_columns_of_every_kind_come_back_equal(tmp_path, suffix):
    source, target = write(rich(), tmp_path / f"a{suffix}"), tmp_path / f"b{suffix}"

    cm.mask_file(source, target, {"income": SCHEME}, strata="category", rng=1)

    before, after = read(source), read(target)
    for name in before.column_names[1:]:  # NaN as it stands in a text: it differs from itself
        assert str(after[name].to_pylist()) == str(before[name].to_pylist())
    assert list(after.schema) == list(before.schema)
    assert after.schema.field("income").metadata is None  # which may tell anything of the originals
    assert list(after.schema.metadata) == [b"condmask"]
    within = replace(SCHEME, strata="category")
    labels = before["category"].to_pylist()
    expected = within.mask(pd.Series(before["income"].to_numpy(), name="income"), strata=labels, rng=1)
    assert np.array_equal(after["income"].to_numpy(), expected)


def test_columns_of_the_same_name_come_back_if_they_are_not_masked(tmp_path):
    table = pa.Table.from_arrays([pa.array(np.sqrt(np.arange(50)))] * 3, names=["income", "same", "same"])
    source, target = write(table, tmp_path / "a.arrow"), tmp_path / "b.arrow"

    cm.mask_file(source, target, {"income": SCHEME}, accept_visible_coins=True)

    assert read(target).column_names == ["income", "same", "same"]
    assert read(target).column(2).equals(table.column(2))


@pytest.mark.parametrize("group", [30_000, 65_536, 150_000])
def test_row_groups_keep_their_sizes(tmp_path, group):
    table = pa.table({"income": np.random.default_rng(1).normal(size=200_000)})
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, source, row_group_size=group)

    cm.mask_file(source, target, {"income": SCHEME})

    sizes = [
        [file.row_group(g).num_rows for g in range(file.num_row_groups)]
        for file in map(pq.read_metadata, (source, target))
    ]
    assert sizes[0] == sizes[1]


def test_row_groups_too_large_to_encode_at_once_stay_one(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_files, "MOST_ROWS", 1 << 17)
    table = pa.table({"income": np.random.default_rng(1).normal(size=300_000), "id": range(300_000)})
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, source)

    cm.mask_file(source, target, {"income": SCHEME}, rng=1)

    assert pq.read_metadata(target).num_row_groups == 1
    assert read(target)["id"].equals(table["id"])
    expected = SCHEME.mask(pd.Series(table["income"].to_numpy(), name="income"), rng=1)
    assert np.array_equal(read(target)["income"].to_numpy(), expected)


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_compression_is_kept(tmp_path, codec):
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(rich(), source, compression=codec)

    cm.mask_file(source, target, {"income": SCHEME})

    group = pq.read_metadata(target).row_group(0)
    found = {group.column(i).compression for i in range(group.num_columns)}
    assert found == {"UNCOMPRESSED" if codec == "none" else codec.upper()}


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_batches_that_were_compressed_are_compressed_again(tmp_path, codec):
    source, target, plain = (tmp_path / f"{name}.arrow" for name in "abc")
    table = pa.table({"income": rich()["income"], "same": pa.array(["north"] * N)})
    for path, compression in ((source, codec), (plain, None)):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(path, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=300)

    cm.mask_file(source, target, {"income": SCHEME})

    room = plain.stat().st_size - N * len("north") / 2
    assert (target.stat().st_size < room) == (codec is not None)
    with pa.ipc.open_file(target) as file:
        assert [file.get_batch(k).num_rows for k in range(file.num_record_batches)] == [300, 300, 300, 100]
        assert file.read_all()["same"].equals(table["same"])


@pytest.mark.parametrize(("a", "b"), [("parquet", "arrow"), ("arrow", "parquet")])
def test_every_kind_of_column_survives_another_format(tmp_path, a, b):
    source, target = write(rich(), tmp_path / f"a.{a}"), tmp_path / f"b.{b}"
    cm.mask_file(source, target, {"income": SCHEME})

    found = pq.read_table(target) if b == "parquet" else pa.ipc.open_file(target).read_all()
    left = ["income", "nan"]  # NaN differs from itself
    expected = rich().drop(left)
    assert found.drop(left).cast(expected.schema).equals(expected)  # elements of lists may be named otherwise


def test_text_has_no_lists(tmp_path):
    source = write(rich(), tmp_path / "a.parquet")

    with pytest.raises(ValueError, match="list must hold plain values in a file of text, got list<"):
        cm.mask_file(source, tmp_path / "b.csv", {"income": SCHEME})
    assert list(tmp_path.iterdir()) == [source]


def test_a_type_that_parquet_has_not_is_said_of_the_column(tmp_path):
    hundreds = pa.Array.from_buffers(pa.decimal128(10, -2), N, [None, pa.py_buffer(bytes(16 * N))])
    source = write(pa.table({"income": rich()["income"], "hundreds": hundreds}), tmp_path / "a.arrow")

    with pytest.raises(ValueError, match=r"a\.arrow cannot become b\.parquet: .*; drop or cast that column$"):
        cm.mask_file(source, tmp_path / "b.parquet", {"income": SCHEME})
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("values", "scheme", "message"),
    [
        (
            range(2**53 - 50, 2**53),
            cm.ConditionalMasking(0.6, 1e12, decimals=0),
            r"within 2\^53 steps of 1, noise included",
        ),
        # so many steps of 100 can be told apart, but not all of them in 53 bits
        (
            [(90071992547409 - i) * 100 for i in range(50)],
            cm.ConditionalMasking(0.6, 1e6, decimals=-2),
            r"below 2\^53 when it is masked",
        ),
    ],
)
def test_integers_that_noise_takes_beyond_2_to_the_53_are_refused(tmp_path, values, scheme, message):
    source = write(pa.table({"income": values}), tmp_path / "a.parquet")

    with pytest.raises(ValueError, match=f"income must stay {message}"):
        cm.mask_file(source, tmp_path / "b.parquet", {"income": scheme})

    assert list(tmp_path.iterdir()) == [source]


def test_labels_are_coded_whatever_their_type(tmp_path):
    labels = pa.array([None if i % 3 == 0 else f"s{i % 2}" for i in range(60)])
    values = np.sqrt(np.arange(60))
    source, target = (
        write(pa.table({"x": values, "s": labels}), tmp_path / "a.parquet"),
        tmp_path / "b.parquet",
    )

    cm.mask_file(source, target, {"x": SCHEME}, strata="s", rng=1)

    scheme = cm.read_release(target, "x").scheme
    assert scheme == replace(SCHEME, strata="s")
    expected = scheme.mask(pd.Series(values, name="x"), strata=labels.to_pylist(), rng=1)
    assert np.array_equal(cm.read_column(target, "x"), expected)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_labels_of_nested_type_are_refused(tmp_path, suffix):
    source = write(rich(), tmp_path / f"a{suffix}")

    with pytest.raises(TypeError, match="list must hold labels, got list"):
        cm.mask_file(source, tmp_path / f"b{suffix}", {"income": SCHEME}, strata="list")


def test_texts_that_lie_elsewhere_are_refused(tmp_path):
    """Arrow takes the places of texts from an IPC file as they are; what reads there reads other memory."""
    source = tmp_path / "a.arrow"
    town = pa.array([f"town {k}" for k in range(400)])
    table = pa.table({"income": np.arange(400.0) * 7 % 301, "town": town})
    with pa.ipc.new_file(source, table.schema) as file:
        file.write_table(table)
    content = source.read_bytes()
    places = np.frombuffer(town.buffers()[1], dtype=np.int32)[:401].tobytes()
    assert content.count(places) == 1
    wrong = np.frombuffer(places, dtype=np.int32).copy()
    wrong[200] = 2**30
    source.write_bytes(content.replace(places, wrong.tobytes()))

    for strata in (None, "town"):
        with pytest.raises(cm.FileError, match=r"a\.arrow cannot be read: its column 'town' is damaged$"):
            cm.mask_file(
                source, tmp_path / "b.arrow", {"income": cm.ConditionalMasking(0.6, 50.0, strata=strata)}
            )
    assert list(tmp_path.iterdir()) == [source]


def test_a_corrupt_page_names_the_file(tmp_path):
    source = tmp_path / "a.parquet"
    pq.write_table(rich(50_000).select(["income", "time"]), source, compression="gzip")
    content = bytearray(source.read_bytes())
    content[2000:6000] = bytes(4000)
    source.write_bytes(content)

    with pytest.raises(ValueError, match=r"a\.parquet cannot be read: "):
        cm.mask_file(source, tmp_path / "b.parquet", {"income": SCHEME})

    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_pandas_is_not_imported(tmp_path, suffix):
    labels = pa.array([None if i % 9 == 0 else f"s{i % 2}" for i in range(400)])
    values = pa.array([None if i % 11 == 0 else i + 0.5 for i in range(400)])
    source, table = tmp_path / f"a{suffix}", pa.table({"x": values, "s": labels})
    csv.write_csv(table, source) if suffix == ".csv" else write(table, source)
    code = (
        "import sys, condmask as cm; scheme = cm.ConditionalMasking(0.6, 500.0, strata='s'); "
        "cm.mask_file(*sys.argv[1:], {'x': scheme}, nan_policy='omit', accept_visible_coins=True); "
        "sys.exit('pandas' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code, source, tmp_path / f"b{suffix}"]).returncode == 0


@pytest.mark.parametrize("sizes", [(0, 400, 600), (400, 0, 0, 600), (400, 600, 0), (0, 0, 1, 999, 0)])
@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_batches_without_rows_may_stand_anywhere(tmp_path, sizes, suffix):
    table, start = rich().select(["struct", "income", "large", "nothing"]), 0
    nothing = pa.RecordBatch.from_pylist([], schema=table.schema)
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        for size in sizes:
            writer.write_batch(table.slice(start, size).combine_chunks().to_batches()[0] if size else nothing)
            start += size

    cm.mask_file(tmp_path / "a.arrow", tmp_path / f"b.{suffix}", {"income": SCHEME}, rng=1)

    after = read(tmp_path / f"b.{suffix}")
    together = cm.mask_table(table.select(["income"]), {"income": SCHEME}, rng=1).data
    assert np.array_equal(after["income"], together["income"])
    assert after.drop(["income"]).equals(table.drop(["income"]))
