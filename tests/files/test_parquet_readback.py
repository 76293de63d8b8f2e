"""A Parquet file that does not hold what it was meant to, or whose footer says otherwise, is not published.

Oracle: bytes and values, which are changed on their way into the file.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files import batches, frame_table, parquet
from condmask.files import parquet_footer as footers
from condmask.files.parquet_footer import CHUNK, CHUNKS, COMPRESSED, DATA, GROUP_ROWS, ROWS, VALUES
from condmask.files.thrift import I64

pytestmark = pytest.mark.usefixtures("unaudited")

N = 1_000


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.parquet"
    random = np.random.default_rng(1)
    table = pa.table({"id": np.arange(N), "pay": random.lognormal(8.0, 0.5, N), "age": np.arange(N) % 70})
    pq.write_table(table, path, row_group_size=400, use_dictionary=["id"])
    return path


def mask(source):
    cm.mask_file(source, source.with_name("b.parquet"), {"pay": cm.ConditionalMasking(0.6, 500.0)}, rng=1)


def assert_refused(source):
    with pytest.raises(
        cm.FileError, match=r"b\.parquet is not read back as it was written; nothing was published"
    ):
        mask(source)
    assert list(source.parent.iterdir()) == [source]


@pytest.mark.parametrize("at", range(-1, -400, -7))
@pytest.mark.parametrize("byte", [1, 128])
def test_a_damaged_footer_is_refused(source, monkeypatch, at, byte):
    whole = footers.footer_bytes

    def damaged(fields):
        data = bytearray(whole(fields))
        data[at] ^= byte
        return bytes(data)

    monkeypatch.setattr(footers, "footer_bytes", damaged)
    assert_refused(source)


def test_a_footer_cut_short_is_refused(source, monkeypatch):
    whole = footers.footer_bytes
    monkeypatch.setattr(footers, "footer_bytes", lambda fields: whole(fields)[1:])
    assert_refused(source)


@pytest.mark.parametrize("key", [DATA, VALUES, COMPRESSED])
@pytest.mark.parametrize("leaf", [0, 1])
def test_a_chunk_that_stands_elsewhere_is_refused_though_the_footer_is_sound(source, monkeypatch, key, leaf):
    moved, calls = footers.moved, []

    def wrong(chunk, start):
        entry = moved(chunk, start)
        calls.append(start)
        if len(calls) == 4 + leaf:  # of the second row group
            kind, value = entry[CHUNK][1][key]
            entry[CHUNK][1][key] = kind, value + 1
        return entry

    monkeypatch.setattr(footers, "moved", wrong)
    assert_refused(source)


@pytest.mark.parametrize("lost", ["rows", "rows of a group", "a group", "a chunk"])
def test_rows_and_chunks_that_are_lost_are_refused(source, monkeypatch, lost):
    released = footers.released_footer

    def wrong(footer, groups, elements, entries):
        if lost == "rows":
            kind, rows = footer.fields[ROWS]
            footer = footers.Footer({**footer.fields, ROWS: (kind, rows - 1)}, footer.stop)
        elif lost == "rows of a group":
            kind, rows = groups[1][GROUP_ROWS]
            groups[1][GROUP_ROWS] = kind, rows - 1
        elif lost == "a group":
            groups = groups[:-1]
        else:
            kind, (of, chunks) = groups[1][CHUNKS]
            groups[1][CHUNKS] = kind, (of, chunks[:-1])
        return released(footer, groups, elements, entries)

    monkeypatch.setattr(footers, "released_footer", wrong)
    assert_refused(source)


@pytest.mark.parametrize("group", [0, 1])
def test_values_copied_from_elsewhere_are_refused_though_all_chunks_are_sound(source, monkeypatch, group):
    table = pq.read_table(source).drop_columns("id")
    pq.write_table(table, source, row_group_size=500, use_dictionary=False, compression="none")
    copy = parquet._Writer._copy

    def wrong(writer, chunks):
        if chunks and len(writer.groups) == group:
            chunks = footers.chunks_of(writer.footer.groups[1 - group], writer.footer, source)[1:]
        copy(writer, chunks)

    monkeypatch.setattr(parquet._Writer, "_copy", wrong)
    assert_refused(source)


TABLE = pa.table({"pay": np.random.default_rng(1).lognormal(8.0, 0.5, N), "id": range(N)})


def write_frame(folder):
    cm.mask_table(TABLE, {"pay": cm.ConditionalMasking(0.6, 500.0)}, rng=1).write(folder / "b.parquet")


def write_arrow(folder):
    with pa.ipc.new_file(folder / "a.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=300)
    mask(folder / "a.arrow")


def swapped(table, name):
    """A table with a column upside down."""
    if name not in table.column_names:
        return table
    return table.set_column(table.column_names.index(name), table.schema.field(name), table[name][::-1])


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize(
    "change", [lambda t: swapped(t, "pay"), lambda t: swapped(t, "id"), lambda t: t.slice(1)]
)
@pytest.mark.parametrize("write", [write_frame, write_arrow])
def test_values_that_were_not_meant_are_refused(tmp_path, monkeypatch, write, change, group):
    whole, calls = pq.ParquetWriter.write_table, []

    def wrong(writer, table, **options):
        calls.append(writer)
        whole(writer, change(table) if len(calls) == group else table, **options)

    monkeypatch.setattr(batches, "GROUP", 300)
    monkeypatch.setattr(frame_table, "BLOCK", 300)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", wrong)
    with pytest.raises(cm.FileError, match=r"b\.parquet is not read back as it was written; nothing was"):
        write(tmp_path)
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize("name", ["masked", "rows"])
def test_masked_values_that_were_not_meant_are_refused_in_a_copy(source, monkeypatch, name):
    whole = pq.ParquetWriter.write_table

    def wrong(writer, table, **options):
        whole(writer, swapped(table, "pay") if name == "masked" else table.slice(1), **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", wrong)
    assert_refused(source)


@pytest.mark.parametrize("lost", [footers.ENTRIES, footers.ROWS])
@pytest.mark.parametrize("write", [write_frame, write_arrow])
def test_what_a_footer_does_not_say_is_missed(tmp_path, monkeypatch, write, lost):
    whole = footers.footer_bytes
    changed = {footers.ROWS: (I64, N - 1)} if lost == footers.ROWS else {}

    def wrong(fields):
        return whole({**{key: value for key, value in fields.items() if key != lost}, **changed})

    monkeypatch.setattr(batches, "footer_bytes", wrong)
    with pytest.raises(cm.FileError, match=r"b\.parquet is not read back as it was written; nothing was"):
        write(tmp_path)
    assert not (tmp_path / "b.parquet").exists()


def test_a_sound_file_is_published(source):
    mask(source)

    clear = ["id", "age"]
    released = source.with_name("b.parquet")
    assert pq.read_table(released, columns=clear).equals(pq.read_table(source, columns=clear))


def test_bytes_that_belong_to_no_column_are_refused(source, monkeypatch):
    whole = footers.footer_bytes
    monkeypatch.setattr(footers, "footer_bytes", lambda fields: b"1234.5 " + whole(fields))
    assert_refused(source)
