"""Types of a Dask frame in files. Oracle: Arrow's types of the whole frame on one machine."""

import datetime
from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import partitioned
import pyarrow as pa
import pytest

from condmask.dask.schema import arrow_part, schema_of


@pytest.fixture(autouse=True)
def plain_dask():
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


OBJECTS = pd.DataFrame({
    "text": [None, None, None, "x", "y"],
    "date": [None, None, None, datetime.date(2024, 2, 29), None],
    "yes": [None, None, True, False, None],
    "price": [None, None, None, Decimal("1.25"), Decimal("10.50")],
    "none": [None] * 5,
}, dtype=object)  # fmt: skip


@pytest.mark.parametrize("cuts", [[0, 2, 2, 4], [3], []])
@pytest.mark.parametrize("frame", [partitioned.people(5), OBJECTS], ids=["columns", "objects"])
def test_all_partitions_have_the_types_of_the_whole(frame, cuts):
    ddf = partitioned.cut(frame, cuts)
    whole = pa.Table.from_pandas(frame, preserve_index=False)

    schema = schema_of(ddf)
    parts = [arrow_part(part, schema) for part in partitioned.parts_of(frame, cuts)[1]]
    assert all(part.schema.equals(schema, check_metadata=True) for part in parts)
    assert schema.types == whole.schema.types
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()


@pytest.mark.parametrize("labels", [["a", "b", "a", None], [3, 4, 3, None], [None] * 4])
def test_categories_that_dask_has_not_seen(labels):
    categories = pd.Index(sorted({label for label in labels if label}), dtype=None if any(labels) else object)
    part = pd.DataFrame({"kind": pd.Categorical(labels, categories)})
    ddf = partitioned.cut(part, [0, 1, 3])
    ddf["kind"] = ddf["kind"].cat.as_unknown()

    schema = schema_of(ddf)
    found = [arrow_part(p.compute(), schema) for p in ddf.to_delayed()]
    values = pa.array(labels).type if any(labels) else pa.string()
    dtype = schema.field("kind").type
    assert dtype.index_type == pa.int32()
    assert all(part.schema.equals(schema, check_metadata=True) for part in found)
    assert dtype.value_type in (values, pa.large_string())
    assert [row["kind"] for part in found for row in part.to_pylist()] == labels


def test_an_index_is_a_column_unless_it_numbers_rows():
    frame = partitioned.people(6)
    assert "__index_level_0__" not in schema_of(dd.from_pandas(frame, npartitions=2)).names
    named = frame.set_index(pd.Index(list("abcdef"), name="who", dtype=object))
    schema = schema_of(ddf := dd.from_pandas(named, npartitions=2))
    tables = [arrow_part(part.compute(), schema) for part in ddf.to_delayed()]
    assert pa.concat_tables(tables)["who"].to_pylist() == list("abcdef")


def test_objects_of_several_types_are_refused_without_a_word_of_them():
    mixed = pd.DataFrame({"x": np.array(["secret", 3, "a", "b"], dtype=object)})
    with pytest.raises(TypeError, match="x must hold values of one type, got objects of several") as error:
        schema_of(partitioned.cut(mixed, [2]))
    assert "secret" not in str(error.value)
    by_part = pd.DataFrame({"x": np.array(["secret", "a", True, False], dtype=object)})
    with pytest.raises(TypeError, match="of one type in all partitions, got string, bool"):
        schema_of(partitioned.cut(by_part, [2]))


def test_a_partition_of_other_types_than_dask_thinks_is_refused_without_a_word_of_it():
    frame = partitioned.people(6)
    schema = schema_of(partitioned.cut(frame, []))
    with pytest.raises(TypeError, match="one whose 'age' is not a column of int64") as error:
        arrow_part(frame.assign(age="secret"), schema)
    assert "secret" not in str(error.value)
    with pytest.raises(TypeError, match="one whose 'region' is not a column"):
        arrow_part(frame.drop(columns="region"), schema)
