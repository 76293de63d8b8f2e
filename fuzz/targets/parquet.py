"""A Parquet file: as for an Arrow file, and its names and rows are those that pyarrow reads."""

import pyarrow as pa
import pyarrow.parquet as pq

from condmask.files.read import open_table
from fuzz.material import TABLE, as_parquet, fresh
from fuzz.targets import arrow


def one(data):
    path = fresh("a.parquet", data)
    table = open_table(path)
    file = pq.ParquetFile(path)
    assert table.names == file.schema_arrow.names
    # the sum that a damaged footer states may be another
    groups = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
    assert table.rows == sum(groups) or not table.names
    file.close()
    arrow.one(data, "a.parquet")


def seeds():
    small = TABLE.slice(0, 6)
    yield as_parquet(small.select(["x", "t"]))
    yield as_parquet(small.select(["x", "d"]), compression="zstd", row_group_size=3)
    yield as_parquet(
        small.select(["k", "x"]), compression="none", use_dictionary=False, data_page_version="2.0"
    )
    yield as_parquet(small.slice(0, 0))
    yield as_parquet(pa.table({"x": [1.5, 2.5], "l": [[1], []], "s": [{"a": 1}, None]}), compression="none")
