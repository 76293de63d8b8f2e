"""The types of a Dask frame's columns in files: the same in every partition.

A partition without rows, or without values, gives no type. So types are fixed for all beforehand: by the
frame's dtypes and, where these leave it open (objects, categories unknown to Dask), by reading all
partitions.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from dask.base import compute
from dask.dataframe.utils import UNKNOWN_CATEGORIES
from dask.delayed import delayed

from condmask.errors import ArgumentTypeError


def schema_of(frame: Any) -> Any:
    """The Arrow schema of a Dask frame, its index included unless that numbers the rows."""
    meta = frame._meta
    numbered = hasattr(meta.index, "step")  # a range
    schema = pa.Schema.from_pandas(meta, preserve_index=not numbered)
    categories = {name: getattr(meta[name].dtype, "categories", ()) for name in meta.columns}
    unseen = [name for name, known in categories.items() if UNKNOWN_CATEGORIES in known]
    objects = [field.name for field in schema if pa.types.is_null(field.type)]
    if unseen or objects:
        types = _types_in_partitions(frame, [*unseen, *objects])
        for name in unseen:
            labels = pa.string() if pa.types.is_null(types[name]) else types[name]
            types[name] = pa.dictionary(pa.int32(), labels, meta[name].cat.ordered)
        meta = meta.assign(**{name: meta[name].cat.set_categories([]) for name in unseen})
        schema = pa.schema([pa.field(field.name, types.get(field.name, field.type)) for field in schema])
    return pa.Table.from_pandas(meta, schema=schema).schema


def arrow_part(part: Any, schema: Any) -> Any:
    """A partition as an Arrow table of this schema; it may have more columns."""
    try:
        table = pa.Table.from_pandas(part, schema=schema, nthreads=1)
    except (pa.ArrowException, ValueError, TypeError, LookupError):
        # what Arrow says of it holds values
        wrong = next((field for field in schema if not _fits(part, field)), schema.field(0))
        raise ArgumentTypeError(
            f"frame must have partitions of the same columns and types, got one whose {wrong.name!r} is "
            f"not a column of {wrong.type}"
        ) from None
    return table.replace_schema_metadata(schema.metadata)


def _types_in_partitions(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """The types of columns in all partitions that have values."""
    columns = [name for name in names if name in frame.columns]
    look = delayed(partial(_schema_in, names=names), pure=False)
    found = compute(*(look(part) for part in frame[columns].to_delayed()))
    types = {}
    for name in names:
        fields = [pa.schema([schema.field(name)]) for schema in found]
        try:
            types[name] = pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowException:
            kinds = dict.fromkeys(str(field.field(0).type) for field in fields)
            raise ArgumentTypeError(
                f"{name} must hold values of one type in all partitions, got {', '.join(kinds)}"
            ) from None
    return types


def _schema_in(part: Any, names: Sequence[str]) -> Any:
    """The types of columns, or of their categories, in a partition."""
    return pa.schema([(name, _type_of(_values(part, name), name)) for name in names])


def _type_of(values: Any, name: str) -> Any:
    try:
        return pa.array(getattr(values.dtype, "categories", values), from_pandas=True).type
    except (pa.ArrowException, ValueError, TypeError):
        raise ArgumentTypeError(f"{name} must hold values of one type, got objects of several") from None


def _fits(part: Any, field: Any) -> bool:
    """Whether a column of a partition can be written as this field."""
    try:
        pa.array(_values(part, field.name), field.type, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, LookupError):
        return False
    return True


def _values(part: Any, name: str) -> Any:
    """A column, or the index, by its name in Arrow."""
    return part[name] if name in part.columns or name == part.index.name is None else part.index
