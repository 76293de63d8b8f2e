"""Convert between data frames and arrays: a column becomes an array, and goes back into its
container.

This module and `frame_rows` alone know data frames. Arrays, lists, and whatever narwhals supports
(pandas, polars, pyarrow and others) are accepted.
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError, optional
from condmask.number_columns import Column as Column
from condmask.number_columns import is_missing as is_missing
from condmask.number_columns import of_array, of_series

DataFrame = (
    Any  # of pandas, polars, pyarrow or another that narwhals supports; or a dict of columns
)
NOT_OF_ARROW = (TypeError, ValueError, OverflowError)  # besides what Arrow raises of its own
LABELS = "a column of labels, each a number, a text or the like"


def column(
    values: object,
    name: str,
    *,
    dimensions: tuple[int, ...] = (1,),
    least: int = 2,
    finite: bool = True,
) -> Column:
    """Read a column of numbers, dates or times from any container."""
    if _of_numpy(values):
        return of_array(values, name, dimensions=dimensions, least=least, finite=finite)
    _checks.in_memory(values, name)
    with _checks.converting(values, name, "an array or a series of numbers"):
        values = decoded(values)
    series = wrapped(values, series_only=True)
    if series is None:
        given = type(values).__name__
        raise ArgumentTypeError(f"{name} must be an array or a series of numbers, got {given}")
    return of_series(series, values, name, least=least, finite=finite)


def column_of(frame: object, name: str, *, least: int = 2, finite: bool = True) -> Column:
    """Read a column of a data frame or of a dict of columns."""
    return column(table_column(frame, name), name, least=least, finite=finite)


def decoded(values: Any) -> Any:
    """Return a column without a dictionary, runs or sparse storage, in which narwhals sees no
    numbers; of another library that speaks Arrow, as a column of Arrow. Others are returned as
    they are."""
    if home(values) == "pyarrow":
        kind = getattr(values, "type", None)
        if hasattr(kind, "run_end_type"):
            import pyarrow.compute as pc

            return pc.run_end_decode(values)
        if not hasattr(kind, "index_type"):
            return values
        return _in_chunks(without_dictionary(values))
    dtype = getattr(values, "dtype", None)
    if hasattr(dtype, "fill_value"):  # sparse, of pandas
        return values.sparse.to_dense()
    categories = getattr(getattr(dtype, "categories", None), "dtype", None)
    kind = getattr(categories, "kind", "")
    if kind in ("i", "u", "f"):
        return values.astype("Int64" if kind != "f" and values.isna().any() else categories)
    if wrapped(values, allow_series=True) is None and hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        return pa.array(values)
    return values


# --- labels ---


def labels(values: Any, name: str) -> np.ndarray:
    """Return stratum labels or another column as an array; missing ones become NaN or None."""
    series = wrapped(values, series_only=True)
    if series is None or _has_arrays(series.dtype):
        return _checks.array(without_dictionary(values), name, LABELS)
    return objects(values.to_list() if hasattr(values, "to_list") else values.to_pylist())


def without_dictionary(values: Any) -> Any:
    """Return values of Arrow in one chunk and without a dictionary: from chunks of a dictionary,
    NumPy loses the nulls. Other values are returned as they are."""
    if home(values) != "pyarrow":
        return values
    whole = values.combine_chunks() if hasattr(values, "chunks") else values
    return whole.dictionary_decode() if hasattr(whole, "dictionary_decode") else whole


def _has_arrays(dtype: Any) -> bool:
    """Return whether NumPy may have a type for a column.

    It has none for integers of 128 bits and for unions, and takes values that contain others for
    further dimensions.
    """
    import narwhals as nw

    return not dtype.is_nested() and dtype not in (nw.Int128(), nw.UInt128(), nw.Unknown())


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return values as an array of objects, whatever these contain."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# --- tables ---


def data_frame(columns: dict[str, list[Any]]) -> Any:
    """Return a pandas data frame."""
    import narwhals as nw

    with optional("a data frame of results", "pandas"):
        import pandas  # noqa: F401, TID251 (narwhals has it make the frame)
    return nw.from_dict(columns, backend="pandas").to_native()


def frame_of_rows(rows: list[dict[str, Any]]) -> Any:
    """Return a pandas data frame from a dict for each row; missing entries are None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return data_frame({name: [row.get(name) for row in rows] for name in names})


def series_name(values: object) -> str:
    """Return the name of a series; "" for an array, or if the name is not a text."""
    series = wrapped(values, series_only=True)
    return series.name if series is not None and isinstance(series.name, str) else ""


def is_frame(values: object) -> bool:
    """Return whether values are a data frame in memory."""
    return wrapped(values, eager_only=True) is not None


def wrapped(values: object, **kinds: Any) -> Any:
    """Return a series or frame as narwhals wraps it; None for anything else."""
    if _of_numpy(values):
        return None
    import narwhals as nw

    try:
        return nw.from_native(_in_chunks(values), **kinds)
    except nw.exceptions.DuplicateError:
        check_names(_native_names(values))
        return None
    except Exception:  # TypeError, and whatever the values' own methods raise
        return None


def _in_chunks(values: object) -> Any:
    """Return an Array of Arrow as a ChunkedArray, which narwhals takes; others as they are."""
    arrow = sys.modules.get("pyarrow")
    return arrow.chunked_array([values]) if arrow and isinstance(values, arrow.Array) else values


def _of_numpy(values: object) -> bool:
    """Return whether values are an array, a list or another built-in object."""
    return home(values) in ("numpy", "builtins")


def _native_names(frame: object) -> list[Any]:
    """Return the names of the columns of a container, if it has any."""
    names = getattr(frame, "column_names", getattr(frame, "columns", ()))
    return list(names) if isinstance(names, Iterable) else []


def table_column(frame: Any, name: str, argument: str = "frame", *, levels: bool = False) -> Any:
    """Return a column of a data frame or of a dict of columns, or raise a clear error.

    With `levels` a level of a pandas index is a column, too, by the name that it gets in files.
    """
    table: Any = frame if isinstance(frame, dict) else as_frame(frame, argument)
    names = column_names(table)
    in_index = level_names(frame) if levels else []
    if name in in_index and name not in names:
        level = frame.index.get_level_values(in_index.index(name))
        return level.to_series(index=frame.index, name=name)
    names = [*names, *in_index]
    if name not in names:
        raise ArgumentError(
            f"{argument} must have the column {name!r}, it has {_checks.listed(names)}"
        )
    return table[name] if isinstance(frame, dict) else table[name].to_native()


def column_names(frame: object) -> list[str]:
    """Return the names of the columns of a data frame or of a dict of columns, all different."""
    if not isinstance(frame, dict):
        return list(as_frame(frame).columns)
    check_names(list(frame))
    return list(frame)


def check_names(names: Sequence[Any], argument: str = "frame") -> None:
    """Refuse columns that share a name, or have a name that is not a text."""
    times = Counter(names)
    wrong = [name for name in times if not isinstance(name, str) or times[name] > 1]
    if wrong:
        rule = f"{argument} must have columns with different names that are text"
        raise ArgumentError(f"{rule}, got also {_checks.listed(wrong)}")


def level_names(frame: Any) -> list[str]:
    """Return the names that the levels of a pandas index get in files, where Arrow makes columns
    of them."""
    index = getattr(frame, "index", None)
    if not hasattr(frame, "reset_index") or type(index).__name__ == "RangeIndex":
        return []
    taken = list(frame.columns)
    for k, name in enumerate(frame.index.names):
        unnamed = name is None or name in taken
        taken.append(f"__index_level_{k}__" if unnamed else str(name))
    return taken[len(frame.columns) :]


def arrow_table(frame: object) -> Any:
    """Return a data frame, or a dict of columns, as a pyarrow Table."""
    import pyarrow as pa

    table: Any = frame if isinstance(frame, dict) else as_frame(frame)
    try:
        if isinstance(frame, dict):
            return pa.table({name: _in_arrow(frame[name]) for name in column_names(frame)})
        return table.to_arrow()
    except MemoryError:
        raise
    except (*NOT_OF_ARROW, pa.ArrowException):  # what Arrow says of it holds values
        for name in column_names(frame):
            column = f"frame[{_checks.listed([name])}]"
            with _checks.converting("others", column, "a column of one type that Arrow has"):
                _in_arrow(table[name])
        raise ArgumentTypeError("frame must be a table that Arrow can hold") from None


def _in_arrow(values: object) -> Any:
    """Return a column as an array of Arrow."""
    import pyarrow as pa

    series = wrapped(values, allow_series=True)
    return pa.array(labels(values, "frame")) if series is None else series.to_arrow()


def read_stream(frame: object, argument: str = "frame") -> Any:
    """Return what hands over a stream of Arrow, such as a relation of DuckDB, as a table of Arrow;
    frames that are in memory as they are."""
    _checks.in_memory(frame, argument)
    if isinstance(frame, dict) or not hasattr(frame, "__arrow_c_stream__") or is_frame(frame):
        return frame
    with optional(f"{argument}, which is none of pandas or polars,", "files"):
        import pyarrow as pa
    with _checks.converting(type(frame).__name__, argument, "a table that can be read as Arrow"):
        return pa.table(frame)


def with_columns(frame: object, replacements: dict[str, Any]) -> Any:
    """Return a data frame, or a dict of columns, with some columns replaced in their places."""
    if isinstance(frame, dict):
        return {**frame, **replacements}
    import narwhals as nw

    table = as_frame(frame)
    series = [
        nw.from_native(new, series_only=True).alias(name) for name, new in replacements.items()
    ]
    return table.with_columns(*series).to_native()


def without_columns(frame: DataFrame, names: Collection[str]) -> Any:
    """Return a data frame or a dict of columns without some of its columns."""
    if not names:
        return frame
    if isinstance(frame, dict):
        return {name: values for name, values in frame.items() if name not in names}
    return as_frame(frame).drop([*names]).to_native()


def as_frame(frame: object, argument: str = "frame") -> Any:
    """Return a data frame as narwhals wraps it; raises ArgumentTypeError for anything else."""
    _checks.in_memory(frame, argument)
    table = wrapped(frame, eager_only=True)
    if table is None:
        raise ArgumentTypeError(f"{argument} must be a data frame, got {type(frame).__name__}")
    check_names(_native_names(frame))
    return table


def same_lengths(columns: object, name: str) -> None:
    """Refuse a dict of columns of different lengths; columns of a data frame have one length."""
    seen: dict[int, str] = {}  # the first column of each length
    for key, values in columns.items() if isinstance(columns, dict) else ():
        _checks.in_memory(values, f"{name}[{key!r}]")
        with _checks.converting(type(values).__name__, f"{name}[{key!r}]", "a column"):
            seen.setdefault(len(values), key)
    _checks.require(
        len(seen) < 2, f"{name} must have columns of one length", {k: n for n, k in seen.items()}
    )


# --- homes ---


def home(values: object) -> str:
    """Return the name of the package that defines the type of a container."""
    return type(values).__module__.split(".")[0]
