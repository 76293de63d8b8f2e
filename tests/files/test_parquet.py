"""Nothing raw travels: the bytes of a released file are searched for original values that it should not hold.

Pages are not compressed, so that what stands in them is found; what somebody else may have written beside a
column (statistics, indexes, filters, metadata) is planted.

Four bytes of a masked value may be those of an original by chance. So a column is masked under two keys, and
an original counts that stands in both releases, as one does that was left there. Of 1,000 hidden values in
five ways of four bytes each, in files of 100,000 bytes, 5,000 x (100,000 / 2^32)^2 = 3e-6 do so by chance.
"""

import base64
import contextlib
import inspect
import json
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files import parquet_footer as footers
from condmask.files.read import open_table
from condmask.files.thrift import I64
from condmask.releases.mask_file import audit_file

pytestmark = pytest.mark.usefixtures("unaudited")

N = 3_000
SCHEME = cm.ConditionalMasking(0.6, 3_000.0, decimals=2)
RANDOM = np.random.default_rng(11)
# sorted, so that extremes stand in a row group
CENTS = np.sort(RANDOM.choice(10**9, N, replace=False)) + 10**9
X = CENTS / 100


def original(dtype):
    """The values as a column of a type; whole numbers are cents."""
    if pa.types.is_integer(dtype):
        return pa.array(CENTS, dtype)
    if pa.types.is_decimal(dtype):
        wide = np.stack([CENTS, CENTS * 0], axis=1)
        return pa.Array.from_buffers(pa.decimal128(38, 2), N, [None, pa.py_buffer(wide)]).cast(dtype)
    if pa.types.is_dictionary(dtype):
        return pa.array(X).dictionary_encode().cast(dtype)
    return pa.array(X, dtype)


def traces(value, cents):
    """How a value may stand in a file."""
    yield struct.pack("<d", value)
    yield struct.pack("<f", value)
    yield struct.pack("<q", cents)
    yield struct.pack("<i", cents)
    yield struct.pack(">i", cents)  # decimals
    yield repr(value).encode()
    yield str(cents).encode()


def found(contents, releases):
    """Original values in the bytes of all files, but for those that masked records of a release show."""
    shown = {round(value) for z in releases for value in np.asarray(z, dtype=float).tolist()}
    hidden = [(value, cents) for value, cents in zip(X.tolist(), CENTS.tolist(), strict=True)]
    hidden = [(value, cents) for value, cents in hidden if cents not in shown]
    assert len(hidden) > N / 7  # (1 - p)^2 are in nobody's place in two releases: 16%
    single = {struct.pack("<f", cents / 100) for cents in shown}  # which several values share
    begins = [{content[k : k + 4] for k in range(len(content) - 3)} for content in contents]
    return [
        (value, trace)
        for value, cents in hidden
        for trace in traces(value, cents)
        if trace not in single
        and all(trace[:4] in begin for begin in begins)
        and all(trace in content for content in contents)
    ]


def planted(dtype):
    """A table with a masked column, and what tells of it wherever there is room for it."""
    code_book = {b"least": repr(X[0]).encode(), b"PARQUET:field_id": b"7"}
    schema = pa.schema(
        [
            pa.field("id", pa.int32()),
            pa.field("income", dtype, metadata=code_book),
            pa.field("t", pa.string()),
        ]
    )
    columns = [np.arange(N, dtype=np.int32), original(dtype), [f"t{i % 7}" for i in range(N)]]
    pandas = {
        "index_columns": [], "column_indexes": [], "attributes": {"largest": X[-1]},
        "columns": [
            {"name": name, "field_name": name, "pandas_type": "x", "numpy_type": "x", "metadata": {"m": X[5]}}
            for name in ("income",)
        ],
    }  # fmt: skip
    spark = {"type": "struct", "fields": [
        {"name": "income", "type": "double", "nullable": True, "metadata": {"comment": repr(X[9])}}
    ]}  # fmt: skip
    table = pa.table([pa.array(c) if isinstance(c, list) else c for c in columns], schema=schema)
    return table.replace_schema_metadata({
        b"made by": b"a test", b"pandas": json.dumps(pandas).encode(),
        b"PANDAS_ATTRS": json.dumps({"mean": X[3]}).encode(),
        b"org.apache.spark.sql.parquet.row.metadata": json.dumps(spark).encode(),
    })  # fmt: skip


def write(table, path):
    if path.suffix == ".parquet":
        known = inspect.signature(pq.ParquetWriter).parameters
        bloom = {"income": {"ndv": N, "fpp": 0.01}, "id": {"ndv": N, "fpp": 0.01}}
        more = {"bloom_filter_options": bloom} if "bloom_filter_options" in known else {}
        pq.write_table(
            table, path, compression="none", row_group_size=1_000, write_page_index=True,
            sorting_columns=[pq.SortingColumn(1)], **more,
        )  # fmt: skip
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=1_000)
    return path


TYPES = [
    pa.float64(), pa.float32(), pa.int32(), pa.int64(), pa.uint64(), pa.decimal128(12, 2),
    pa.decimal128(30, 2), pa.dictionary(pa.int16(), pa.float64()),
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_no_original_value_is_in_the_bytes_of_a_release(tmp_path, suffix, dtype):
    source = write(planted(dtype), tmp_path / f"a.{suffix}")
    targets = [tmp_path / f"{key}.{suffix}" for key in (1, 2)]
    whole = pa.types.is_integer(dtype)
    scheme = cm.ConditionalMasking(0.6, 3e5, decimals=0) if whole else SCHEME
    if dtype == pa.float32():
        scheme = cm.ConditionalMasking(0.6, 3_000.0, step=2.0)

    for key, target in enumerate(targets, start=1):
        cm.mask_file(source, target, {"income": scheme}, rng=key)

    releases = [np.asarray(cm.read_column(target, "income"), dtype=float) for target in targets]
    releases = releases if whole else [z * 100 for z in releases]
    # the search finds what is there: .4^2 of all
    assert len(found([source.read_bytes()] * 2, releases)) > N / 7
    assert found([target.read_bytes() for target in targets], releases) == []
    schema = (pq.read_schema if suffix == "parquet" else lambda path: pa.ipc.open_file(path).schema)(target)
    assert schema.field("income").metadata in (None, {b"PARQUET:field_id": b"7"})
    assert not schema.metadata.keys() & {b"made by", b"PANDAS_ATTRS"}


def test_indexes_of_pages_and_filters_stay_behind(tmp_path):
    source, target = write(planted(pa.float64()), tmp_path / "a.parquet"), tmp_path / "b.parquet"
    cm.mask_file(source, target, {"income": SCHEME}, rng=1)

    def known(path):
        with path.open("rb") as file:
            groups = footers.read_footer(file, path).groups
        chunks = [chunk for group in groups for chunk in group[footers.CHUNKS][1][1]]
        return {
            field for chunk in chunks for field in (*chunk, *(10 * key for key in chunk[footers.CHUNK][1]))
        }

    told = {*footers.PAGE_INDEX, 140, 150}
    assert known(source) & set(footers.PAGE_INDEX)
    if "bloom_filter_options" in inspect.signature(pq.ParquetWriter).parameters:
        assert known(source) >= {140, 150}
    assert not known(target) & told


@pytest.mark.parametrize(("order", "kept"), [((1, 0), []), ((2, 1, 0), [2])])
def test_what_is_sorted_by_a_masked_column_is_no_longer_said_to_be(tmp_path, order, kept):
    """Nor by those that come after it, which sort only records that agree in it."""
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(planted(pa.float64()), source, sorting_columns=[pq.SortingColumn(leaf) for leaf in order])
    assert len(pq.ParquetFile(source).metadata.row_group(0).sorting_columns) == len(order)

    cm.mask_file(source, target, {"income": SCHEME}, rng=1)

    after = pq.ParquetFile(target).metadata.row_group(0).sorting_columns
    assert [column.column_index for column in after] == kept


def test_pandas_reads_its_index_and_types_and_no_attributes(tmp_path):
    index = pd.Index([f"k{i}" for i in range(N)], name="key")
    frame = pd.DataFrame(
        {
            "income": pd.array(CENTS, dtype="UInt64"),
            "group": pd.Categorical.from_codes(np.arange(N) % 3, ["a", "b", "c"]),
            "when": pd.date_range("2020-01-01", periods=N, freq="D", tz="Europe/Paris", unit="s"),
        },
        index=index,
    )
    frame.attrs = {"mean income": float(X.mean())}
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame.to_parquet(source)

    cm.mask_file(source, target, {"income": cm.ConditionalMasking(0.6, 3e5, decimals=0)}, rng=1)

    before, back = pd.read_parquet(source), pd.read_parquet(target)
    assert before.attrs == frame.attrs
    assert back.attrs == {}
    assert back["income"].dtype == "Int64"
    pd.testing.assert_frame_equal(back.drop(columns="income"), before.drop(columns="income"))


def test_polars_reads_what_it_wrote(tmp_path):
    frame = pl.DataFrame({
        "income": X, "list": [[i, None] for i in range(N)], "struct": [{"a": i, "b": "x"} for i in range(N)],
        "category": pl.Series([f"c{i % 3}" for i in range(N)], dtype=pl.Categorical),
        "duration": pl.Series(range(N), dtype=pl.Duration("ms")),
        "decimal": pl.Series(range(N), dtype=pl.Decimal(12, 3)),
        "binary": [b"\xff" * (i % 4) for i in range(N)],
    })  # fmt: skip
    for suffix, write_it, read_it in [
        ("parquet", frame.write_parquet, pl.read_parquet),
        ("arrow", frame.write_ipc, pl.read_ipc),
    ]:
        source, target = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        write_it(source)
        cm.mask_file(source, target, {"income": SCHEME}, rng=1)

        back = read_it(target)
        assert back.drop("income").equals(frame.drop("income"))
        assert back.schema == frame.schema


@pytest.mark.parametrize("name", ["pair.a", "pair.deep.age", "list.element", "pair"])
def test_what_is_within_a_column_is_not_masked(tmp_path, name):
    source = tmp_path / "a.parquet"
    pair = pa.array([{"a": k, "deep": {"age": k}} for k in range(N)])
    pq.write_table(pa.table({"pair": pair, "list": [[k] for k in range(N)]}), source)

    why = "must be numeric" if name == "pair" else "what is within a column must become one of its own first"
    with pytest.raises((ValueError, TypeError), match=why):
        cm.mask_file(source, tmp_path / "b.parquet", {name: cm.ConditionalMasking(0.6, 3.0, decimals=0)})
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columns_that_share_a_name_stay_as_they_are_unless_they_are_masked(tmp_path, suffix):
    source, target = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    columns = [np.arange(N), X, np.arange(N)[::-1], np.arange(N) % 7, X[::-1]]
    table = pa.table(columns, names=["same", "income", "same", "", ""])
    write(table, source)

    cm.mask_file(source, target, {"income": SCHEME}, rng=1, accept_visible_coins=True)

    after = pq.ParquetFile(target).read() if suffix == "parquet" else pa.ipc.open_file(target).read_all()
    assert after.schema.names == table.schema.names
    assert [after.column(k).equals(table.column(k)) for k in range(5)] == [True, False, True, True, True]
    with pytest.raises(ValueError, match="has several columns 'same'"):
        cm.mask_file(source, tmp_path / f"c.{suffix}", {"same": SCHEME})


def encrypted(path, columns, *, plaintext_footer):
    """Write a file some of whose columns are encrypted, under keys that stand beside them."""
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

        def unwrap_key(self, key, _):
            return base64.b64decode(key)

    settings = encryption.EncryptionConfiguration(
        footer_key="footer", column_keys={"key": columns}, plaintext_footer=plaintext_footer
    )
    properties = encryption.CryptoFactory(Keys).file_encryption_properties(
        encryption.KmsConnectionConfig(), settings
    )
    table = pa.table({"x": X[:400], "y": X[:400]})
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("columns", "plaintext_footer"), [(["x"], True), (["y"], True), (["y"], False), (["x", "y"], False)]
)
def test_an_encrypted_file_is_refused_whatever_is_asked_of_it(tmp_path, columns, plaintext_footer):
    source = tmp_path / "a.parquet"
    encrypted(source, columns, plaintext_footer=plaintext_footer)
    calls = [
        lambda: cm.mask_file(source, tmp_path / "b.parquet", {"x": SCHEME}),
        lambda: cm.mask_file(source, tmp_path / "b.csv", {"x": SCHEME}),
        lambda: audit_file(source, {"x": SCHEME}),
        lambda: cm.read_column(source, "x"),
        lambda: cm.read_release(source),
    ]
    for call in calls:
        with pytest.raises(
            ValueError, match=r"a\.parquet must not be encrypted: decrypt a copy of it first$"
        ):
            call()
    assert list(tmp_path.iterdir()) == [source]


def test_a_column_with_fewer_values_than_rows_is_not_taken_for_read(tmp_path):
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": X[:400], "y": X[:400]}), source)
    with source.open("rb") as file:
        footer = footers.read_footer(file, source)
    (group,) = footer.groups
    group[footers.CHUNKS][1][1][1][footers.CHUNK][1][footers.VALUES] = I64, -600
    source.write_bytes(source.read_bytes()[: footer.stop] + footers.footer_bytes(footer.fields))

    table = open_table(source)
    assert [*table.sample(["x", "y"], np.arange(3)).columns] == ["x"]
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read: a column has fewer values than rows"):
        list(table.parts(["y"]))


@pytest.mark.parametrize(
    ("dtype", "least"), [(pa.string(), 20), (pa.dictionary(pa.int32(), pa.string()), 40)]
)
def test_labels_that_a_dictionary_has_not_are_refused(tmp_path, dtype, least):
    source = tmp_path / "a.parquet"
    text = pa.array(["a", "b", "c"] * 34).cast(dtype)
    pq.write_table(pa.table({"x": X[:102], "s": text}), source, compression="none", use_dictionary=["s"])
    content, chunk = source.read_bytes(), pq.read_metadata(source).row_group(0).column(1)
    end = chunk.dictionary_page_offset + chunk.total_compressed_size
    said = []
    for at in range(end - 30, end):  # numbers of labels, of two bits each: 3 is none
        source.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
        for call in (lambda t: list(t.parts([], ["s"])), lambda t: t.sample(["x", "s"], np.arange(102))):
            with contextlib.suppress(ValueError):
                try:
                    call(open_table(source))
                except cm.FileError as error:
                    said.append(str(error))

    assert said.count(f"{source} cannot be read: its column 's' is damaged") == len(said) > least
