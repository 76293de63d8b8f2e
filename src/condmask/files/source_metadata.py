"""What a file notes of itself beside its data, and what of that a release keeps: what reading back needs.

A note may hold anything: a mean, a code book, the largest income. So all are left out but those that readers
need, which are put together anew from the parts that they need, and those that the publisher names. Kept are

- of pandas: which columns are its index, and the types of columns, time zones and categories included;
- of Spark: names and types of columns, its version and time zone, and which calendar dates are in;
- of a field in clear: its number, and the name and parameters of its type (extensions, categories of polars).

Notes on a masked column go but for its number, named or not.
"""

import json
import re
from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa

from condmask import _checks
from condmask.arrow_nesting import fields_of, with_fields
from condmask.errors import ArgumentError

METADATA, ARROW_SCHEMA = b"condmask", b"ARROW:schema"  # written anew
FIELD_ID = b"PARQUET:field_id"
PANDAS, SPARK = b"pandas", b"org.apache.spark.sql.parquet.row.metadata"
SHORT = {  # of these a word is kept, such as 3.5.1 or Europe/Paris
    b"org.apache.spark.version", b"org.apache.spark.timeZone",
    b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96",
}  # fmt: skip
WORD = re.compile(rb"[\w.:/+-]{0,32}")
NUMBER = re.compile(rb"-?\d{1,10}")
OF_TYPES = {
    b"ARROW:extension:name", b"ARROW:extension:metadata", b"POLARS.CATEGORICAL_TYPE",
    b"_PL_CATEGORICAL", b"_PL_CATEGORICAL2", b"_PL_ENUM_VALUES", b"_PL_ENUM_VALUES2",
}  # fmt: skip
WRITER = re.compile(
    r"(?P<program>[A-Za-z][\w.-]{0,40}( \(\w{1,20}\))?( version [\w.+-]{1,40})?)"
    r"( \(build (?P<build>[\w.-]{0,60}?)(; )?(condmask [\w.+-]{1,40})?\))?"
)

OF_FRAMES = ("index_columns", "column_indexes", "columns", "partition_columns", "pandas_version")
OF_COLUMNS = ("name", "field_name", "pandas_type", "numpy_type")
OF_PANDAS_TYPES = ("timezone", "num_categories", "ordered", "encoding", "precision", "scale")
OF_SPARK_TYPES = (
    "type", "name", "nullable", "fields", "elementType", "containsNull", "keyType", "valueType",
    "valueContainsNull", "class", "pyClass", "sqlType",
)  # fmt: skip


def released_notes(
    entries: dict[bytes, bytes], types: dict[str, Any], keep: Collection[str] = ()
) -> dict[bytes, bytes]:
    """What is kept of the notes on a file, whose masked columns are released as these types."""
    rebuilt = {PANDAS: _pandas, SPARK: _spark}
    released = {}
    for key, value in entries.items():
        if key in (METADATA, ARROW_SCHEMA):
            continue
        if key in rebuilt:
            try:
                released[key] = json.dumps(rebuilt[key](json.loads(value), types)).encode()
            except (ValueError, TypeError, AttributeError, KeyError):  # not what it should be
                continue
        elif _text(key) in keep or (key in SHORT and WORD.fullmatch(value)):
            released[key] = value
    return released


def released_field(field: Any, keep: Collection[str] = ()) -> Any:
    """A field in clear, those within it included, with the notes on it that are kept."""
    notes = {
        key: value
        for key, value in (field.metadata or {}).items()
        if key in OF_TYPES or _text(key) in keep or (key == FIELD_ID and NUMBER.fullmatch(value))
    }
    return pa.field(field.name, _released_type(field.type, keep), field.nullable, notes or None)


def check_kept(there: list[str], keep: Collection[str], path: Any) -> tuple[str, ...]:
    """The names of notes to keep; refused where a file has none of that name."""
    for name in keep:
        if name not in there:
            has = f"it has {_checks.listed(there)}" if there else "it has none"
            raise ArgumentError(
                f"keep_metadata must name entries in the metadata of {path}, got {name!r}; {has}"
            )
    return tuple(keep)


def notes_of(schema: Any) -> list[str]:
    """The names of the notes on a file and its fields, but for those of which a part is always kept."""
    always = {METADATA, ARROW_SCHEMA, FIELD_ID, PANDAS, SPARK, *SHORT, *OF_TYPES}
    keys = [*(schema.metadata or {}), *(key for field in schema for key in _keys(field))]
    return list(dict.fromkeys(_text(key) for key in keys if key not in always))


def released_writer(text: bytes) -> bytes:
    """Who wrote a file, and that condmask rewrote it.

    Readers ask about known faults of the program that comes first. Much of the file is still what that one
    wrote, so it stays first, unless the text says something else.
    """
    version = import_module("condmask").__version__
    known = WRITER.fullmatch(_text(text))
    if known is None or known["program"].startswith("condmask version"):
        return f"condmask version {version}".encode()
    build = "; ".join(filter(None, (known["build"], f"condmask {version}")))
    return f"{known['program']} (build {build})".encode()


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


def _keys(field: Any) -> Iterator[bytes]:
    yield from field.metadata or {}
    for child in fields_of(field.type):
        yield from _keys(child)


def _released_type(dtype: Any, keep: Collection[str]) -> Any:
    """A type without notes on the fields within it."""
    return with_fields(dtype, [released_field(child, keep) for child in fields_of(dtype)])


def _pandas(entry: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """Index and types, without attributes of the frame; masked columns with the types that they now have."""
    kept = {name: entry[name] for name in OF_FRAMES if name in entry}
    kept["column_indexes"] = [_column(column) for column in entry.get("column_indexes", [])]
    kept["columns"] = []
    for column in entry.get("columns", []):
        name = column.get("field_name", column.get("name"))
        kept["columns"].append(_column(column) | (_masked_type(column, types[name]) if name in types else {}))
    return kept


def _column(column: dict[str, Any]) -> dict[str, Any]:
    notes = column.get("metadata")
    if isinstance(notes, dict):
        notes = {name: notes[name] for name in OF_PANDAS_TYPES if name in notes} or None
    else:
        notes = None
    return {name: column.get(name) for name in OF_COLUMNS if name in column} | {"metadata": notes}


def _masked_type(column: dict[str, Any], dtype: Any) -> dict[str, Any]:
    """What pandas says of the type that a masked column now has."""
    text = "decimal" if pa.types.is_decimal(dtype) else dtype.to_pandas_dtype().__name__
    before = str(column.get("numpy_type"))
    numpy_type = "object" if text == "decimal" else text
    if before.endswith("[pyarrow]"):
        numpy_type = f"{dtype}[pyarrow]"
    elif before[:1].isupper() and text != "decimal":  # Int64, Float64: of pandas, with room for NA
        numpy_type = text.capitalize()
    return {"pandas_type": text, "numpy_type": numpy_type, "metadata": None}


def _spark(entry: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """Names and types; masked columns with the types that they now have."""
    words = {"int64": "long", "float": "float", "double": "double"}
    fields = []
    for field in entry["fields"]:
        kept = _spark_type(field)
        if field["name"] in types:
            dtype = types[field["name"]]
            kept["type"] = words.get(str(dtype)) or f"decimal({dtype.precision},{dtype.scale})"
        fields.append(kept)
    return {"type": "struct", "fields": fields}


def _spark_type(part: Any) -> Any:
    """A type, or a field of one, without notes on it."""
    if isinstance(part, list):
        return [_spark_type(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {name: _spark_type(part[name]) for name in OF_SPARK_TYPES if name in part}
    return {**kept, "metadata": {}} if "nullable" in part else kept
