"""A released Parquet file is read alike by DuckDB, fastparquet, pandas, polars and pyarrow.

Oracle: what the same reader reads from the source file, and the masked column as pyarrow reads it.
"""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

duckdb = pytest.importorskip("duckdb")
fastparquet = pytest.importorskip("fastparquet")

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),  # of fastparquet
]

N = 1_000
SCHEMES = {
    "income": cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=-9.0, missing_as="null"),
    "age": cm.ConditionalMasking(0.6, 9.0, decimals=0),
}


def people(*, nested=True):
    """A column of each kind that several readers know, with nulls."""
    random = np.random.default_rng(5)
    some = np.arange(N)
    income = np.where(some % 50 == 0, -9.0, random.lognormal(7.0, 0.5, N).round(2))
    columns = {
        "income": income,
        "age": random.integers(18, 90, N),
        "id": pa.array(some, pa.int32()),
        "score": pa.array([None if k % 7 == 0 else k / 8 for k in range(N)], pa.float32()),
        "region": pa.array([None if k % 11 == 0 else f"r{k % 4}" for k in range(N)]).dictionary_encode(),
        "note": pa.array([None if k % 5 == 0 else f"é{k}" for k in range(N)]),
        "yes": pa.array([None if k % 3 == 0 else k % 2 == 0 for k in range(N)]),
        "time": pa.array(some * 1_000_000, pa.timestamp("us")),
        "euro": pa.array([decimal.Decimal(k) / 100 for k in range(N)], pa.decimal128(12, 2)),
    }
    if nested:  # and what fastparquet does not write
        columns["day"] = pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(k) for k in range(N)])
        columns["list"] = pa.array(
            [None if k % 9 == 0 else [k, None] for k in range(N)], pa.list_(pa.int64())
        )
        columns["pair"] = pa.array([{"a": k, "b": f"b{k}"} for k in range(N)])
    table = pa.table(columns)
    return table.replace_schema_metadata({"org.apache.spark.version": "3.5.1"})


def by_duckdb(path):
    found = duckdb.sql(f"select * from read_parquet('{path}')")
    return dict(zip(found.columns, map(str, found.types), strict=True)), found.fetchall()


def by_fastparquet(path):
    frame = fastparquet.ParquetFile(path).to_pandas()
    return frame.dtypes.astype(str).to_dict(), frame


def by_pandas(path):
    frame = pd.read_parquet(path)
    return frame.dtypes.astype(str).to_dict(), frame


def by_polars(path):
    frame = pl.read_parquet(path)
    return {name: str(kind) for name, kind in frame.schema.items()}, frame


def by_pyarrow(path):
    table = pq.read_table(path)
    return {field.name: str(field.type) for field in table.schema}, table


def rows_of(found):
    """What a reader gave, row by row, as objects in which equal values are equal."""
    if isinstance(found, pd.DataFrame):
        found = found.astype(object).where(found.notna(), None).values.tolist()
    elif isinstance(found, pl.DataFrame):
        found = found.rows()
    elif isinstance(found, pa.Table):
        found = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    return [[plain(value) for value in row] for row in found]


def plain(value):
    if isinstance(value, list | np.ndarray):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and value != value else value


READERS = {
    "DuckDB": by_duckdb, "fastparquet": by_fastparquet, "pandas": by_pandas, "polars": by_polars,
    "pyarrow": by_pyarrow,
}  # fmt: skip


@pytest.fixture(scope="module", params=["pyarrow", "polars", "DuckDB", "fastparquet", "Arrow", "a frame"])
def released(request, tmp_path_factory, unaudited):
    """A file and its release, by who wrote the file, or what became one."""
    folder = tmp_path_factory.mktemp("readers")
    source, target, table_ = folder / "a.parquet", folder / "b.parquet", people()
    if request.param == "polars":
        pl.from_arrow(table_).write_parquet(source)
    elif request.param == "DuckDB":
        duckdb.sql("from table_").write_parquet(str(source))
    elif request.param == "fastparquet":
        table_ = people(nested=False)
        fastparquet.write(source, table_.to_pandas(), row_group_offsets=300)
    else:
        pq.write_table(table_, source, row_group_size=300)
    if request.param == "a frame":
        cm.mask_table(table_, SCHEMES, rng=1).write(target)
        return source, target
    original = source
    if request.param == "Arrow":
        original = folder / "a.arrow"
        with pa.ipc.new_file(original, table_.schema) as writer:
            writer.write_table(table_)
    cm.mask_file(original, target, SCHEMES, rng=1)
    return source, target


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_the_release_as_it_reads_the_source(released, reader):
    source, target = released
    before_types, before = READERS[reader](str(source))
    types, found = READERS[reader](str(target))
    z = pq.read_table(target, columns=list(SCHEMES)).to_pydict()

    assert types == before_types
    names, rows = list(types), rows_of(found)
    masked = {name: [row[names.index(name)] for row in rows] for name in SCHEMES}
    assert masked == z
    assert sum(value is None for value in z["income"]) == N // 50
    clear = [k for k, name in enumerate(names) if name not in SCHEMES]
    assert [[row[k] for k in clear] for row in rows] == [[row[k] for k in clear] for row in rows_of(before)]


def test_readers_of_metadata_find_the_scheme(released):
    _, target = released
    entries = duckdb.sql(f"select decode(key), decode(value) from parquet_kv_metadata('{target}')").fetchall()

    published = dict(entries)["condmask"]
    assert fastparquet.ParquetFile(str(target)).key_value_metadata["condmask"] == published
    assert pl.read_parquet_metadata(target)["condmask"] == published
    assert set(cm.read_schemes(target)) == set(SCHEMES)
    ((writer,),) = duckdb.sql(f"select created_by from parquet_file_metadata('{target}')").fetchall()
    assert f"condmask {cm.__version__}" in writer
    extremes = "min(stats_min_value::double), max(stats_max_value::double)"
    statistics = duckdb.sql(
        f"select {extremes} from parquet_metadata('{target}') where path_in_schema = 'age'"
    ).fetchall()
    ages = pq.read_table(target)["age"].to_numpy()
    assert statistics in ([(ages.min(), ages.max())], [(None, None)])
