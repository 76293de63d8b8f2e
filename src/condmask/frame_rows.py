"""Reorder and copy rows of data frames, and turn their index into columns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from condmask.frames import DataFrame, as_frame, home, wrapped


def with_index(frame: DataFrame) -> Any:
    """Return a pandas frame with its index as columns, which are released, too; an index of
    ascending row numbers is dropped."""
    if not hasattr(frame, "reset_index") or _of_row_numbers(frame.index):
        return frame
    names = [
        f"{name or 'unnamed'} (level {k} of the index)" for k, name in enumerate(frame.index.names)
    ]
    return frame.reset_index(names=names)


def reordered(frame: DataFrame, order_of: Callable[[int], np.ndarray]) -> Any:
    """Return a table with its rows in the order that is drawn for their number; a pandas index of
    row numbers is renumbered."""
    if isinstance(frame, dict):
        order = order_of(len(next(iter(frame.values()))))
        return {name: _reordered(values, order) for name, values in frame.items()}
    return _reordered(frame, order_of(len(as_frame(frame))))


def _reordered(values: Any, order: np.ndarray) -> Any:
    """Return a column, or a data frame, with its rows in another order."""
    if home(values) == "pyarrow":  # whose columns narwhals of old cannot index
        return values.take(order)
    wrapper = wrapped(values, eager_only=True, allow_series=True)
    if wrapper is None:
        return np.asarray(values)[order]
    moved = wrapper[order].to_native()
    if _of_row_numbers(getattr(values, "index", None)):
        return moved.reset_index(drop=True)
    return moved


def _of_row_numbers(index: Any) -> bool:
    """Return whether an index of pandas holds ascending row numbers."""
    return hasattr(index, "is_monotonic_increasing") and bool(
        index.dtype.kind in "iu" and index.is_unique and index.is_monotonic_increasing
    )


def copied(frame: DataFrame) -> Any:
    """Return a copy of a data frame or a dict of columns, of all that can be changed in place."""
    if isinstance(frame, dict):
        return {
            name: values.copy() if hasattr(values, "copy") else values
            for name, values in frame.items()
        }
    if hasattr(frame, "copy"):
        return frame.copy()
    return frame.clone() if hasattr(frame, "clone") else frame
