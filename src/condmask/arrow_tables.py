"""A data frame as a table of Arrow, or a refusal that names the columns which Arrow cannot hold."""

from typing import Any

from condmask import _checks, frames
from condmask.errors import ArgumentTypeError

NOT_OF_ARROW = (TypeError, ValueError, OverflowError)  # besides what Arrow raises of its own


def arrow_table(frame: Any) -> Any:
    """A data frame, or a dict of columns, as a pyarrow Table."""
    import pyarrow as pa

    names = frames.column_names(frame)
    table: Any = frame if isinstance(frame, dict) else frames.as_frame(frame)
    try:
        if isinstance(frame, dict):
            return pa.table({name: frames.labels(values, name) for name, values in frame.items()})
        return table.to_arrow()
    except MemoryError:
        raise
    except (*NOT_OF_ARROW, pa.ArrowException):  # what Arrow says of it holds values
        wrong = _checks.listed([name for name in names if not _is_arrow(table[name])])
        raise ArgumentTypeError(
            "frame must have columns that hold one type each, got mixed types, or values that Arrow has no "
            f"type for, in {wrong}"
        ) from None


def _is_arrow(values: Any) -> bool:
    """Whether Arrow has a type for a column."""
    import pyarrow as pa

    try:
        values.to_arrow() if hasattr(values, "to_arrow") else pa.array(frames.labels(values, "frame"))
    except (*NOT_OF_ARROW, pa.ArrowException):
        return False
    return True
