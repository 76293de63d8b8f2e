"""An Arrow file, or a stream: what is read is what pyarrow reads, and only the masked column changes."""

import pyarrow as pa

import condmask as cm
from condmask.files.read import open_table, read_labels
from fuzz.material import TABLE, as_arrow, fresh, released, same


def one(data, name="a.arrow"):
    path = fresh(name, data)
    table = open_table(path)
    for column in table.names[:4]:
        if table.names.count(column) == 1:
            cm.read_column(path, column)
    if "x" in table.names:
        target = released(path, "x")
        again = open_table(target)
        assert again.names == table.names
        assert again.rows == table.rows
        for column in table.names:
            if column != "x" and table.names.count(column) == 1:
                assert same(read_labels(target, column), read_labels(path, column)), "another column changed"


def seeds():
    small = TABLE.slice(0, 6)
    yield as_arrow(small.select(["x", "t"]))
    yield as_arrow(small.select(["x", "d"]))
    yield as_arrow(small.select(["x", "k"]), compression="zstd")
    yield as_arrow(small.select(["t", "x"]), compression="lz4")
    yield as_arrow(small, stream=True)
    yield as_arrow(small.slice(0, 0))
    nested = {"x": [1.5, 2.5], "l": [[1], []], "s": [{"a": 1}, None], "b": [b"1", None], "n": [None, None]}
    yield as_arrow(pa.table(nested))
    yield as_arrow(pa.table({"x": pa.array([1, 2], pa.int8()), "v": pa.array(["a", None], pa.string_view())}))
