"""Parquet files of many shapes: by who writes them and how, and who reads them.

Each has the columns `pay` and `age`, which are masked, behind, between and before columns that are not.
"""

import datetime
import decimal
import inspect
import io
from pathlib import Path
from typing import Any

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from condmask.files.thrift import BINARY, I32, LIST, STRUCT

import condmask as cm
from condmask.files import parquet_footer as footers

Bounds = dict[str, tuple[float, float]]  # of values by column, both included

VIEWS = int(pa.__version__.split(".")[0]) >= 21  # which Parquet has since then
N = 300
SCHEMES = {
    "pay": cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=-9.0, missing_as="null"),
    "age": cm.ConditionalMasking(0.6, 9.0, decimals=0),
}


def _made(function: Any, dtype: Any = None) -> Any:
    return pa.array([function(k) for k in range(N)], dtype)


def flat() -> dict[str, Any]:
    """Columns that every reader knows, with nulls; `pay` and `age` are among them, and not the first."""
    random = np.random.default_rng(5)
    some = np.arange(N)
    pay = np.where(some % 20 == 0, -9.0, random.lognormal(7.0, 0.5, N).round(2))
    return {
        "id": pa.array(some, pa.int32()),
        "pay": pa.array(pay),
        "note": _made(lambda k: None if k % 5 == 0 else f"é{k}"),
        "yes": _made(lambda k: None if k % 3 == 0 else k % 2 == 0),
        "time": pa.array(some * 1_000_000, pa.timestamp("us")),
        "age": pa.array(random.integers(18, 90, N)),
        "score": _made(lambda k: None if k % 7 == 0 else k / 8, pa.float32()),
        "region": _made(lambda k: None if k % 11 == 0 else f"r{k % 4}"),
    }


def nested() -> dict[str, Any]:
    """The same among lists, structs and maps, so that the number of a leaf is not that of its column."""
    first, last = dict(list(flat().items())[:3]), dict(list(flat().items())[3:])
    return {
        "list": _made(lambda k: None if k % 9 == 0 else [k, None] * (k % 3), pa.list_(pa.int64())),
        "pair": _made(lambda k: {"a": k, "pay": f"b{k}", "deep": {"age": [k]}}),
        **first,
        "pairs": _made(lambda k: [{"a": k, "b": [f"{k}"]}] * (k % 3)),
        "day": _made(lambda k: datetime.date(2020, 1, 1) + datetime.timedelta(k)),
        "a.b": _made(lambda k: k, pa.uint16()),
        **last,
        "map": _made(lambda k: [("pay", k), ("age", None)], pa.map_(pa.string(), pa.int64())),
        "euro": _made(lambda k: decimal.Decimal(k) / 100, pa.decimal128(12, 2)),
    }


def rare() -> dict[str, Any]:
    """Types that few readers know beside the masked columns, and names that hardly any writer gives."""
    whole = np.arange(N)
    columns = {
        "": pa.array(whole),
        "two": pa.array([[k, k + 0.5] for k in range(N)], pa.list_(pa.float64(), 2)),
        "half": pa.array(whole.astype(np.float16)),
        **flat(),
        "byte": pa.array(whole % 256, pa.uint8()),
        "huge": pa.array([2**63 + k for k in range(N)], pa.uint64()),
        "wide": _made(decimal.Decimal, pa.decimal256(38, 4)),
        "zone": pa.array(whole * 1_000, pa.timestamp("ns", "Europe/Paris")),
        "clock": pa.array(whole * 1_000, pa.time64("ns")),
        "span": pa.array(whole, pa.duration("us")),
        "view": _made(lambda k: f"v{k}", pa.string_view() if VIEWS else pa.string()),
        "bytes": _made(lambda k: b"\xff%d" % k, pa.binary_view() if VIEWS else pa.binary()),
        "long": _made(lambda k: f"l{k}", pa.large_string()),
        "fixed": pa.array([b"abcd"] * N, pa.binary(4)),
        "nothing": pa.nulls(N),
        "labels": _made(lambda k: f"d{k % 4}").dictionary_encode(),
        "pay.": pa.array(whole),
    }
    if hasattr(pa, "uuid"):
        columns["uuid"] = pa.array([k.to_bytes(16) for k in range(N)], pa.uuid())
    return columns


def by_pyarrow(columns: Any = nested, groups: Any = (100, 200), **options: Any) -> Any:
    """A function that writes row groups of these sizes."""

    def write(path: Path) -> None:
        table = pa.table(columns())
        known = inspect.signature(pq.ParquetWriter.__init__).parameters
        given = {name: option for name, option in options.items() if name in (*known, "data_page_size")}
        start = 0
        with pq.ParquetWriter(path, table.schema, **given) as writer:
            for size in groups:
                writer.write_table(table.slice(start, size), row_group_size=max(1, size))
                start += size

    return write


def by_polars(**options: Any) -> Any:
    def write(path: Path) -> None:
        columns = {name: column for name, column in nested().items() if name != "map"}
        pl.from_arrow(pa.table(columns)).write_parquet(path, **options)

    return write


def by_duckdb(options: str = "", columns: Any = nested) -> Any:
    def write(path: Path) -> None:
        with duckdb.connect() as own:
            own.register("t", pa.table(columns()))
            own.sql(f"copy t to '{path}' (format parquet{options})")

    return write


def by_fastparquet(**options: Any) -> Any:
    def write(path: Path) -> None:
        frame = pa.table(flat()).to_pandas()
        texts = frame[["note", "region"]].astype(object)
        fastparquet.write(str(path), frame.assign(**texts.where(texts.notna(), None)), **options)

    return write


def by_spark(path: Path, **options: Any) -> None:
    """As Spark with parquet-mr: its names, no schema of Arrow, times of 12 bytes, lists of three levels."""
    columns = {name: column for name, column in nested().items() if name != "a.b"}
    by_pyarrow(
        lambda: columns, store_schema=False, use_deprecated_int96_timestamps=True, data_page_size=500,
        use_compliant_nested_type=False, **options,
    )(path)  # fmt: skip
    with path.open("rb") as file:
        footer = footers.read_footer(file, path)
    of, elements = footer.fields[footers.SCHEMA][1]
    elements = [{key: value for key, value in element.items() if key != 10} for element in elements]
    elements[0] = {**elements[0], 4: (BINARY, b"spark_schema")}
    elements[0].pop(3, None)
    named = {b"list": b"bag", b"item": b"array_element"}
    elements = [
        {**e, 4: (BINARY, named[e[4][1]])} if e[4][1] in named and k > 1 else e
        for k, e in enumerate(elements)
    ]
    for group in footer.groups:
        for chunk in group[footers.CHUNKS][1][1]:
            kind, names = chunk[footers.CHUNK][1][3]
            renamed = [names[1][0], *(named.get(name, name) for name in names[1][1:])]
            chunk[footers.CHUNK][1][3] = kind, (names[0], renamed)
    fields = "".join(
        f',{{"name":"{name}","type":"{kind}","nullable":true,"metadata":{{}}}}'
        for name, kind in (("pay", "double"), ("age", "long"))
    )
    entries = {
        b"org.apache.spark.version": b"3.5.1",
        b"org.apache.spark.legacyINT96": b"",
        b"org.apache.spark.sql.parquet.row.metadata": f'{{"type":"struct","fields":[{fields[1:]}]}}'.encode(),
    }
    written = {
        **footer.fields,
        1: (I32, 1),
        footers.SCHEMA: (LIST, (of, elements)),
        footers.WRITER: (
            BINARY, b"parquet-mr version 1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)"
        ),
        footers.ENTRIES: (
            LIST, (STRUCT, [{1: (BINARY, key), 2: (BINARY, text)} for key, text in entries.items()])
        ),
    }  # fmt: skip
    content = path.read_bytes()[: footer.stop] + footers.footer_bytes(written)
    path.write_bytes(content)


PLAIN_CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
MIXED = dict(zip(flat(), [*PLAIN_CODECS, "zstd", "none"], strict=True))
BLOOM = {name: {"ndv": N, "fpp": 0.01} for name in ("id", "pay", "age")}
FULL: dict[str, Any] = {
    "write_page_index": True, "write_page_checksum": True, "bloom_filter_options": BLOOM,
    "data_page_size": 200, "write_batch_size": 10,
}  # fmt: skip
SORTED = [pq.SortingColumn(0), pq.SortingColumn(1, descending=True)]

# those whose shape differs most, for every run
FEW = {
    "indexes, filters and small pages": by_pyarrow(**FULL, sorting_columns=SORTED, compression="none"),
    "empty groups, pages of version 2": by_pyarrow(
        groups=(0, 100, 0, 0, 200, 0), data_page_version="2.0", compression="zstd", **FULL
    ),
    "a codec for each column, dictionaries given up": by_pyarrow(
        flat, compression=MIXED, dictionary_pagesize_limit=64, write_batch_size=8
    ),
    "encodings": by_pyarrow(
        flat, use_dictionary=False, data_page_version="2.0",
        column_encoding={
            "id": "DELTA_BINARY_PACKED", "age": "DELTA_BINARY_PACKED", "pay": "BYTE_STREAM_SPLIT",
            "score": "BYTE_STREAM_SPLIT", "note": "DELTA_BYTE_ARRAY", "region": "DELTA_LENGTH_BYTE_ARRAY",
            "yes": "RLE", "time": "PLAIN",
        },
    ),
    "rare types and names": by_pyarrow(rare),
    "Spark": by_spark,
    "DuckDB": by_duckdb(", parquet_version v2, row_group_size 2048, compression brotli, field_ids 'auto'"),
    "polars": by_polars(statistics="full", row_group_size=70, data_page_size=500),
    "fastparquet": by_fastparquet(row_group_offsets=70, compression="GZIP", times="int96", stats=True),
}  # fmt: skip

MORE = {
    **{f"pyarrow {codec}": by_pyarrow(compression=codec) for codec in PLAIN_CODECS},
    **{f"pyarrow {codec}, pages of version 2": by_pyarrow(compression=codec, data_page_version="2.0")
       for codec in PLAIN_CODECS},
    **{f"pyarrow version {version}": by_pyarrow(version=version) for version in ("1.0", "2.4", "2.6")},
    "one row a group": by_pyarrow(groups=(1,) * N),
    "first group empty": by_pyarrow(groups=(0, N)),
    "last group empty": by_pyarrow(groups=(N, 0)),
    "first group of one row": by_pyarrow(groups=(1, N - 1)),
    "nothing beside": by_pyarrow(lambda: {name: flat()[name] for name in ("pay", "age")}),
    "masked first": by_pyarrow(lambda: {name: nested()[name] for name in ("age", "pay", *nested())}),
    "masked last": by_pyarrow(
        lambda: {name: nested()[name] for name in (*(n for n in nested() if n not in SCHEMES), "pay", "age")}
    ),
    "rows of a page limited": by_pyarrow(max_rows_per_page=7),
    "no statistics": by_pyarrow(write_statistics=False),
    "statistics of some": by_pyarrow(write_statistics=["pay"]),
    "no schema of Arrow": by_pyarrow(rare, store_schema=False),
    "old lists": by_pyarrow(use_compliant_nested_type=False),
    "old times": by_pyarrow(rare, use_deprecated_int96_timestamps=True),
    "decimals as integers": by_pyarrow(store_decimal_as_integer=True),
    "pages by content": by_pyarrow(use_content_defined_chunking=True),
    "milliseconds": by_pyarrow(flat, coerce_timestamps="ms"),
    "flavour of Spark": by_pyarrow(flat, flavor="spark"),
    "Spark, pages of version 2": lambda path: by_spark(path, data_page_version="2.0"),
    "Spark, gzip, small pages": lambda path: by_spark(path, compression="gzip", write_batch_size=5),
    **{f"polars {codec}": by_polars(compression=codec)
       for codec in ("lz4", "uncompressed", "snappy", "gzip", "brotli", "zstd")},
    "polars, no statistics": by_polars(statistics=False),
    "polars by pyarrow": by_polars(use_pyarrow=True, statistics=True),
    "polars, small groups": by_polars(row_group_size=1),
    **{f"DuckDB {codec}": by_duckdb(f", compression {codec}")
       for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw")},
    "DuckDB version 1": by_duckdb(", parquet_version v1, row_group_size 2048"),
    "DuckDB version 2, no dictionaries": by_duckdb(", parquet_version v2, dictionary_size_limit 1", flat),
    "DuckDB, filters": by_duckdb(", bloom_filter_false_positive_ratio 0.001", flat),
    "DuckDB, notes": by_duckdb(", kv_metadata {made_by: 'us', best: '1e9'}"),
    **{f"fastparquet {codec}": by_fastparquet(compression=codec)
       for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "BROTLI")},
    "fastparquet, nulls in some": by_fastparquet(has_nulls=["note", "yes", "score", "region"]),
    "fastparquet, no statistics": by_fastparquet(stats=False),
    "fastparquet, an index": by_fastparquet(write_index=True),
}  # fmt: skip


def of_fastparquet(path: Path) -> Any:
    """A file as fastparquet reads it, from memory: it leaves files open."""
    return fastparquet.ParquetFile(
        str(path), open_with=lambda name, mode="rb": io.BytesIO(Path(name).read_bytes())
    )


def found_by_duckdb(path: Path, bounds: Bounds) -> int:
    with duckdb.connect() as own:
        among = [f"{name} = {low!r}" if low == high else f"{name} between {low!r} and {high!r}"
                 for name, (low, high) in bounds.items()]  # fmt: skip
        found = own.sql(f"select count(*) from read_parquet('{path}') where {' and '.join(among)}").fetchall()
        return int(found[0][0])


def found_by_polars(path: Path, bounds: Bounds) -> int:
    among = [pl.col(name).is_between(*ends) for name, ends in bounds.items()]
    return int(pl.scan_parquet(path).filter(*among).select(pl.len()).collect().item())


def _filters(bounds: Bounds) -> list[tuple[str, str, float]]:
    ends = [[(name, ">=", low), (name, "<=", high)] for name, (low, high) in bounds.items()]
    return [one for pair in ends for one in pair]


FINDERS = {
    "DuckDB": found_by_duckdb,
    "fastparquet": lambda path, bounds: len(
        of_fastparquet(path).to_pandas(
            columns=list(bounds), filters=[_filters(bounds)], row_filter=True
        )
    ),
    "pandas": lambda path, bounds: len(
        pd.read_parquet(path, columns=list(bounds), filters=_filters(bounds))
    ),
    "polars": found_by_polars,
    "pyarrow": lambda path, bounds: pq.read_table(path, filters=_filters(bounds)).num_rows,
}  # fmt: skip


def _by_duckdb(path: Path) -> Any:
    with duckdb.connect() as own:
        found = own.sql(f"select * from read_parquet('{path}')")
        return dict(zip(found.columns, map(str, found.types), strict=True)), found.to_arrow_table()


def _by_fastparquet(path: Path) -> Any:
    file = of_fastparquet(path)
    frame = file.to_pandas(columns=[name for name in file.columns if "." not in name])
    return frame.dtypes.astype(str).to_dict(), frame


def _by_pandas(path: Path) -> Any:
    frame = pd.read_parquet(path)
    return frame.dtypes.astype(str).to_dict(), frame


def _by_polars(path: Path) -> Any:
    frame = pl.read_parquet(path)
    return {name: str(kind) for name, kind in frame.schema.items()}, frame


def _by_pyarrow(path: Path) -> Any:
    table = pq.read_table(path)
    return {field.name: str(field.type) for field in table.schema}, table


READERS = {
    "DuckDB": _by_duckdb, "fastparquet": _by_fastparquet, "pandas": _by_pandas, "polars": _by_polars,
    "pyarrow": _by_pyarrow,
}  # fmt: skip


def columns_of(reader: str, path: Path) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """The types of the columns of a file as a reader has them, and their values as objects that compare."""
    types, found = READERS[reader](path)
    if isinstance(found, pd.DataFrame):
        found = found.astype(object).where(found.notna(), None)
        columns = [found.iloc[:, k].tolist() for k in range(found.shape[1])]
    elif isinstance(found, pl.DataFrame):
        columns = [column.to_list() for column in found.iter_columns()]
    else:
        columns = [_as_python(column) for column in found.columns]
    return types, {name: [_plain(one) for one in values] for name, values in zip(types, columns, strict=True)}


def _as_python(column: Any) -> list[Any]:
    """The values of a column of Arrow; times of nanoseconds as whole numbers."""
    dtype = column.type
    if getattr(dtype, "unit", "") == "ns":
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and value != value else value
