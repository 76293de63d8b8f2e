"""The note, on a data frame that can hold one, of its columns that are masked already."""

import json
from typing import Any

from condmask import frames
from condmask.errors import ArgumentError

MASKED = "condmask_masked"  # in the attrs of pandas, and the metadata of Arrow


def masked_columns(frame: Any) -> list[str]:
    """The columns that are noted as masked; none of frames that can hold no note."""
    place = None if isinstance(frame, dict) else _notes_in(frames.as_frame(frame).to_native())
    if place == "attrs":
        noted, released = frame.attrs.get(MASKED, []), {}
    elif place == "schema":
        metadata = frame.schema.metadata or {}
        noted = _in_json(metadata.get(MASKED.encode(), b"[]"))
        released = _in_json(metadata.get(b"condmask", b"{}"))  # of a file that was read
    else:
        return []
    columns = released.get("columns", {}) if isinstance(released, dict) else None
    if not (isinstance(noted, list) and isinstance(columns, dict)):
        raise ArgumentError("frame has a damaged note of the columns that are masked already: remove it")
    return [*noted, *columns]


def _in_json(text: bytes) -> Any:
    """The content of a note; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def with_masked(frame: Any, names: list[str]) -> Any:
    """A new frame with a note of its masked columns, in pandas' attrs or Arrow's metadata; others as is."""
    if _notes_in(frame) == "attrs":
        frame.attrs = {**frame.attrs, MASKED: names}
    elif _notes_in(frame) == "schema":
        metadata = {**(frame.schema.metadata or {}), MASKED.encode(): json.dumps(names)}
        return frame.replace_schema_metadata(metadata)
    return frame


def _notes_in(frame: Any) -> str | None:
    """Where a frame has room for notes."""
    home = type(frame).__module__.split(".")[0]
    return {"pandas": "attrs", "pyarrow": "schema"}.get(home)
