"""Every type of number: masked as in memory, written as documented; missing cells as they were.

The oracle is the same column masked in memory, and pyarrow's own reader.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.files.arrow_types import labels_of, numbers, plain, released, released_type
from condmask.releases.mask_file import audit_file

pytestmark = pytest.mark.usefixtures("unaudited")

N = 500
WHOLE = cm.ConditionalMasking(0.6, 40.0, decimals=0)
CENTS = cm.ConditionalMasking(0.6, 40.0, decimals=2)
RANDOM = np.random.default_rng(4)
INTEGERS = RANDOM.integers(0, 100, N)
AMOUNTS = RANDOM.integers(-9_999, 9_999, N)  # in cents

DECIMALS = [pa.decimal128(5, 2), pa.decimal128(38, 18), pa.decimal256(60, 4)]
if hasattr(pa, "decimal32"):
    DECIMALS += [pa.decimal32(5, 2), pa.decimal64(12, 3)]


def write(table, path, **options):
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def read(path):
    return pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()


def masked(tmp_path, column, scheme, suffix="parquet", **options):
    """The column after a release, beside one that stays."""
    table = pa.table({"x": column, "id": range(len(column))})
    source, target = write(table, tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    cm.mask_file(source, target, {"x": scheme}, rng=1, **options)
    after = read(target)
    assert after["id"].equals(table["id"])
    return after["x"].combine_chunks()


def in_memory(values, scheme):
    return scheme.mask(pd.Series(values, name="x"), rng=1).to_numpy()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("bits", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_become_int64(tmp_path, suffix, bits):
    found = masked(tmp_path, pa.array(INTEGERS.astype(bits)), WHOLE, suffix)

    assert found.type == pa.int64()
    assert np.array_equal(found.to_numpy(), in_memory(INTEGERS, WHOLE))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("bits", ["float32", "float64"])
def test_floats_stay(tmp_path, suffix, bits):
    rng = np.random.default_rng(115)
    scheme = cm.ConditionalMasking(0.6, 40.0)
    values = rng.normal(size=N).astype(bits)

    found = masked(tmp_path, pa.array(values), scheme, suffix)

    assert found.type == pa.from_numpy_dtype(bits)
    assert np.array_equal(found.to_numpy(), in_memory(values, scheme))


def decimals(dtype, units=AMOUNTS):
    return pa.array([None if unit is None else Decimal(int(unit)).scaleb(-2) for unit in units], dtype)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", DECIMALS, ids=str)
def test_decimals_stay_decimals_of_their_scale(tmp_path, suffix, dtype):
    if suffix == "parquet":  # which has no narrow decimals
        table = tmp_path / "narrow.parquet"
        pq.write_table(pa.table({"x": decimals(dtype)}), table)
        dtype = pq.read_schema(table).field("x").type

    found = masked(tmp_path, decimals(dtype), CENTS, suffix)

    large = dtype.bit_width == 256
    assert found.type == (pa.decimal256(76, dtype.scale) if large else pa.decimal128(38, dtype.scale))
    units = np.array([int(value.scaleb(2)) for value in found.to_pylist()])
    expected = in_memory(AMOUNTS / 100, CENTS)
    assert all(value == value.quantize(Decimal("0.01")) for value in found.to_pylist())
    assert np.array_equal(units / 100, expected)
    assert np.array_equal(cm.read_column(tmp_path / f"b.{suffix}", "x"), expected)


def test_decimals_off_the_grid_of_their_scale_become_float64(tmp_path):
    scheme = cm.ConditionalMasking(0.6, 40.0, step=0.125)
    values = decimals(pa.decimal128(9, 2), AMOUNTS // 100 * 100)

    found = masked(tmp_path, values, scheme)

    assert found.type == pa.float64()
    assert np.array_equal(found.to_numpy(), in_memory(AMOUNTS // 100, scheme))


@pytest.mark.parametrize("dtype", DECIMALS, ids=str)
def test_decimals_are_read_as_the_numbers_next_to_them(dtype):
    texts = ["0.01", "-1.10", "999.99", "-999.99", None, "0"]
    column = pa.array([None if text is None else Decimal(text) for text in texts], dtype)

    found, kind = numbers(column, "x", 0)

    assert kind == "float64"
    assert np.array_equal(found, [np.nan if t is None else float(t) for t in texts], equal_nan=True)


def test_large_decimals_are_rounded_once():
    # 2^53 + 1 in units: a division of the rounded number would round twice
    texts = ["90071992547409.93", "-123456789012345678.91", "0.000000000000000001"]
    column = pa.array([Decimal(text) for text in texts], pa.decimal128(38, 18))

    assert numbers(column, "x", 0)[0].tolist() == [float(text) for text in texts]


def test_decimals_without_room_are_refused():
    original = pa.array([Decimal(1), Decimal(2)], pa.decimal128(38, 30))
    dtype = released_type(original.type, "float64", 2)

    with pytest.raises(ValueError, match="x must stay within 38 digits when it is masked"):
        released(np.array([1e9, 2.0]), original, dtype, "x", decimals=2)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_numbers_in_a_dictionary_are_released_as_numbers(tmp_path, suffix):
    rng = np.random.default_rng(116)
    values = rng.integers(0, 50, N) / 100
    column = pa.array(values).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.float64()))

    found = masked(tmp_path, column, CENTS, suffix)

    assert found.type == pa.float64()
    assert np.array_equal(found.to_numpy(), in_memory(values, CENTS))


class Money(pa.ExtensionType):
    """A type of somebody's own."""

    def __init__(self):
        super().__init__(pa.float64(), "tests.money")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("registered", [True, False])
def test_numbers_of_a_type_of_their_own_are_released_as_numbers(tmp_path, suffix, registered):
    values = AMOUNTS / 100
    column = pa.ExtensionArray.from_storage(Money(), pa.array(values))
    table = pa.table({"x": column, "other": column})
    if registered:
        pa.register_extension_type(Money())
    try:
        source, target = write(table, tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
        cm.mask_file(source, target, {"x": CENTS}, rng=1)
        found = read(target)
        assert found["x"].type == pa.float64()
        assert found["other"].equals(read(source)["other"])
        assert found.schema.field("other") == read(source).schema.field("other")
    finally:
        if registered:
            pa.unregister_extension_type("tests.money")
    assert np.array_equal(found["x"].to_numpy(), in_memory(values, CENTS))


@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32(), pa.int64(), pa.int8()])
@pytest.mark.parametrize(("start", "size"), [(0, 40), (3, 20), (8, 9), (17, 0)])
def test_nulls_are_missing_wherever_a_column_begins(dtype, start, size):
    column = pa.array([None if k % 5 == 2 else k for k in range(40)], dtype).slice(start, size)

    read, _ = numbers(column, "x", 0)

    np.testing.assert_array_equal(read, np.array(column.to_pylist(), dtype=float))


def test_large_integers_are_refused_by_their_place_but_not_where_they_are_null():
    memory = pa.py_buffer(np.array([1, 2**60, -(2**60), 4]))

    def column(bits):
        return pa.Array.from_buffers(pa.int64(), 4, [pa.py_buffer(bytes([bits])), memory])

    np.testing.assert_array_equal(numbers(column(0b1001), "x", 10)[0], [1.0, np.nan, np.nan, 4.0])
    with pytest.raises(
        ValueError, match=r"x must hold integers of at most 2\^53, got a larger one at position 12"
    ):
        numbers(column(0b1101), "x", 10)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([True, False]), "x must be numeric, got booleans"),
        (pa.array([1.0, 2.0]).cast(pa.float16()), "x must be float32 or float64, got float16"),
        (pa.array(["1", "2"]), "x must be numeric .*, got string"),
        (pa.array([1, 2], pa.timestamp("s")), r"x must be numeric .*, got timestamp\[s\]"),
        (pa.nulls(2), "x must be numeric .*, got null"),
    ],
)
def test_other_types_are_refused(tmp_path, column, message):
    with pytest.raises(TypeError, match=message):
        masked(tmp_path, column, CENTS, "arrow")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", [pa.int8(), pa.float64(), pa.decimal128(9, 2)], ids=str)
def test_missing_values_keep_their_cells(tmp_path, suffix, dtype):
    gap = np.arange(N) % 5 == 0
    units = [None if g else u for g, u in zip(gap, INTEGERS * 100, strict=True)]
    column = decimals(pa.decimal128(9, 2), units).cast(dtype)
    if pa.types.is_floating(dtype):  # beside nulls
        column = pa.array(
            [np.nan if k == 3 else v for k, v in enumerate(column.to_pylist())], from_pandas=False
        )
        gap = gap | (np.arange(N) == 3)

    found = masked(tmp_path, column, WHOLE, suffix, nan_policy="omit")

    cells = [cell for cell, g in zip(found.to_pylist(), gap, strict=True) if g]
    assert cells.count(None) == N // 5
    assert [cell for cell in cells if cell is not None and cell == cell] == []
    assert found.null_count == N // 5


@pytest.mark.parametrize("dtype", [pa.int8(), pa.int64(), pa.float32(), pa.decimal128(9, 2)], ids=str)
def test_what_stands_for_missing_stays_or_becomes_null(dtype):
    original = pa.array([5, -8, None, -9], dtype)
    z = np.array([7.0, np.nan, np.nan, np.nan])
    wide = released_type(dtype, "int" if pa.types.is_integer(dtype) else "float64", 0)

    kept = released(z, original, wide, "x", decimals=0)
    nulls = released(z, original, wide, "x", decimals=0, nulls=True)

    assert kept.to_pylist() == [7, -8, None, -9]
    assert nulls.to_pylist() == [7, None, None, None]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columns_that_must_not_be_null_stay_so(tmp_path, suffix):
    schema = pa.schema(
        [pa.field("x", pa.float64(), nullable=False), pa.field("y", pa.int8(), nullable=False)]
    )
    table = pa.table([AMOUNTS / 100, INTEGERS.astype("int8")], schema=schema)
    source, target = write(table, tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"

    cm.mask_file(source, target, {"x": CENTS})

    assert [field.nullable for field in read(target).schema] == [False, False]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("rows", [0, 1])
def test_files_with_hardly_a_row_are_refused(tmp_path, suffix, rows):
    source = write(pa.table({"x": pa.array([1.5][:rows], pa.float64())}), tmp_path / f"a.{suffix}")

    with pytest.raises(ValueError, match=f"x must have at least 2 values, got {rows}"):
        cm.mask_file(source, tmp_path / f"b.{suffix}", {"x": CENTS})


def test_groups_without_rows_and_columns_behind_nested_ones_find_their_place(tmp_path):
    nested = pa.struct({"a": pa.struct({"x": pa.int64(), "b": pa.list_(pa.int64())}), "x": pa.string()})

    def part(n):
        return pa.table({
            "nested": pa.array([{"a": {"x": i, "b": [i]}, "x": "t"} for i in range(n)], nested),
            "x": AMOUNTS[:n] / 100,
            "a.x": pa.array(range(n), pa.int32()),
            "map": pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
            "last": INTEGERS[:n],
        })  # fmt: skip

    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    with pq.ParquetWriter(source, part(0).schema) as writer:
        for n in (100, 0, 300):
            writer.write_table(part(n))

    cm.mask_file(source, target, {"x": CENTS, "last": WHOLE, "a.x": WHOLE}, rng=1)

    before, after = read(source), read(target)
    names = ["x", "last", "a.x"]
    assert after.drop(names).equals(before.drop(names))
    together = cm.mask_table(before.select(names), {"x": CENTS, "last": WHOLE, "a.x": WHOLE}, rng=1).data
    for name in names:
        assert after[name].equals(together[name])
    groups = [pq.read_metadata(path).num_row_groups for path in (source, target)]
    assert groups[0] == groups[1]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_an_audit_looks_at_text_that_is_not_in_utf8(tmp_path, suffix):
    """Bands of the values by name, in Latin-1 bytes: they give the coins away, and were left out unseen."""
    x = np.round(np.random.default_rng(6).normal(1_000.0, 200.0, 2_000), 2)
    names = [f"R\xe9gion {int(value // 20)}".encode("latin-1") for value in x]
    offsets = np.cumsum([0, *map(len, names)]).astype(np.int32)
    text = pa.Array.from_buffers(
        pa.string(), len(names), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(names))]
    )
    write(pa.table({"income": x, "region": text}), tmp_path / f"a.{suffix}")

    audit = audit_file(tmp_path / f"a.{suffix}", {"income": cm.ConditionalMasking(0.6, 20.0, decimals=2)})

    assert audit.visible


def in_runs(column):
    """A column in which every value is a run of two."""
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(2, 2 * len(column) + 1, 2), pa.int16()), column)


def as_extension(column):
    class Own(pa.ExtensionType):
        def __init__(self):
            super().__init__(column.type, "condmask.own")

        def __arrow_ext_serialize__(self):
            return b""

    return pa.ExtensionArray.from_storage(Own(), column)


def in_views(column):
    if int(pa.__version__.split(".")[0]) < 21:
        pytest.skip("Arrow casts no views, and Parquet has none")
    return column.cast(pa.string_view())


DAY = 86_400
ODD = {  # what an audit sees of each but the first value
    "half precision": (
        pa.array([*np.array([0.0, 0.5], np.float16), None, np.float16(0.75)], pa.float16()),
        [0.5, np.nan, 0.75],
    ),
    "durations": (pa.array([0, 9, None, 6], pa.duration("s")), [9 / DAY, np.nan, 6 / DAY]),
    "hours": (pa.array([0, 9, None, 6], pa.int32()).cast(pa.time32("s")), [9 / DAY, np.nan, 6 / DAY]),
    "nanoseconds": (pa.array([0, 9_500, None, 600]).cast(pa.time64("ns")), [9e-6 / DAY, np.nan, 0.0]),
    "runs of numbers": (in_runs(pa.array([0.5, None])), [0.5, np.nan, np.nan]),
    "runs of text": (in_runs(pa.array(["a", None])), ["a", None, None]),
    "runs of labels": (in_runs(pa.array(["a", None]).dictionary_encode()), ["a", None, None]),
    "an extension of text": (as_extension(pa.array(["a", "b", None])), ["b", None]),
    "an extension of labels": (as_extension(pa.array(["a", "b", None]).dictionary_encode()), ["b", None]),
    "an extension of runs": (as_extension(in_runs(pa.array([1.5, 2.5]))), [1.5, 2.5, 2.5]),
}


@pytest.mark.parametrize("name", ODD)
def test_an_audit_sees_through_wraps_and_into_numbers_of_every_kind(name):
    column, expected = ODD[name]

    found = plain(column.slice(1), "x")

    assert found.dtype == (object if any(isinstance(one, str) for one in expected) else np.float64)
    assert np.array_equal(found, np.array(expected, found.dtype), equal_nan=found.dtype == np.float64)


@pytest.mark.parametrize("dtype", [dtype for dtype in DECIMALS if dtype.bit_width != 256], ids=str)
def test_decimals_of_every_width_are_labels(dtype):
    code, distinct = labels_of(decimals(dtype, [150, None, 150]), "x")

    assert [distinct[k] for k in code] == [Decimal("1.5"), None, Decimal("1.5")]


def test_numbers_in_runs_are_released_as_numbers(tmp_path):
    column = in_runs(pa.array(INTEGERS[: N // 2], pa.int8()))

    found = masked(tmp_path, column, WHOLE, "arrow")

    assert found.type == pa.int64()
    assert np.array_equal(found.to_numpy(), in_memory(np.repeat(INTEGERS[: N // 2], 2), WHOLE))


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize(
    ("suffix", "wrap"),
    [("arrow", in_runs), ("arrow", in_views), ("arrow", as_extension), ("parquet", in_views)],
)  # fmt: skip
def test_an_audit_looks_into_columns_that_wrap_labels(tmp_path, suffix, wrap, folder):
    """Bands of the values by name: they give the coins away, and were left out unseen."""
    x = np.repeat(np.random.default_rng(6).normal(1_000.0, 200.0, 1_000).round(2), 2)
    bands = pa.array([f"band {int(value // 20)}" for value in (x[::2] if wrap is in_runs else x)])
    path = tmp_path / "many" / f"a.{suffix}"
    path.parent.mkdir()
    write(pa.table({"income": x, "band": wrap(bands)}), path)

    audit = audit_file(
        path.parent if folder else path, {"income": cm.ConditionalMasking(0.6, 20.0, decimals=2)}
    )

    assert any("band" in str(cause) for cause in audit.causes)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([0, 2**50], pa.timestamp("ms", "UTC")),
        pa.array([2**30], pa.date32()),
        pa.Array.from_buffers(pa.decimal128(10, -2000), 1, [None, pa.py_buffer(bytes([1] * 16))]),
    ],
)
def test_times_and_decimals_that_python_has_not_are_no_labels(values):
    with pytest.raises(
        ValueError, match=r"^day must hold times and decimals that Python has, to be labels, got"
    ):
        labels_of(values, "day")


def test_memory_behind_the_last_value_is_not_looked_at():
    memory = pa.py_buffer(np.arange(5.0).tobytes() + b"abc")
    values = pa.Array.from_buffers(pa.float64(), 4, [None, memory], offset=1)

    assert numbers(values, "x", 0)[0].tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 21, reason="Arrow casts no views")
def test_views_of_nulls_may_point_anywhere():
    long = "a text that does not stand in its view"
    views = pa.array([long, "b", None, long, None, "c"]).cast(pa.string_view())
    present, memory, *texts = views.buffers()
    places = np.frombuffer(memory, np.int64).copy()
    places[[4, 8]] = -117_440_512  # the lengths of both nulls
    buffers = [present, pa.py_buffer(places), *texts]
    damaged = pa.Array.from_buffers(pa.string_view(), 6, buffers).slice(1)

    code, distinct = labels_of(damaged, "x")

    assert [distinct[k] for k in code] == ["b", None, long, None, "c"]
