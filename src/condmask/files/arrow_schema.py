"""Schemas of released files: what describes the other columns stays, what describes the originals goes.

A field's metadata may hold anything, a mean or a code book, so that of a masked column goes. So do the
`attrs` of a pandas data frame, and what pandas and Spark noted of the type a masked column had.
"""

import json
from typing import Any

import pyarrow as pa

METADATA = b"condmask"
FIELD_ID = b"PARQUET:field_id"
PANDAS, ATTRIBUTES, SPARK = b"pandas", b"PANDAS_ATTRS", b"org.apache.spark.sql.parquet.row.metadata"


def released_schema(schema: Any, types: dict[str, Any], metadata: dict[str, Any], *, nulls: set[str]) -> Any:
    """The schema of a file whose columns of these names are released as these types."""
    for name, dtype in types.items():
        position = schema.get_field_index(name)
        field = schema.field(position)
        number = {key: value for key, value in (field.metadata or {}).items() if key == FIELD_ID}
        schema = schema.set(position, pa.field(name, dtype, field.nullable or name in nulls, number or None))
    kept = released_metadata(schema.metadata or {}, types)
    return schema.with_metadata({**kept, METADATA: json.dumps(metadata).encode()})


def released_metadata(entries: dict[bytes, bytes], types: dict[str, Any]) -> dict[bytes, bytes]:
    """The metadata of a file without what they tell of columns that are masked."""
    cleaned = {PANDAS: _pandas, SPARK: _spark}
    released = {}
    for key, value in entries.items():
        if key in cleaned:
            try:
                released[key] = json.dumps(cleaned[key](json.loads(value), types)).encode()
            except (ValueError, TypeError, AttributeError, KeyError):  # not what it should be
                continue
        elif key not in (ATTRIBUTES, METADATA):
            released[key] = value
    return released


def _pandas(entry: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """Without the data frame's attributes, masked columns with the types that they now have."""
    columns = []
    for column in entry.get("columns", []):
        name = column.get("field_name", column.get("name"))
        if name in types:
            text = "decimal" if pa.types.is_decimal(types[name]) else types[name].to_pandas_dtype().__name__
            before = str(column.get("numpy_type"))
            numpy_type = "object" if text == "decimal" else text
            if before.endswith("[pyarrow]"):
                numpy_type = f"{types[name]}[pyarrow]"
            elif before[:1].isupper() and text != "decimal":  # Int64, Float64: of pandas, with room for NA
                numpy_type = text.capitalize()
            column = {**column, "pandas_type": text, "numpy_type": numpy_type, "metadata": None}
        columns.append(column)
    return {key: value for key, value in entry.items() if key != "attributes"} | {"columns": columns}


def _spark(entry: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """Masked columns with the types that they now have."""
    words = {"int64": "long", "float": "float", "double": "double"}
    fields = []
    for field in entry["fields"]:
        if field["name"] in types:
            dtype = types[field["name"]]
            word = words.get(str(dtype)) or f"decimal({dtype.precision},{dtype.scale})"
            field = {**field, "type": word, "metadata": {}}
        fields.append(field)
    return {**entry, "fields": fields}
