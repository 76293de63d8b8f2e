"""Schemas of released files: masked columns with their new types, and the notes that may be kept."""

import json
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from condmask.files.source_metadata import FIELD_ID, METADATA, released_field, released_notes


def released_schema(
    schema: Any, types: dict[str, Any], metadata: dict[str, Any], *, nulls: set[str], keep: Collection[str]
) -> Any:
    """The schema of a file whose columns of these names are released as these types."""
    fields = []
    for field in schema:
        if field.name in types:
            notes = released_field(field).metadata or {}
            number = {FIELD_ID: notes[FIELD_ID]} if FIELD_ID in notes else None
            nullable = field.nullable or field.name in nulls
            fields.append(pa.field(field.name, types[field.name], nullable, number))
        else:
            fields.append(released_field(field, keep))
    kept = released_notes(schema.metadata or {}, types, keep)
    return pa.schema(fields, {**kept, METADATA: json.dumps(metadata).encode()})
