"""Columns of data frames to be masked; decimals need Arrow."""

from typing import Any

import numpy as np

from condmask import frames
from condmask._grid import decimals_of
from condmask._optional import optional


def column_of_frame(frame: Any, name: str, *, least: int = 2) -> frames.Column:
    """A column of a data frame of so many rows at least; decimals go back as such where what they become has
    as many places."""
    values = frames.table_column(frame, name)
    return _decimals(values, name) if frames.is_decimal(values) else frames.column(values, name, least=least)


def _decimals(values: Any, name: str) -> frames.Column:
    with optional(f"{name}, a column of decimals,", "cli"):
        import pyarrow as pa

        from condmask.files.arrow_types import numbers, released, released_type
    import narwhals as nw

    series = nw.from_native(values, series_only=True)
    original = series.to_arrow()
    original = original.combine_chunks() if isinstance(original, pa.ChunkedArray) else original
    array, kind = numbers(original, name, 0)

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> Any:  # NaN where nulls shall be
        places = decimals_of(z)
        dtype = released_type(original.type, kind, places)
        masked = released(z, original, dtype, name, decimals=places, nulls=nulls is not None)
        # polars gives a column without a name one of its own
        made = nw.from_arrow(pa.table({"column": masked}), backend=series.implementation)["column"]
        column = made.alias(name).to_native()
        if hasattr(column, "index") and not callable(column.index):  # pandas and its like
            if hasattr(values.dtype, "pyarrow_dtype"):
                column = column.astype(type(values.dtype)(dtype))
            column.index = values.index
        return column

    return frames.Column(array, name, kind, back)
