"""A released Parquet file is read alike by DuckDB, fastparquet, pandas, polars and pyarrow, whoever wrote the
original and how.

Oracle: what the same reader reads from the source file, and the masked columns as pyarrow reads them.
"""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("fastparquet")

from parquet_shapes import (  # noqa: E402
    FEW,
    FINDERS,
    MORE,
    READERS,
    SCHEMES,
    N,
    columns_of,
    nested,
    of_fastparquet,
)

pytestmark = pytest.mark.usefixtures("unaudited")

CONVERTED = ["Arrow", "a frame"]
SHAPES = [
    *CONVERTED,
    *FEW,
    *(
        pytest.param(name, marks=pytest.mark.long if number % 6 else pytest.mark.slow)
        for number, name in enumerate(MORE)
    ),
]


@pytest.fixture(scope="module", params=SHAPES)
def released(request, tmp_path_factory, unaudited):
    """A file and its release, by the shape of the file, or by what became one."""
    folder = tmp_path_factory.mktemp("readers")
    source, target = folder / "a.parquet", folder / "b.parquet"
    if request.param not in CONVERTED:
        {**FEW, **MORE}[request.param](source)
        cm.mask_file(source, target, SCHEMES, rng=1)
        return source, target
    table = pa.table(nested())
    pq.write_table(table, source)
    if request.param == "a frame":
        cm.mask_table(table, SCHEMES, rng=1).write(target)
        return source, target
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    cm.mask_file(folder / "a.arrow", target, SCHEMES, rng=1)
    return source, target


@pytest.fixture(scope="module")
def masked(released):
    """The masked columns as pyarrow reads them."""
    return pq.ParquetFile(released[1]).read(columns=list(SCHEMES)).select(list(SCHEMES)).to_pydict()


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_the_release_as_it_reads_the_source(released, masked, reader):
    source, target = released
    try:
        before_types, before = columns_of(reader, source)
    except Exception as error:
        pytest.skip(f"{reader} does not read the source: {type(error).__name__}")

    types, found = columns_of(reader, target)

    assert types == before_types
    assert {name: found.pop(name) for name in SCHEMES} == masked
    assert sum(value is None for value in masked["pay"]) == N // 20
    assert found == {name: before[name] for name in found}


@pytest.mark.parametrize("reader", FINDERS)
def test_a_reader_finds_rows_by_their_masked_values(released, masked, reader):
    """By statistics, and DuckDB by the filters of Bloom: those of the original would hide rows."""
    source, target = released
    pay, age = (np.array(masked[name], dtype=float) for name in SCHEMES)
    order = np.sort(pay[~np.isnan(pay)])
    all_ages, all_pay = (int(age.min()), int(age.max())), (float(order[0]), float(order[-1]))
    one = {"id": (N - 2, N - 2)} if "id" in pq.read_schema(source).names else {}
    try:
        FINDERS[reader](source, {"pay": all_pay, "age": all_ages})
        FINDERS[reader](source, one or {"age": all_ages})
    except Exception as error:
        assert reader in ("fastparquet", "pyarrow")  # of which the others know more
        pytest.skip(f"{reader} does not search the source: {type(error).__name__}")

    asked = [
        (all_pay, all_ages), ((order[0],) * 2, all_ages), ((order[-1],) * 2, all_ages),
        ((order[100],) * 2, all_ages), (all_pay, (age.min(),) * 2), ((order[100], order[200]), (30, 60)),
    ]  # fmt: skip
    for (low, high), (least, most) in asked:
        bounds = {"pay": (float(low), float(high)), "age": (int(least), int(most))}
        there = (pay >= low) & (pay <= high) & (age >= least) & (age <= most)
        assert FINDERS[reader](target, bounds) == np.count_nonzero(there)
    assert not one or FINDERS[reader](target, one) == 1


def test_statistics_are_those_of_the_values(released):
    file = pq.ParquetFile(released[1])
    leaves = {file.metadata.schema.column(k).path: k for k in range(file.metadata.num_columns)}
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group)
        for name in ("pay", "age", "id", "score"):
            if name not in leaves:
                continue
            known = file.metadata.row_group(group).column(leaves[name]).statistics
            column = rows.column(rows.schema.names.index(name))
            values = column.drop_null().to_numpy()
            if known is not None and known.has_min_max:
                assert (known.min, known.max) == (values.min(), values.max())
            if known is not None and known.has_null_count:
                assert known.null_count == column.null_count
            assert name not in SCHEMES or known is not None or rows.num_rows == 0
            assert known is None or not (known.has_min_max and values.size == 0)


def test_readers_of_metadata_find_the_scheme(released):
    _, target = released
    entries = duckdb.sql(f"select decode(key), decode(value) from parquet_kv_metadata('{target}')").fetchall()

    published = dict(entries)["condmask"]
    assert set(json.loads(published)["columns"]) == set(SCHEMES)
    assert of_fastparquet(target).key_value_metadata["condmask"] == published
    assert pl.read_parquet_metadata(target)["condmask"] == published
    assert set(cm.read_schemes(target)) == set(SCHEMES)
    assert set(cm.read_release(target).schemes) == set(SCHEMES)
    ((writer,),) = duckdb.sql(f"select created_by from parquet_file_metadata('{target}')").fetchall()
    assert f"condmask {cm.__version__}" in writer
