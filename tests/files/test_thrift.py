"""Structs in Thrift's compact protocol: by its specification, the footers of pyarrow, and damage."""

import contextlib
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.files import thrift
from condmask.files.thrift import BINARY, DOUBLE, FALSE, I32, I64, LIST, MAP, SET, STRUCT, TRUE, UUID

INTEGERS = st.integers(-(2**63), 2**63 - 1)
SIMPLE = st.one_of(
    st.tuples(st.sampled_from([TRUE, FALSE]), st.none()),
    st.tuples(st.sampled_from([thrift.I16, I32, I64]), INTEGERS),
    st.tuples(st.just(BINARY), st.binary(max_size=200)),
    st.tuples(st.just(DOUBLE), st.binary(min_size=8, max_size=8)),
    st.tuples(st.just(UUID), st.binary(min_size=16, max_size=16)),
)


def nested(values):
    structs = st.dictionaries(st.integers(1, 32_767), values, max_size=5)
    lists = st.one_of(
        st.tuples(st.just(STRUCT), st.lists(structs, max_size=20)),
        st.tuples(st.just(I64), st.lists(INTEGERS, max_size=20)),
        st.tuples(st.just(TRUE), st.lists(st.sampled_from([0, 1, 2]), max_size=20)),
    )
    pairs = st.lists(st.tuples(st.binary(max_size=3), INTEGERS), min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.just(STRUCT), structs),
        st.tuples(st.sampled_from([LIST, SET]), lists),
        st.tuples(st.just(MAP), st.tuples(st.just((BINARY, I32)), pairs)),
    )


STRUCTS = st.dictionaries(st.integers(1, 32_767), st.recursive(SIMPLE, nested, max_leaves=20), max_size=8)


@given(STRUCTS)
def test_what_is_written_is_read(fields):
    assert thrift.read_struct(thrift.write_struct(fields)) == fields


@pytest.mark.parametrize(
    ("number", "coded"), [(0, b"\x00"), (-1, b"\x01"), (1, b"\x02"), (-2, b"\x03"), (50_399, b"\xbe\x93\x06")]
)
def test_whole_numbers_are_zigzag_varints(number, coded):
    # field 1 of type i32, the value, the end; the last bytes are those of twice the specification's 50399
    assert thrift.write_struct({1: (I32, number)}) == b"\x15" + coded + b"\x00"


@pytest.mark.parametrize("columns", [1, 14, 15, 200])  # lists of 15 and more have a long head
def test_the_footers_of_pyarrow_come_back_byte_by_byte(columns):
    sink = io.BytesIO()
    table = pa.table({f"c{k}": [k, None, 2] for k in range(columns)})
    pq.write_table(table, sink, row_group_size=1)
    content = sink.getvalue()
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]

    assert thrift.write_struct(thrift.read_struct(footer)) == footer


@given(STRUCTS, st.integers(0, 10_000), st.integers(0, 255))
def test_damaged_bytes_are_refused_or_read_as_something(fields, at, byte):
    content = bytearray(thrift.write_struct(fields))
    content[at % len(content)] = byte

    for damaged in (bytes(content), bytes(content[: at % len(content)])):
        with contextlib.suppress(ValueError):
            thrift.read_struct(damaged)


@pytest.mark.parametrize("deep", [b"\x1c" * 100_000, b"\x19" * 100_000])  # structs in structs, lists in lists
def test_endless_nesting_is_refused(deep):
    with pytest.raises(ValueError, match="the footer is nested too deeply"):
        thrift.read_struct(deep)
