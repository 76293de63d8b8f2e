"""The footer of a Parquet file: its columns lie where pyarrow finds them."""

import pyarrow as pa
import pyarrow.parquet as pq

from condmask.files import parquet_footer as footers
from fuzz.material import as_parquet, fresh
from fuzz.targets import parquet

CONTENT = as_parquet(
    pa.table({"x": [1.5, 2.5, None], "t": ["a", "b", "a"]}), compression="none", row_group_size=2
)
LENGTH = int.from_bytes(CONTENT[-8:-4], "little")
BEFORE = CONTENT[: -8 - LENGTH]


def one(data):
    file = BEFORE + data + len(data).to_bytes(4, "little") + footers.MAGIC
    path = fresh("a.parquet", file)
    with path.open("rb") as source:
        footer = footers.read_footer(source, path)
    footers.check_groups(footer, path)
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        pass
    else:
        for group in range(metadata.num_row_groups):
            chunks = footers.chunks_of(footer.groups[group], footer, path)
            assert len(chunks) == metadata.row_group(group).num_columns
            for k, chunk in enumerate(chunks):
                assert chunk.length == metadata.row_group(group).column(k).total_compressed_size
    parquet.one(file)


def seeds():
    yield CONTENT[-8 - LENGTH : -8]
