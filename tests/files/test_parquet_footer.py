"""What a release says of its columns outside of their pages; oracle: pyarrow, which reads both files."""

import io
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files import parquet as parquet_files
from condmask.files import parquet_footer as footers
from condmask.files.thrift import I64, LIST, STRUCT

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 0.5, decimals=2)
N = 1_000
PAY = np.round(np.random.default_rng(2).lognormal(3.0, 0.5, N), 2)
# below two leaves, so that positions of columns are not those of chunks
PAIR = pa.array([{"u": k, "v": f"{k}"} for k in range(N)])


def table(**columns):
    return pa.table({"pair": PAIR, "id": np.arange(N), "pay": PAY, "bonus": PAY[::-1], **columns})


@pytest.mark.parametrize(
    ("most", "group"),
    [
        *((250, group) for group in (100, 249, 250, 251, 299, 300, 301, 600, 1_000)),
        *((300, group) for group in (300, 301, 400)),
    ],
)
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_what_is_known_of_a_row_group_is_true_whether_or_not_it_is_encoded_at_once(
    tmp_path, monkeypatch, most, group, codec
):
    monkeypatch.setattr(parquet_files, "BLOCK", 100)  # rows come by the hundred
    monkeypatch.setattr(parquet_files, "MOST_ROWS", most)
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    gaps = pa.array([None if k % 7 == 0 or k > 900 else v for k, v in enumerate(PAY.tolist())])
    pq.write_table(table(pay=gaps), source, row_group_size=group, compression=codec)

    cm.mask_file(source, target, {"pay": SCHEME, "bonus": SCHEME}, nan_policy="omit", rng=1)

    expected = cm.mask_table(
        table(pay=gaps).select(["pay", "bonus"]), {"pay": SCHEME, "bonus": SCHEME}, nan_policy="omit", rng=1
    ).data
    found, before, file = pq.read_table(target), pq.read_metadata(source), pq.ParquetFile(target)
    assert found.select(["pay", "bonus"]).equals(pa.table(expected).cast(found.schema.remove(1).remove(0)))
    assert found.select(["pair", "id"]).equals(table().select(["pair", "id"]))
    assert file.metadata.num_row_groups == before.num_row_groups == -(-N // group)
    for number in range(before.num_row_groups):
        known, rows = file.metadata.row_group(number), file.read_row_group(number)
        chunks = [known.column(leaf) for leaf in range(known.num_columns)]
        assert known.num_rows == rows.num_rows == min(group, N - number * group)
        assert known.total_byte_size == sum(chunk.total_uncompressed_size for chunk in chunks)
        for chunk in chunks:
            assert chunk.num_values == rows.num_rows
        for leaf, name in enumerate(["id", "pay", "bonus"], start=2):
            own, told = rows[name].drop_null().to_numpy(), chunks[leaf].statistics
            if told is not None and told.has_min_max:
                assert (told.min, told.max) == (own.min(), own.max())
            if told is not None and told.has_null_count:
                assert told.null_count == rows[name].null_count
            # three hundreds are the first to reach `most` and are encoded at once; the rest is another part
            assert (told is not None) == (name == "id" or rows.num_rows <= 300)
            # a dictionary would stand between the pages of two parts
            assert chunks[leaf].has_dictionary_page == (name == "id" or rows.num_rows <= most)


ORDERS = [
    ((2,), (2,)),
    ((3,), ()),
    ((2, 3), (2,)),
    ((3, 2), ()),
    ((2, 3, 1), (2,)),
    ((2, 1), (2, 1)),
    ((2, 1, 4, 0), (2, 1)),
    ((1, 2, 3, 4, 0), (1, 2)),
]


@pytest.mark.parametrize(("order", "left"), ORDERS)
def test_rows_are_in_the_order_of_the_columns_before_the_first_that_is_masked(tmp_path, order, left):
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    sorting = [pq.SortingColumn(leaf, descending=leaf == 2, nulls_first=leaf == 1) for leaf in order]
    pq.write_table(table(), source, row_group_size=400, sorting_columns=sorting)

    cm.mask_file(source, target, {"pay": SCHEME, "bonus": SCHEME}, rng=1)

    after = pq.read_metadata(target)
    assert pq.read_metadata(source).row_group(0).sorting_columns == tuple(sorting)
    for number in range(3):
        assert after.row_group(number).sorting_columns == tuple(sorting[: len(left)])


def test_chunks_one_after_the_other_are_one_of_which_only_sums_are_known():
    def chunk(rows):
        sink = io.BytesIO()
        with pq.ParquetWriter(sink, pa.schema({"x": pa.int64()}), use_dictionary=False) as writer:
            writer.write_table(pa.table({"x": pa.array(rows, pa.int64())}))
        footer = footers.read_footer(sink, "memory")
        return footers.chunks_of(footer.groups[0], footer, "memory")[0]

    parts = [chunk(rows) for rows in ([1, 2, None], [5], list(range(100)))]

    found = footers.joined(parts)

    assert found.start == parts[0].start
    assert found.length == sum(part.length for part in parts)
    assert found.metadata[footers.VALUES][1] == 104
    assert found.metadata[footers.SIZE][1] == sum(part.metadata[footers.SIZE][1] for part in parts)
    told = {footers.STATISTICS, footers.PAGES_BY_ENCODING, footers.SIZES}
    assert parts[0].metadata.keys() & told >= {footers.STATISTICS, footers.PAGES_BY_ENCODING}
    assert found.metadata.keys() == parts[0].metadata.keys() - told
    assert footers.joined(parts[:1]) is parts[0]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([], []), ([3], [(4, 3)]), ([3, 5], [(4, 8)]), ([3, -2, 5], [(4, 3), (9, 5)]), ([0, 4], [(4, 4)])],
)
def test_chunks_side_by_side_are_copied_at_once(lengths, expected):
    at, chunks = 4, []
    for length in lengths:  # below 0: bytes between, of no chunk
        if length >= 0:
            chunks.append(footers.Chunk(at, length, {}))
        at += abs(length)

    assert list(footers.runs(chunks)) == expected


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_long_chunks_are_copied_in_pieces(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(parquet_files, "COPIED", piece)
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table(), source, row_group_size=300)

    cm.mask_file(source, target, {"pay": SCHEME}, rng=1)

    groups = [pq.read_metadata(target).row_group(number) for number in range(4)]
    at = len(footers.MAGIC)  # a byte between the chunks would be one of an original
    for chunk in [group.column(leaf) for group in groups for leaf in range(5)]:
        assert (chunk.dictionary_page_offset or chunk.data_page_offset) == at
        at += chunk.total_compressed_size
    clear = ["pair", "id", "bonus"]
    assert pq.read_table(target, columns=clear).equals(pq.read_table(source, columns=clear))
    expected = SCHEME.mask(pd.Series(PAY, name="pay"), rng=1)
    assert np.array_equal(pq.read_table(target)["pay"].to_numpy(), expected)


@pytest.mark.parametrize(("start", "length"), [(3, 10), (4, -1), (4, 97), (90, 11), (4, 96)])
def test_a_column_that_lies_outside_of_its_file_is_refused(start, length):
    """Between the first four bytes and the footer there are 96."""
    chunk = {footers.DATA: (footers.I64, start), footers.COMPRESSED: (footers.I64, length)}
    group = {footers.CHUNKS: (footers.LIST, (footers.STRUCT, [{footers.CHUNK: (footers.STRUCT, chunk)}]))}
    footer = footers.Footer({}, 100)

    if (start, length) == (4, 96):
        assert footers.chunks_of(group, footer, "a.parquet")[0].length == 96
    else:
        with pytest.raises(ValueError, match="a column lies outside of it"):
            footers.chunks_of(group, footer, "a.parquet")


def with_sizes(leaf, sizes):
    """A change of the statistics of sizes of a chunk."""

    def change(groups):
        groups[0][footers.CHUNKS][1][1][leaf][footers.CHUNK][1][footers.SIZES] = STRUCT, sizes

    return change


def without_a_chunk(groups):
    groups[0][footers.CHUNKS][1][1].pop()


LEVELS = (
    LIST,
    (I64, [1, 2]),
)  # of an optional column: nulls, and others


@pytest.mark.parametrize(
    ("change", "sound"),
    [
        (with_sizes(2, {footers.DEFINITIONS: LEVELS}), True),
        (with_sizes(2, {footers.DEFINITIONS: (LIST, (I64, []))}), True),
        (with_sizes(1, {footers.BYTES: (I64, 8)}), True),  # of text
        (with_sizes(2, {footers.REPETITIONS: LEVELS}), False),
        (with_sizes(2, {footers.DEFINITIONS: (LIST, (I64, [1]))}), False),
        (with_sizes(2, {footers.BYTES: (I64, 8)}), False),
        (with_sizes(0, {footers.DEFINITIONS: LEVELS}), False),  # below a column that may be missing, too
        (with_sizes(0, {footers.DEFINITIONS: (LIST, (I64, [1, 2, 3]))}), True),
        (without_a_chunk, False),
    ],
)
def test_a_footer_at_which_pyarrow_would_abort_is_refused(tmp_path, change, sound):
    """Without the check the process ends: pyarrow does not catch what Parquet throws at such metadata."""
    pq.write_table(table(), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    with (tmp_path / "a.parquet").open("rb") as file:
        footer = footers.read_footer(file, tmp_path / "a.parquet")
    change(footer.groups)
    (tmp_path / "a.parquet").write_bytes(content[: footer.stop] + footers.footer_bytes(footer.fields))

    with nullcontext() if sound else pytest.raises(ValueError, match=r"a\.parquet cannot be read: "):
        cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"pay": SCHEME}, ledger=False)

    assert (tmp_path / "b.parquet").exists() is sound


def test_the_levels_of_columns_are_those_of_pyarrow(tmp_path):
    deep = pa.array([[{"a": [1], "b": "x"}], None] * (N // 2))
    pq.write_table(table(deep=deep, last=PAY), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        leaves = footers.read_footer(file, tmp_path / "a.parquet").leaves()

    schema = pq.read_metadata(tmp_path / "a.parquet").schema
    columns = [schema.column(k) for k in range(len(schema))]
    assert [leaf[:2] for leaf in leaves] == [
        (column.max_repetition_level, column.max_definition_level) for column in columns
    ]
    assert [leaf.kind == footers.BYTE_ARRAY for leaf in leaves] == [
        column.physical_type == "BYTE_ARRAY" for column in columns
    ]
