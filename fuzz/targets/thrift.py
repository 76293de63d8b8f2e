"""Structs of Thrift: what was read is written, and read again, as it is."""

import io

import pyarrow as pa
import pyarrow.parquet as pq

from condmask.files.thrift import read_struct, write_struct


def one(data):
    fields = read_struct(data)
    written = write_struct(fields)
    assert read_struct(written) == fields
    assert write_struct(read_struct(written)) == written


def seeds():
    for table in (
        pa.table({"x": [1.5, None], "t": ["a", "b"]}),
        pa.table({"l": [[1], []], "m": [{"a": 1}, None]}),
    ):
        file = io.BytesIO()
        pq.write_table(table, file)
        content = file.getvalue()
        length = int.from_bytes(content[-8:-4], "little")
        yield content[-8 - length : -8]
