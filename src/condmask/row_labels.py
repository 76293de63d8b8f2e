"""Compare labels of rows: columns used together are matched by position, so their pandas labels
must not imply another order.

Two indexes that hold the same labels in different orders are refused; equal indexes, and those
with different labels, are accepted. Rows without labels, as of arrays and files, count as numbered
from 0 on.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from condmask import frames
from condmask.errors import ArgumentError

RELEASE = "the release"
# multipliers of the finalizer of SplitMix64, which spreads the bits of a number
MIXING_STEPS = (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)
NEXT_LEVEL = np.uint64(0x9E3779B97F4A7C15)
MARK_OF_MISSING = 0x5BD1E995
TEXTS = "str", "string"  # types of texts alone
MAX_LISTED_COLUMNS = 1000  # longer lists hold values, not columns


# pandas is optional and has no type information here
PandasIndex = Any


class RowLabels(NamedTuple):
    """The labels of the rows of one container.

    Attributes
    ----------
    index : pandas Index, ndarray or None
        One label for each row; None where rows are numbered from 0 on.
    source : str
        The Python expression that gives the index; empty where there is none.
    of : str
        The container's name for messages.
    """

    index: PandasIndex = None
    source: str = ""
    of: str = RELEASE


Known = tuple[RowLabels, ...]
NUMBERED: Known = (RowLabels(),)


def labels_of_rows(values: object, name: str, *, of: str = "") -> Known:
    """Return the labels of the rows of a column or a table; refuse columns of a dict in different
    orders.

    Parameters
    ----------
    values : column, data frame, or dict or list of columns
    name : str
        The argument, or another expression that gives the values.
    of : str
        The name of the values for messages; by default that of the argument or of its first
        column.
    """
    first, column = next(_columns_with_expressions(values, name), (name, None))
    index = index_of(column)
    rows = RowLabels(index, "" if index is None else f"{first}.index", of or first)
    return refuse_other_order({name: values}, (rows,))


def refuse_other_order(given: Mapping[str, object], known: Known = NUMBERED) -> Known:
    """Refuse arguments whose rows have the labels of known rows, or of an earlier argument, in
    another order.

    Parameters
    ----------
    given : dict
        Columns, data frames, and dicts or lists of columns, by the names of their arguments.
        Anything without an index of pandas is passed over.
    known : tuple of RowLabels
        Of the rows beside which the arguments are used.

    Returns
    -------
    tuple of RowLabels
        Those that were known, and further ones of the arguments.
    """
    for argument, values in given.items():
        for name, column in _columns_with_expressions(values, argument):
            index = index_of(column)
            if index is None:
                continue
            for rows in known:
                if in_other_order(_as_index(rows, index), index):
                    raise ArgumentError(_refusal(name, column, rows))
            if not any(_equal(_as_index(rows, index), index) for rows in known):
                known = (*known, RowLabels(index, f"{name}.index", name))
    return known


def has_index(given: Mapping[str, object]) -> bool:
    """Return whether any argument has an index of pandas."""
    columns = (
        column
        for name, values in given.items()
        for _, column in _columns_with_expressions(values, name)
    )
    return any(index_of(column) is not None for column in columns)


def labels_of_some(known: Known, chosen: np.ndarray) -> Known:
    """Return the labels of some of the rows, True where chosen."""
    some = []
    for rows in known:
        index = np.arange(chosen.size) if rows.index is None else rows.index
        source = rows.source and f"{rows.source}[rows]"
        some.append(RowLabels(index[chosen], source, rows.of))
    return tuple(some)


def index_of(values: object) -> PandasIndex | None:
    """Return the index of a container that keeps its rows in one of pandas, else None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or frames.home(values) in ("builtins", "numpy"):
        return None
    try:
        index = getattr(values, "index", None)
    except Exception:  # whatever the values' own attributes raise
        return None
    return index if isinstance(index, pandas.Index) else None


def in_other_order(one: PandasIndex, two: PandasIndex) -> bool:
    """Return whether two indexes hold the same labels, each as often, in different orders."""
    if one is two or len(one) != len(two):
        return False
    one, two = _levels_alike(one, two)
    if one.nlevels != two.nlevels:
        return False
    kinds = {_kind_of_labels(one), _kind_of_labels(two)} - {""}
    if len(kinds) > 1 or one.equals(two):
        return False
    marks = np.zeros((2, len(one)), dtype=np.uint64)
    for level in range(one.nlevels):
        of_level = _level_marks(one.get_level_values(level), two.get_level_values(level))
        marks = _spread(marks * NEXT_LEVEL + np.array(of_level))
    first, second = marks
    return bool(first.sum() == second.sum() and (first != second).any())


# --- private ---


def _levels_alike(one: PandasIndex, two: PandasIndex) -> tuple[PandasIndex, PandasIndex]:
    """Return two indexes with levels in one order, or of tuples where one has no levels."""
    if one.nlevels != two.nlevels:
        if any(index.nlevels == 1 and _is_of_tuples(index) for index in (one, two)):
            return one.to_flat_index(), two.to_flat_index()
        return one, two
    return one, two.reorder_levels(one.names) if _has_levels_in_other_order(one, two) else two


def _is_of_tuples(index: PandasIndex) -> bool:
    """Return whether the labels of an index are tuples, as far as the first one tells."""
    return len(index) > 0 and isinstance(index[0], tuple)


def _has_levels_in_other_order(one: PandasIndex, two: PandasIndex) -> bool:
    """Return whether two indexes have levels of the same names in another order."""
    first = list(one.names)
    second = list(two.names)
    named = None not in first and len(set(first)) == len(first)
    return named and first != second and set(first) == set(second)


def _native(name: str, values: object) -> tuple[str, Any]:
    """Return what narwhals wraps, with the expression that gives it."""
    if frames.home(values) == "narwhals" and hasattr(values, "to_native"):
        return f"{name}.to_native()", values.to_native()
    return name, values


def _equal(one: PandasIndex, two: PandasIndex) -> bool:
    """Return whether two indexes have the same labels in the same order, of one type or nearly."""
    return _kind_of_labels(one) == _kind_of_labels(two) and bool(one.equals(two))


def _columns_with_expressions(values: object, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a dict or a list of columns with their expressions, else the values
    themselves."""
    if isinstance(values, dict):
        yield from (_native(f"{name}[{key!r}]", column) for key, column in values.items())
    elif _is_list_of_columns(values):
        yield from (_native(f"{name}[{k}]", column) for k, column in enumerate(values))
    else:
        yield _native(name, values)


def _is_list_of_columns(values: object) -> TypeGuard[Sequence[object]]:
    """Return whether values are a short list of columns, one of which is of pandas."""
    if not isinstance(values, list | tuple) or len(values) > MAX_LISTED_COLUMNS:
        return False
    return any(index_of(_native("", value)[1]) is not None for value in values)


def _as_index(rows: RowLabels, like: PandasIndex) -> PandasIndex:
    """Return labels as an index of pandas; rows that are numbered are as many as those of another
    index."""
    pandas = sys.modules["pandas"]
    if rows.index is None:
        return pandas.RangeIndex(len(like))
    return pandas.Index(rows.index) if isinstance(rows.index, np.ndarray) else rows.index


def _kind_of_labels(index: PandasIndex) -> str:
    """Return whether an index holds numbers, texts or times; empty where its type does not say."""
    name = str(index.dtype)
    kind = index.dtype.kind
    if isinstance(index.dtype, np.dtype) and kind in "iuf":
        return "number"
    return "text" if name in TEXTS else "time" if kind in "mM" else ""


def _level_marks(one: PandasIndex, two: PandasIndex) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each label of two indexes, the same for equal labels."""
    kinds = {
        index.dtype.kind if isinstance(index.dtype, np.dtype) else "O" for index in (one, two)
    }
    if kinds <= {*"iu"}:
        return one.to_numpy().astype(np.uint64), two.to_numpy().astype(np.uint64)
    if kinds <= {*"iuf"}:
        return _float_marks(one), _float_marks(two)
    if one.dtype == two.dtype and hasattr(one, "asi8"):  # dates and times
        return one.asi8.view(np.uint64), two.asi8.view(np.uint64)
    return _hashes(one), _hashes(two)


def _float_marks(index: PandasIndex) -> np.ndarray:
    """Return the bits of labels as float64, one pattern for zeros of either sign and one for
    NaN."""
    labels = index.to_numpy().astype(np.float64) + 0.0
    return np.where(np.isnan(labels), np.uint64(MARK_OF_MISSING), labels.view(np.uint64))


def _hashes(index: PandasIndex) -> np.ndarray:
    """Return Python's hashes of labels, which are equal for equal labels of any type."""
    labels = np.fromiter(map(hash, index.tolist()), dtype=np.int64, count=len(index))
    return np.where(index.isna(), np.uint64(MARK_OF_MISSING), labels.view(np.uint64))


def _spread(marks: np.ndarray) -> np.ndarray:
    """Return numbers of 64 bits, different for different ones, whose sums tell sets of labels
    apart."""
    for shift, factor in MIXING_STEPS:
        marks = (marks ^ (marks >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(marks ^ (marks >> np.uint64(31)))


def _refusal(name: str, column: Any, rows: RowLabels) -> str:
    """Return the message about a column in another order, with what settles it."""
    ways = []
    ordered = name
    if rows.index is not None and _has_levels_in_other_order(
        _as_index(rows, column.index), column.index
    ):
        ordered = f"{name}.reorder_levels({list(rows.index.names)!r})"
    if column.index.is_unique:
        ways.append(f"{ordered}.loc[{rows.source}]" if rows.source else f"{name}.sort_index()")
    plain = hasattr(column, "dtype") and (
        isinstance(column.dtype, np.dtype) or not column.isna().any()
    )
    if plain:
        by_position = f"{name}.to_numpy()"
    else:  # an array would lose the names of columns, or the kind of nulls
        by_position = (
            f"{name}.set_axis({rows.source})" if rows.source else f"{name}.reset_index(drop=True)"
        )
    ways.append(f"{by_position} if rows are meant by position")
    repeated = "" if column.index.is_unique else ", where some labels stand several times"
    order = f"its index has the labels of {rows.of} in another order{repeated}"
    return f"{name}: {order}; pass {', or '.join(ways)}"
