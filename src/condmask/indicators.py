"""Convert columns of any container to numbers: yes and no, and categories, become indicators that
are 1 where a record has the property, else 0."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.labels import groups

# an array, a series, a data frame, or a dict of columns
ColumnsLike = ArrayLike | Mapping[str, ArrayLike]
MAX_CATEGORIES = 50  # categories of a column; names and numbers of persons have more
WORDS = {"true": 1.0, "false": 0.0, "": np.nan}  # as CSV files have them


def yes_no(values: ArrayLike, name: str = "values") -> Any:
    """Return a column of yes and no as 1 and 0, NaN where missing; other columns as they are."""
    array = _checks.array(values, name, "1-D")
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if not isinstance(_first(array), bool | np.bool_ | str):
        return values
    distinct = set(array.tolist())
    words = {value: "" if frames.is_missing(value) else str(value).lower() for value in distinct}
    if not WORDS.keys() >= {*words.values()}:
        return values
    return np.array([WORDS[words.get(value, "")] for value in array.tolist()])


def is_text(values: ArrayLike) -> bool:
    """Return whether a column holds text."""
    array = np.asarray(values)
    return array.dtype.kind in "UT" or (array.dtype.kind == "O" and isinstance(_first(array), str))


def indicators(
    labels: ArrayLike, name: str, n: int, *, all_but_first: bool = True, argument: str = "W"
) -> dict[str, np.ndarray]:
    """Return a column of indicators for each label of n records, by default for all but the first.

    Columns are named ``name=label``, and are NaN where a record has no label.
    """
    code, distinct = groups(labels, name, n)
    if not 2 <= len(distinct) <= MAX_CATEGORIES:
        raise ArgumentError(
            f"{argument} must name columns of numbers, or of 2 to {MAX_CATEGORIES} categories, "
            f"got {name!r} with {len(distinct):,} labels"
        )
    return {
        f"{name}={label}": np.where(code < 0, np.nan, code == k)
        for k, label in enumerate(distinct)
        if k > 0 or not all_but_first
    }


def of_formula(values: Any) -> dict[str, np.ndarray] | None:
    """Return the columns of a matrix that formulaic or patsy made, by the names that it gave them;
    None for anything else.

    Of two sides the right one is taken. A sparse matrix becomes columns.
    """
    matrix: Any = values[1] if isinstance(values, tuple) and len(values) == 2 else values
    maker = type(matrix).__module__.partition(".")[0]
    if maker == "formulaic":
        matrix = getattr(matrix, "rhs", matrix)
        names = matrix.model_spec.column_names
    elif maker == "patsy":
        names = matrix.design_info.column_names
    else:
        return None
    table = getattr(matrix, "__wrapped__", matrix)
    dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table, dtype=np.float64)
    return {str(name): np.ascontiguousarray(dense[:, k]) for k, name in enumerate(names)}


def _first(array: np.ndarray) -> Any:
    """Return the first value that is not missing; None if all are."""
    return next((value for value in array.ravel() if not frames.is_missing(value)), None)


def design(values: ColumnsLike, name: str) -> dict[str, np.ndarray]:
    """Return columns of numbers by name, from a data frame, a dict of columns, a series or an
    array of one or two dimensions; columns of an array are named w1, w2, ..."""
    _checks.in_memory(values, name)
    if isinstance(values, np.ndarray | list | tuple):
        array = _checks.array(values, name, "columns of numbers")
        known = array.ndim in (1, 2)
        _checks.require(known, f"{name} must have one or two dimensions", array.ndim)
        # each column contiguous, since it is read several times
        parts = np.ascontiguousarray(np.atleast_2d(array.T))
        columns: dict[str, Any] = {f"w{k}": part for k, part in enumerate(parts, 1)}
    elif isinstance(values, dict):
        for key, column in values.items():
            _checks.in_memory(column, f"{name}[{key!r}]")
        columns = {str(key): column for key, column in values.items()}
    elif frames.wrapped(values, series_only=True) is not None:
        columns = {frames.series_name(values) or "w1": values}
    else:
        table = frames.wrapped(values, eager_only=True)
        given = type(values).__name__
        if table is None:
            rule = f"{name} must be a data frame, a dict of columns or an array"
            raise ArgumentTypeError(f"{rule}, got {given}")
        frames.check_names([str(column) for column in table.columns], name)
        columns = {str(series.name): series.to_native() for series in table.iter_columns()}
    if not columns:
        raise ArgumentError(f"{name} must have at least one column, got none")
    found = {key: _numbers(column, key, name) for key, column in columns.items()}
    frames.same_lengths(found, name)
    return found


def _numbers(values: ArrayLike, key: str, name: str) -> np.ndarray:
    """Return one column as numbers; yes and no are 1 and 0."""
    try:
        return np.asarray(frames.column(yes_no(values, key), key).array)
    except TypeError as error:
        what = "hold numbers, so give an indicator column for each category but one"
        raise ArgumentTypeError(f"{name} must {what}: {error}") from None
