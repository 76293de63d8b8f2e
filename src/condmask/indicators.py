"""Columns of yes and no, and of categories, as numbers: 1 where a record has the property, else 0."""

from typing import Any

import numpy as np

from condmask import frames
from condmask.errors import ArgumentError

MOST = 50  # categories of a column; names and numbers of persons have more
WORDS = {"true": 1.0, "false": 0.0, "": np.nan}  # as CSV files have them


def yes_no(values: Any) -> Any:
    """A column of yes and no as 1 and 0, NaN where one is missing; every other column as it is."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if array.dtype.kind not in "OUT" or not isinstance(_first(array), bool | np.bool_ | str):
        return values
    distinct = set(array.tolist())
    words = {value: "" if frames.is_missing(value) else str(value).lower() for value in distinct}
    if not WORDS.keys() >= {*words.values()}:
        return values
    return np.array([WORDS[words.get(value, "")] for value in array.tolist()])


def is_text(values: Any) -> bool:
    """Whether a column holds text."""
    array = np.asarray(values)
    return array.dtype.kind in "UT" or (array.dtype.kind == "O" and isinstance(_first(array), str))


def indicators(
    labels: Any, name: str, n: int, *, all_but_first: bool = True, argument: str = "W"
) -> dict[str, np.ndarray]:
    """A column of indicators for each label of n records, by default but the first in their order.

    They are called ``name=label``, and are NaN where a record has no label.
    """
    code, distinct = frames.groups(labels, name, n)
    if not 2 <= len(distinct) <= MOST:
        raise ArgumentError(
            f"{argument} must name columns of numbers, or of 2 to {MOST} categories, got {name!r} with "
            f"{len(distinct):,} labels"
        )
    return {
        f"{name}={label}": np.where(code < 0, np.nan, code == k)
        for k, label in enumerate(distinct)
        if k > 0 or not all_but_first
    }


def _first(array: np.ndarray) -> Any:
    """The first value that is there."""
    return next((value for value in array.ravel() if not frames.is_missing(value)), None)
