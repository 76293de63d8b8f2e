"""Mark masked tables with their masked columns and the number of records of the release.

pandas keeps it in ``attrs``, through selections, copies, renames and files; Arrow keeps it in the
metadata of the schema, where pandas writes ``attrs``. A frame that is merged, or built from
columns, has no mark, nor has any frame of polars or DuckDB: they have no place for one.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from condmask import frames
from condmask.errors import ArgumentError

MARK_KEY = "condmask"
MARK_VERSION = 1
ATTRS = b"PANDAS_ATTRS"  # the entry of a schema in which pandas writes attrs
NOTE = b"pandas"  # the entry in which pyarrow writes them
PUBLISHED = b"condmask"  # the entry of a schema in which a release describes itself
NAMES_ALONE = "condmask_masked"  # the mark of version 0.2, in attrs and in the schema


class Mark(NamedTuple):
    """Which columns of a release are masked, and how many records it has; None where that is
    unknown."""

    columns: tuple[str, ...]
    records: int | None


def attribute(columns: Collection[str], records: int) -> dict[str, Any]:
    """Return the mark as it stands in attrs: plain values that pandas compares, copies and writes
    as JSON."""
    return {MARK_KEY: {"version": MARK_VERSION, "columns": list(columns), "records": records}}


def marked(values: Any, columns: Collection[str], records: int) -> Any:
    """Return a new frame or series with a mark; a container without a place for one is returned as
    it is."""
    if _attrs(values) is not None:
        values.attrs = {**values.attrs, **attribute(columns, records)}
    elif frames.home(values) == "pyarrow" and hasattr(values, "replace_schema_metadata"):
        return values.replace_schema_metadata(
            with_mark(_of_index(values.schema.metadata), columns, records)
        )
    elif isinstance(values, dict):
        return {
            name: marked(column, columns, records) if name in columns else column
            for name, column in values.items()
        }
    return values


def with_mark(
    metadata: Mapping[bytes, bytes] | None, columns: Collection[str], records: int
) -> dict[bytes, bytes]:
    """Return the metadata of a schema with a mark where pandas and pyarrow look for attrs."""
    entries = dict(metadata or {})
    mark = attribute(columns, records)
    entries[ATTRS] = json.dumps({**_json(entries.get(ATTRS)), **mark}).encode()
    note = _json(entries.get(NOTE)) or {"index_columns": [], "column_indexes": [], "columns": []}
    attributes = note.get("attributes")
    note["attributes"] = {**(attributes if isinstance(attributes, dict) else {}), **mark}
    entries[NOTE] = json.dumps(note).encode()
    return entries


def mark_of(values: object) -> Mark | None:
    """Return the mark of a frame, a series or a dict of columns; None if there is none."""
    if isinstance(values, dict):
        return _joined([mark for mark in map(mark_of, values.values()) if mark is not None])
    if hasattr(values, "to_native"):  # wrapped by narwhals
        return mark_of(values.to_native())
    attrs = _attrs(values)
    if attrs is not None:
        return _joined(_in_attrs(attrs))
    if frames.home(values) != "pyarrow":
        return None
    return mark_in(getattr(getattr(values, "schema", None), "metadata", None))


def mark_in(metadata: Mapping[bytes, bytes] | None) -> Mark | None:
    """Return the mark in the metadata of a schema, of Arrow or of a file; None if there is
    none."""
    entries = metadata or {}
    note = _json(entries.get(NOTE)).get("attributes")
    found = _in_attrs(_json(entries.get(ATTRS)))
    found += _in_attrs(note) if isinstance(note, dict) else []
    published = _json(entries.get(PUBLISHED))
    found += _marks(published.get("columns"), published.get("records"))
    found += _marks(_json(entries.get(NAMES_ALONE.encode())), None)
    return _joined(found)


def refuse_marked(values: object, argument: str) -> None:
    """Refuse a frame or column with a mark, whichever of its columns are to be masked."""
    mark = mark_of(values)
    if mark is None:
        return
    attrs = _attrs(values)
    hint = ""
    if attrs is not None:
        hint = f"{argument}.attrs.pop({MARK_KEY if MARK_KEY in attrs else NAMES_ALONE!r})"
    elif frames.home(values) == "pyarrow":
        hint = f"{argument} = {argument}.replace_schema_metadata()"
    if hint:
        hint = f"; if no column of {argument} is masked, remove the mark: {hint}"
    refuse_masked(mark.columns, f"{argument}, as its mark says", hint)


def refuse_masked(columns: Collection[str], place: object, hint: str = "") -> None:
    """Refuse a table with masked columns: two maskings of one record average its noise out."""
    if columns:
        settles = "mask all columns in one call, from the original"
        raise ArgumentError(f"{', '.join(columns)} is masked already in {place}: {settles}{hint}")


def _of_index(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, bytes]:
    """Return what pandas notes in a schema on its index and columns alone: other notes on the
    original may tell of its values."""
    note = _json((metadata or {}).get(NOTE))
    kept = {name: entry for name, entry in note.items() if name != "attributes"} if note else {}
    return {NOTE: json.dumps(kept).encode()} if kept else {}


def _attrs(values: object) -> dict[Any, Any] | None:
    """Return the attrs of a container of pandas or its like."""
    attrs = getattr(values, "attrs", None)
    return attrs if isinstance(attrs, dict) else None


def _in_attrs(attrs: Mapping[Any, Any]) -> list[Mark]:
    """Return the marks among attrs, which may hold anything else."""
    entry = attrs.get(MARK_KEY)
    found = (
        _marks(entry.get("columns"), entry.get("records")) if isinstance(entry, Mapping) else []
    )
    return found + _marks(attrs.get(NAMES_ALONE), None)


def _marks(columns: Any, records: Any) -> list[Mark]:
    """Return a mark from its parts, none where they are something else."""
    if not isinstance(columns, list | tuple | dict) or not columns:
        return []
    known = isinstance(records, int) and not isinstance(records, bool)
    return [Mark(tuple(map(str, columns)), records if known else None)]


def _joined(marks: Sequence[Mark]) -> Mark | None:
    """Return one mark for several, with all columns, and the first number of records that is
    known."""
    if not marks:
        return None
    columns = dict.fromkeys(name for mark in marks for name in mark.columns)
    known = [mark.records for mark in marks if mark.records is not None]
    return Mark(tuple(columns), known[0] if known else None)


def _json(text: bytes | None) -> Any:
    """Return an entry of a schema as a dict or list; an empty dict where it is missing or
    something else."""
    try:
        entry = json.loads(text or b"{}")
    except ValueError:
        return {}
    return entry if isinstance(entry, dict | list) else {}
