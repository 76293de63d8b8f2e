"""What a file notes of itself beside its data stays behind but for what reading back needs, on every way out.

Oracle: the bytes of the release, with what is encoded in them; pandas, polars and pyarrow, which read it.
"""

import base64
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files import parquet_footer as footers
from condmask.files.source_metadata import released_writer
from condmask.files.thrift import BINARY, LIST, STRUCT, write_struct

N = 500
SCHEMES = {"pay": cm.ConditionalMasking(0.6, 1_000.0)}
SECRET = b"max income 123456.78"
KEYS = {b"summary": SECRET, b"PANDAS_ATTRS": SECRET, b"r": SECRET, b"org.apache.spark.version": SECRET}

pytestmark = pytest.mark.usefixtures("unaudited")


def noted(name, dtype):
    return pa.field(name, dtype, metadata={b"comment": SECRET, b"PARQUET:field_id": b"7"})


def planted():
    """A table with notes wherever Arrow and Parquet have room for them."""
    pair = pa.struct([noted("u", pa.int64()), noted("v", pa.list_(noted("item", pa.int8())))])
    fields = [
        noted("pay", pa.float64()), noted("pair", pair),
        noted("large", pa.large_list(noted("item", pa.int8()))),
        noted("two", pa.list_(noted("item", pa.int8()), 2)),
        noted("map", pa.map_(pa.string(), noted("value", pa.int32()))),
    ]  # fmt: skip
    pandas = {
        "index_columns": [], "attributes": {"note": SECRET.decode()}, "note": SECRET.decode(),
        "column_indexes": [{"name": None, "pandas_type": "unicode", "metadata": {"note": SECRET.decode()}}],
        "columns": [
            {"name": "pair", "field_name": "pair", "pandas_type": "x", "numpy_type": "object",
             "metadata": {"note": SECRET.decode()}}
        ],
    }  # fmt: skip
    spark = {"type": "struct", "fields": [
        {"name": "pair", "nullable": True, "metadata": {"comment": SECRET.decode()},
         "type": {"type": "struct", "fields": [
            {"name": "u", "type": "long", "nullable": True, "metadata": {"comment": SECRET.decode()}}]}},
    ]}  # fmt: skip
    notes = KEYS | {
        b"pandas": json.dumps(pandas).encode(),
        b"org.apache.spark.sql.parquet.row.metadata": json.dumps(spark).encode(),
        b"org.apache.spark.timeZone": b"Europe/Paris",
    }
    schema = pa.schema(fields, notes)
    pay = np.random.default_rng(1).lognormal(8.0, 0.5, N)
    pairs = [{"u": k, "v": [k % 100]} for k in range(N)]
    columns = [pay, pairs, [[1]] * N, [[1, 2]] * N, [[("a", 1)]] * N]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.table(arrays, schema=schema)


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=200)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def schema_of(path):
    return pq.read_schema(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).schema


def text_of(path):
    """The bytes of a file, and what stands in base64 in them."""
    content = path.read_bytes()
    encoded = re.findall(rb"[A-Za-z0-9+/]{200,}={0,2}", content)
    return content + b"".join(base64.b64decode(part[: len(part) // 4 * 4]) for part in encoded)


@pytest.mark.parametrize("target", ["b.parquet", "b.arrow"])
@pytest.mark.parametrize("source", ["a.parquet", "a.arrow", "frame"])
def test_no_note_of_the_source_is_in_the_bytes_of_a_release(tmp_path, source, target):
    table, target = planted(), tmp_path / target
    if source == "frame":
        cm.mask_table(table, SCHEMES).write(target)
    else:
        path = write(table, tmp_path / source)
        assert text_of(path).count(SECRET) > 10
        cm.mask_file(path, target, SCHEMES)

    assert SECRET not in text_of(target)
    schema = schema_of(target)
    assert schema.names == table.schema.names
    assert list(schema.types) == list(table.schema.types)
    assert schema.metadata[b"org.apache.spark.timeZone"] == b"Europe/Paris"
    assert json.loads(schema.metadata[b"pandas"])["columns"][0]["numpy_type"] == "object"
    spark = json.loads(schema.metadata[b"org.apache.spark.sql.parquet.row.metadata"])["fields"][0]
    assert spark["type"]["fields"][0] == {"type": "long", "name": "u", "nullable": True, "metadata": {}}
    assert {field.metadata[b"PARQUET:field_id"] for field in list(schema)[1:]} == {b"7"}
    back = pq.read_table(target) if target.suffix == ".parquet" else pa.ipc.open_file(target).read_all()
    assert back.drop_columns("pay").equals(table.drop_columns("pay"))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_notes_that_are_named_are_kept_in_clear_alone(tmp_path, suffix):
    source, target = write(planted(), tmp_path / f"a.{suffix}"), tmp_path / "b.parquet"

    cm.mask_file(source, target, SCHEMES, keep_metadata=["summary", "comment"])

    schema = schema_of(target)
    assert schema.metadata.keys() & KEYS.keys() == {b"summary"}
    assert [(field.metadata or {}).get(b"comment") for field in schema] == [None, *[SECRET] * 4]
    assert [child.metadata[b"comment"] for child in schema.field("pair").type] == [SECRET] * 2


@pytest.mark.parametrize(
    ("suffix", "keep", "error", "message"),
    [
        ("parquet", ["sumary"], ValueError, "entries in the metadata of .*, got 'sumary'; it has 'summary'"),
        ("csv", ["summary"], ValueError, "keep_metadata must be left out for a text file, which has"),
        ("parquet", "summary", TypeError, "keep_metadata must be a sequence of names, got 'summary'"),
    ],
)
def test_names_of_no_note_are_refused(tmp_path, suffix, keep, error, message):
    source = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        source.write_text("pay\n" + "".join(f"{k}\n" for k in range(N)))
    else:
        write(planted(), source)

    with pytest.raises(error, match=message):
        cm.mask_file(source, tmp_path / "b.parquet", SCHEMES, keep_metadata=keep)


def test_notes_on_chunks_and_the_writer_stay_behind(tmp_path):
    source, target = write(planted(), tmp_path / "a.parquet"), tmp_path / "b.parquet"
    with source.open("rb") as file:
        footer = footers.read_footer(file, source)
    note = {footers.KEY: (BINARY, b"k"), footers.TEXT: (BINARY, SECRET)}
    for group in footer.groups:
        group[footers.SORTING + 4] = BINARY, SECRET  # of a later version of the format
        for chunk in group[footers.CHUNKS][1][1]:
            chunk[footers.CHUNK][1][8] = LIST, (STRUCT, [note])
            chunk[footers.CHUNK][1][99] = BINARY, SECRET
    footer.fields[footers.WRITER] = BINARY, SECRET
    footer.fields[99] = BINARY, SECRET
    footer.fields = dict(sorted(footer.fields.items()))
    for group in footer.groups:
        for chunk in group[footers.CHUNKS][1][1]:
            chunk[footers.CHUNK] = STRUCT, dict(sorted(chunk[footers.CHUNK][1].items()))
    source.write_bytes(source.read_bytes()[: footer.stop] + footers.footer_bytes(footer.fields))
    assert pq.read_table(source).num_rows == N
    assert write_struct(footer.fields).count(SECRET) > 20

    cm.mask_file(source, target, SCHEMES)

    assert SECRET not in text_of(target)
    assert pq.read_table(target).num_rows == N


US, ALONE = f"condmask {cm.__version__}", f"condmask version {cm.__version__}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("parquet-cpp-arrow version 20.0.0", f"parquet-cpp-arrow version 20.0.0 (build {US})"),
        ("parquet-mr version 1.13.1 (build db41)", f"parquet-mr version 1.13.1 (build db41; {US})"),
        ("parquet-mr version 1.13.1 (build )", f"parquet-mr version 1.13.1 (build {US})"),
        ("Polars", f"Polars (build {US})"),
        ("Polars (python) version 2.1.0 (build 7f90)", f"Polars (python) version 2.1.0 (build 7f90; {US})"),
        ("DuckDB version v1.2.0 (build 5f5512b827)", f"DuckDB version v1.2.0 (build 5f5512b827; {US})"),
        ("Polars (build condmask 0.0.9)", f"Polars (build {US})"),
        ("Polars version 1 (build 7; condmask 0.0.9)", f"Polars version 1 (build 7; {US})"),
        ("condmask version 0.0.9", ALONE),
        ("max income 123456.78", ALONE),
        ("parquet-mr version 1.13.1\nmax income 7", ALONE),
        ("a note (build 1) max 7", ALONE),
        ("", ALONE),
    ],
)
def test_who_wrote_a_file_is_kept_where_it_says_no_more_and_that_we_did(text, said):
    assert released_writer(text.encode()).decode() == said
    assert released_writer(said.encode()).decode() == said


@pytest.mark.parametrize("route", ["copied", "converted", "of a frame", "again"])
def test_a_file_says_that_condmask_wrote_it(tmp_path, route):
    frame = pa.table({"pay": np.random.default_rng(1).lognormal(8.0, 0.5, N), "id": range(N)})
    source, target = tmp_path / ("a.arrow" if route == "converted" else "a.parquet"), tmp_path / "b.parquet"
    if route == "of a frame":
        cm.mask_table(frame, SCHEMES).write(target)
    else:
        pq.write_table(frame, source) if route != "converted" else pa.feather.write_feather(frame, source)
        cm.mask_file(source, target, SCHEMES)
    if route == "again":
        source, target = target, tmp_path / "c.parquet"
        cm.mask_file(source, target, {"id": cm.ConditionalMasking(0.6, 9.0, decimals=0)}, again=True)

    assert pq.read_metadata(target).created_by == f"parquet-cpp-arrow version {pa.__version__} (build {US})"
    assert pq.read_table(target).num_rows == N


def test_frames_come_back_as_they_were(tmp_path):
    index = pd.period_range("2020-01", periods=N, freq="M", name="month")
    frame = pd.DataFrame(
        {
            "pay": np.random.default_rng(1).lognormal(8.0, 0.5, N),
            "size": pd.Categorical.from_codes(np.arange(N) % 3, ["s", "m", "l"], ordered=True),
            "when": pd.date_range("2020-01-01", periods=N, tz="Europe/Paris", unit="us"),
            "many": pd.array(np.arange(N), dtype="Int32"),
        },
        index=index,
    )
    frame.attrs = {"largest": SECRET.decode()}
    source, first, second = (tmp_path / f"{name}.parquet" for name in "abc")
    frame.to_parquet(source)

    cm.mask_file(source, first, SCHEMES)
    cm.mask_table(frame, SCHEMES).write(second, ledger=False)

    for path in (first, second):
        back = pd.read_parquet(path)
        assert back.attrs == {}
        pd.testing.assert_frame_equal(back.drop(columns="pay"), frame.drop(columns="pay"), check_freq=False)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_polars_reads_its_categories_in_their_order(tmp_path, suffix):
    levels = pl.Enum(["small", "large", "never seen"])
    frame = pl.DataFrame({
        "pay": np.random.default_rng(1).lognormal(8.0, 0.5, N),
        "size": pl.Series(["large", "small"] * (N // 2), dtype=levels),
        "group": pl.Series(["b", "a"] * (N // 2), dtype=pl.Categorical),
    })  # fmt: skip
    source, target = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    read = pl.read_parquet if suffix == "parquet" else pl.read_ipc
    (frame.write_parquet if suffix == "parquet" else frame.write_ipc)(source)

    cm.mask_file(source, target, SCHEMES)

    back = read(target)
    assert back.schema == frame.schema
    assert back.drop("pay").equals(frame.drop("pay"))
