"""Number the labels of records (strata, groups, clusters) from any container."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.frames import LABELS

FLOATS = ("halffloat", "float", "double")  # of which Arrow tells NaN from null, and 0 from -0


class Labels(NamedTuple):
    """A column of labels: by record the number of its label, and the labels by number."""

    code: np.ndarray
    distinct: list[Any]

    def __repr__(self) -> str:
        return "labels"


def coded(frame: object, name: str) -> Labels:
    """Return a column of a table as labels; a missing label is one of them."""
    values = frames.without_dictionary(frames.table_column(frame, name, levels=True))
    if frames.home(values) != "pyarrow" or str(values.type) in FLOATS:
        return codes(frames.labels(values, name), name)
    with _checks.converting(values, name, LABELS):  # none are lists
        code = values.dictionary_encode(null_encoding="encode")
    return Labels(code.indices.to_numpy(zero_copy_only=False), code.dictionary.to_pylist())


def codes(values: np.ndarray, name: str) -> Labels:
    """Return labels in ascending order; objects in order of appearance, with one label, None, for
    all missing ones."""
    if values.ndim != 1:
        raise ArgumentError(f"{name} must be 1-D, got {values.ndim}-D")
    with _checks.converting(values, name, LABELS):
        if values.dtype.kind != "O":
            distinct, code = np.unique(values, return_inverse=True)
            return Labels(code, distinct.tolist())
        given = values.tolist()
        # each label is looked at once, however many records have it
        label_of = {
            value: None if frames.is_missing(value) else value for value in dict.fromkeys(given)
        }
        numbers = {label: k for k, label in enumerate(dict.fromkeys(label_of.values()))}
        code = np.array([numbers[label_of[value]] for value in given], dtype=np.int64)
        return Labels(code, list(numbers))


def groups(values: object, name: str, n: int) -> Labels:
    """Return labels of n records, numbers and texts in ascending order; records with a missing
    label have the number -1."""
    column = values if isinstance(values, Labels) else codes(frames.labels(values, name), name)
    _checks.same_length(column.code, name, n, "z")
    present = [k for k, label in enumerate(column.distinct) if not frames.is_missing(label)]
    order = sorted(present, key=lambda k: _sortable(column.distinct[k]))
    rank = np.full(len(column.distinct) + 1, -1, column.code.dtype)  # the last one of -1
    rank[order] = np.arange(len(order))
    return Labels(rank[column.code], [column.distinct[k] for k in order])


def _sortable(label: object) -> tuple[str, Any]:
    """Return a sort key by which numbers are compared with numbers, and texts with texts."""
    return ("", label) if isinstance(label, int | float) else (type(label).__name__, str(label))


def label_columns(values: Any, names: Sequence[str], argument: str) -> list[np.ndarray]:
    """Return the columns of these names from a table, or from a list of as many arrays; for one
    name, `values` may be the array."""
    _checks.in_memory(values, argument)
    if isinstance(values, dict) or frames.is_frame(values):
        return [frames.labels(frames.table_column(values, name, argument), name) for name in names]
    given = [values] if len(names) == 1 else values
    several = isinstance(given, list | tuple)
    if several and len(given) == len(names):
        return [frames.labels(column, argument) for column in given]
    columns = ", ".join(map(repr, names))
    kind = type(values).__name__
    rule = (
        f"{argument} must be a table with the columns {columns} or a list of {len(names)} arrays"
    )
    raise ArgumentError(f"{rule}, got " + (f"{len(values)} elements" if several else kind))
