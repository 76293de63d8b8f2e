"""The only file that knows data frames: a column goes out as an array and comes back in its container.

Accepts arrays, lists, and whatever narwhals supports (pandas, polars, pyarrow and others).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask._optional import optional
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.grid import decimals_of

NOT_OF_ARROW = (TypeError, ValueError, OverflowError)  # besides what Arrow raises of its own
LABELS = "a column of labels, each a number, a text or the like"


class Column(NamedTuple):
    """A column as float64 with NaN for missing, its name if it has one, and the way back to its container."""

    array: Any
    name: str
    kind: str  # "int", "float32" or "float64": what the container held
    back: Callable[..., Any]  # of values, and of where there shall be nulls beside the gaps of the original


class Labels(NamedTuple):
    """A column of labels: the number of each record's label, and the labels by number."""

    code: np.ndarray
    distinct: Sequence[Any]


def column(
    values: Any, name: str, *, dimensions: tuple[int, ...] = (1,), least: int = 2, finite: bool = True
) -> Column:
    """Take a column from any container."""
    if type(values).__module__.split(".")[0] in ("numpy", "builtins"):
        array = _checks.column(values, name, dimensions=dimensions, least=least, finite=finite)
        return Column(array, "", _kind(np.asarray(values).dtype), _as_array)
    import narwhals as nw

    if type(values).__module__.startswith("pyarrow") and not hasattr(values, "chunks"):
        return _arrow_array(values, name, least, finite)
    series = _wrapped(values, series_only=True)
    if series is None:
        raise ArgumentTypeError(
            f"{name} must be an array or a series of numbers, got {type(values).__name__}"
        )
    dtype = series.dtype
    if not dtype.is_numeric() or isinstance(dtype, nw.Decimal):
        raise ArgumentTypeError(f"{name} must be numeric, got dtype {dtype}")
    if isinstance(dtype, nw.Int128 | nw.UInt128):  # which NumPy does not have
        most = _checks.LARGEST_EXACT_INTEGER
        _checks.exact_integers(~series.is_between(-most, most).fill_null(True).to_numpy() * (most + 1), name)
        series = series.cast(nw.Int64())
    missing = series.is_null().to_numpy()
    if dtype.is_integer():
        present_values = series.filter(~series.is_null()).to_numpy()
        _checks.exact_integers(present_values, name, np.flatnonzero(~missing))
    array = series.cast(nw.Float64()).to_numpy() if dtype.is_integer() or missing.any() else series.to_numpy()
    kind = "int" if dtype.is_integer() else "float32" if dtype == nw.Float32() else "float64"

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> Any:
        result = nw.new_series(series.name, z, backend=series.implementation)
        gaps = missing if nulls is None else missing | nulls
        if gaps.any():
            present = nw.new_series(series.name, ~gaps, backend=series.implementation)
            result = result.zip_with(present, result.shift(len(result)))
        native = result.to_native()
        if hasattr(values, "index") and not callable(values.index):  # pandas and its like
            native.index = values.index
        return native

    own_name = series.name if isinstance(series.name, str) else ""
    return Column(_checks.column(array, name, least=least, finite=finite), own_name, kind, back)


def column_of(frame: Any, name: str, *, least: int = 2, finite: bool = True) -> Column:
    """A column of a data frame or of a dict of columns; decimals go back as such where they can."""
    values = table_column(frame, name)
    if is_decimal(values):
        return _decimals(values, name, least)
    return column(values, name, least=least, finite=finite)


def _decimals(values: Any, name: str, least: int) -> Column:
    """Decimals as the numbers next to them, and back, by way of text: a cast is off in the last bit."""
    import narwhals as nw

    with optional(f"{name}, a column of decimals,", "files"):
        import pyarrow as pa

    series = nw.from_native(values, series_only=True)
    original = series.to_arrow()
    array = original.cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> Any:
        gaps = np.isnan(z) if nulls is None else np.isnan(z) | nulls
        places, scale = decimals_of(z[~gaps]), original.type.scale
        fits = places is not None and places <= scale
        dtype = pa.decimal128(38, scale) if fits else pa.float64()
        masked = pa.array(z, mask=gaps).cast(pa.string()).cast(dtype)
        # polars gives a column without a name one of its own
        made = nw.from_arrow(pa.table({"column": masked}), backend=series.implementation)["column"]
        native = made.alias(name).to_native()
        if hasattr(native, "index") and not callable(native.index):
            if hasattr(values.dtype, "pyarrow_dtype"):
                native = native.astype(type(values.dtype)(dtype))
            native.index = values.index
        return native

    return Column(_checks.column(array, name, least=least), name, "float64", back)


def coded(frame: Any, name: str) -> Labels:
    """A column as labels, a missing one among them."""
    values = table_column(frame, name)
    if type(values).__module__.split(".")[0] == "pyarrow" and hasattr(values, "chunks"):
        whole = values.combine_chunks()
        whole = whole.dictionary_decode() if hasattr(whole, "dictionary_decode") else whole
        code = whole.dictionary_encode(null_encoding="encode")
        return Labels(code.indices.to_numpy(zero_copy_only=False), code.dictionary.to_pylist())
    return Labels(*codes(labels(values, name), name))


def data_frame(columns: dict[str, list[Any]]) -> Any:
    """A pandas data frame."""
    import narwhals as nw

    with optional("a data frame of results", "pandas"):
        import pandas  # noqa: F401, TID251 (narwhals has it make the frame)
    return nw.from_dict(columns, backend="pandas").to_native()


def of_rows(rows: list[dict[str, Any]]) -> Any:
    """A pandas data frame from a dict for each row; missing entries are None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return data_frame({name: [row.get(name) for row in rows] for name in names})


def labels(values: Any, name: str) -> np.ndarray:
    """Stratum labels or another column, as an array; what is missing becomes NaN or None."""
    if _is_plain(values):
        return _checks.array(values, name, LABELS)
    return objects(values.to_list() if hasattr(values, "to_list") else values.to_pylist())


def _is_plain(values: Any) -> bool:
    """Whether NumPy may have a type for a column: not for whole numbers of 128 bits, for unions, nor for
    values that contain others, which it takes for further dimensions."""
    if type(values).__module__.split(".")[0] in ("numpy", "builtins") or not is_series(values):
        return True
    import narwhals as nw

    dtype = dtype_of(values)
    return not dtype.is_nested() and dtype not in (nw.Int128(), nw.UInt128(), nw.Unknown())


def dtype_of(series: Any) -> Any:
    """The type of a series as narwhals has it."""
    import narwhals as nw

    return nw.from_native(series, series_only=True).dtype


def objects(values: Sequence[Any]) -> np.ndarray:
    """A column of objects, whatever these contain."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def label_columns(values: Any, names: Sequence[str], argument: str) -> list[np.ndarray]:
    """The columns of these names from a table, or from as many arrays; for one name also the array itself."""
    plain = type(values).__module__.split(".")[0] in ("numpy", "builtins")
    if isinstance(values, dict) or (not plain and is_frame(values)):
        return [labels(table_column(values, name, argument), name) for name in names]
    if len(names) == 1:
        return [labels(values, argument)]
    if isinstance(values, (list, tuple)) and len(values) == len(names):
        return [labels(column, argument) for column in values]
    columns = ", ".join(map(repr, names))
    raise ArgumentError(
        f"{argument} must be a table with the columns {columns} or a list of {len(names)} arrays, got "
        + (f"{len(values)} elements" if isinstance(values, (list, tuple)) else type(values).__name__)
    )


def is_series(values: Any) -> bool:
    """Whether it is a series that narwhals knows, in memory."""
    return _wrapped(values, series_only=True) is not None


def series_name(values: Any) -> str:
    """The name of a series; of an array, and of one whose name is no text, ""."""
    series = _wrapped(values, series_only=True)
    return series.name if series is not None and isinstance(series.name, str) else ""


def is_frame(values: Any) -> bool:
    """Whether it is a data frame in memory."""
    return _wrapped(values, eager_only=True) is not None


def _wrapped(values: Any, **kinds: Any) -> Any:
    """The series or frame as narwhals wraps it; None where it is no such thing or cannot be looked at."""
    import narwhals as nw

    try:
        return nw.from_native(values, **kinds)
    except nw.exceptions.DuplicateError:
        check_names(_native_names(values))
        return None
    except Exception:  # TypeError, and whatever the values' own methods raise
        return None


def _native_names(frame: Any) -> list[Any]:
    """The names of the columns of a container, if it has any; what Arrow calls columns is none."""
    names = getattr(frame, "column_names", getattr(frame, "columns", ()))
    return list(names) if isinstance(names, Iterable) else []


def table_column(frame: Any, name: str, argument: str = "frame") -> Any:
    """A column of a data frame or of a dict of columns, or a clear error."""
    table: Any = frame if isinstance(frame, dict) else as_frame(frame)
    names = column_names(table)
    if name not in names:
        raise ArgumentError(f"{argument} must have the column {name!r}, it has {_checks.listed(names)}")
    return table[name] if isinstance(frame, dict) else table[name].to_native()


def column_names(frame: Any) -> list[str]:
    """The names of the columns of a data frame or of a dict of columns, each another text."""
    if not isinstance(frame, dict):
        return list(as_frame(frame).columns)
    check_names(list(frame))
    return list(frame)


def check_names(names: Sequence[Any], argument: str = "frame") -> None:
    """Refuse columns that share a name, or whose name is no text that files can have."""
    wrong = [name for name, times in Counter(names).items() if times > 1 or not _is_name(name)]
    if wrong:
        raise ArgumentError(
            f"{argument} must have columns with different names that are text, got also "
            f"{_checks.listed(wrong)}"
        )


def _is_name(name: Any) -> bool:
    """Whether it is text that files can hold: polars panics at null characters, UTF-8 has no surrogates."""
    return isinstance(name, str) and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name)


def with_index(frame: Any) -> Any:
    """A pandas frame with its index as columns, which are released, too; ordered row numbers are dropped."""
    index = getattr(frame, "index", None)
    if isinstance(frame, dict) or not hasattr(frame, "reset_index") or index is None:
        return frame
    in_order = index.dtype.kind in "iu" and index.is_unique and index.is_monotonic_increasing
    if in_order:
        return frame
    levels: dict[str, np.ndarray] = {}
    for k, name in enumerate(index.names):
        label = "index" if name is None else str(name)
        levels[f"{label} (level {k})" if label in (*frame.columns, *levels) else label] = (
            index.get_level_values(k).to_numpy()
        )
    return frame.reset_index(drop=True).assign(**levels)


def arrow_table(frame: Any) -> Any:
    """A data frame, or a dict of columns, as a pyarrow Table."""
    import pyarrow as pa

    names = column_names(frame)
    table: Any = frame if isinstance(frame, dict) else as_frame(frame)
    try:
        if isinstance(frame, dict):
            return pa.table({name: labels(values, name) for name, values in frame.items()})
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
        values.to_arrow() if hasattr(values, "to_arrow") else pa.array(labels(values, "frame"))
    except (*NOT_OF_ARROW, pa.ArrowException):
        return False
    return True


def with_columns(frame: Any, replacements: dict[str, Any]) -> Any:
    """The frame, or the dict of columns, with some replaced, in their places."""
    if isinstance(frame, dict):
        return {**frame, **replacements}
    import narwhals as nw

    table = as_frame(frame)
    series = [nw.from_native(new, series_only=True).alias(name) for name, new in replacements.items()]
    return table.with_columns(*series).to_native()


def copied(frame: Any) -> Any:
    """A copy of a data frame or a dict of columns, of all that can be changed in place."""
    if isinstance(frame, dict):
        return {name: values.copy() if hasattr(values, "copy") else values for name, values in frame.items()}
    return next((getattr(frame, name)() for name in ("copy", "clone") if hasattr(frame, name)), frame)


def as_frame(frame: Any) -> Any:
    table = _wrapped(frame, eager_only=True)
    if table is None:
        raise ArgumentTypeError(f"frame must be a data frame, got {type(frame).__name__}")
    check_names(_native_names(frame))
    return table


def _arrow_array(values: Any, name: str, least: int, finite: bool) -> Column:
    """A pyarrow.Array, which narwhals takes only as one chunk of a ChunkedArray."""
    import pyarrow as pa

    if not isinstance(values, pa.Array):
        raise ArgumentTypeError(
            f"{name} must be an array or a series of numbers, got {type(values).__name__}"
        )
    chunked = column(pa.chunked_array([values]), name, least=least, finite=finite)
    return chunked._replace(back=lambda z, nulls=None: chunked.back(z, nulls).combine_chunks())


def _kind(dtype: np.dtype) -> str:
    return "int" if dtype.kind in "iu" else "float32" if dtype.itemsize == 4 else "float64"


def _as_array(z: np.ndarray, nulls: np.ndarray | None = None) -> np.ndarray:
    return z


def codes(values: np.ndarray, name: str) -> tuple[np.ndarray, list[Any]]:
    """Stratum labels as whole numbers, in the sorted order of the labels."""
    if values.ndim != 1:
        raise ArgumentError(f"{name} must be 1-D, got {values.ndim}-D")
    with _checks.converting(values, name, LABELS):
        plain = values
        if values.dtype.kind == "O":
            plain = np.array([_as_text(value) for value in values.tolist()], dtype=str)
        distinct, code = np.unique(plain, return_inverse=True)
    return code.astype(np.int64), distinct.tolist()


def _as_text(label: Any) -> str:
    return label.decode("utf-8", "backslashreplace") if isinstance(label, bytes) else str(label)


def is_decimal(values: Any) -> bool:
    """Whether a series holds decimals, of a type of that name or as Python's objects."""
    if isinstance(values, np.ndarray | list) or not is_series(values):
        return False
    import narwhals as nw

    series = nw.from_native(values, series_only=True)
    if series.dtype == nw.Object() or str(getattr(values, "dtype", "")) == "object":  # or gaps at first
        return isinstance(next((value for value in series if not is_missing(value)), None), Decimal)
    return isinstance(series.dtype, nw.Decimal)


def groups(values: Any, name: str, n: int) -> tuple[Any, list[Any]]:
    """Labels of n records as whole numbers in the sorted order of the labels, -1 where one is missing."""
    if isinstance(values, Labels):
        _checks.same_length(values.code, name, n, "z")
        return ranked(values)
    array = labels(values, name)
    _checks.same_length(array, name, n, "z")
    if array.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        with _checks.converting(array, name, LABELS):
            code = np.array(
                [
                    -1 if is_missing(label) else numbers.setdefault(label, len(numbers))
                    for label in array.tolist()
                ],
                dtype=np.int64,
            )
            return ranked(Labels(code, list(numbers)))
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(n, dtype=bool)
    with _checks.converting(array, name, LABELS):
        distinct, code = np.unique(array[~missing], return_inverse=True)
    places = np.full(n, -1, dtype=np.int64)
    places[~missing] = code
    return places, distinct.tolist()


def ranked(column: Labels) -> tuple[np.ndarray, list[Any]]:
    """Codes in the sorted order of their labels; those below 0, and of missing labels, become -1."""
    present = [k for k, label in enumerate(column.distinct) if not is_missing(label)]
    order = sorted(present, key=lambda k: _sortable(column.distinct[k]))
    rank = np.full(len(column.distinct) + 1, -1, dtype=column.code.dtype)
    rank[order] = np.arange(len(order))
    code = np.empty(column.code.size, column.code.dtype)
    for start, stop in blocks(code.size):
        code[start:stop] = rank[column.code[start:stop]]
    return code, [column.distinct[k] for k in order]


def is_missing(label: Any) -> bool:
    """None, or what differs from itself or does not say whether it does (pandas.NA)."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
    except Exception:  # an array, or an object that compares with nothing
        return False


def _sortable(label: Any) -> tuple[str, Any]:
    """Numbers among themselves, texts among themselves."""
    return ("", label) if isinstance(label, int | float) else (type(label).__name__, str(label))


def design(values: Any, name: str, *, least: int = 2) -> dict[str, Any]:
    """Columns of numbers by name, from a data frame, a dict of columns, a series or an array of one or two
    dimensions; those of an array are called w1, w2, ..."""
    if isinstance(values, dict):
        columns = {str(key): column for key, column in values.items()}
    elif isinstance(values, np.ndarray | list | tuple):
        array = _checks.array(values, name, "columns of numbers")
        if array.ndim not in (1, 2):
            raise ArgumentError(f"{name} must have one or two dimensions, got {array.ndim}")
        # each column in one piece, before it is looked at several times
        parts = np.ascontiguousarray(array[:, None].T if array.ndim == 1 else array.T)
        columns = {f"w{k + 1}": part for k, part in enumerate(parts)}
    else:
        columns = _frame_columns(values, name)
    if not columns:
        raise ArgumentError(f"{name} must have at least one column, got none")
    found = {key: _numbers(column, key, name, least) for key, column in columns.items()}
    same_lengths(found, name)
    return found


def same_lengths(columns: Any, name: str) -> None:
    """Refuse a dict of columns whose columns have not all as many values; data frames cannot be so."""
    if not isinstance(columns, dict) or not columns:
        return
    sizes = {}
    for key, values in columns.items():
        with _checks.converting(type(values).__name__, f"{name}[{key!r}]", "a column"):
            sizes[key] = len(values)
    (first, count), *others = sizes.items()
    for key, size in others:
        if size != count:
            raise ArgumentError(
                f"{name} must have columns of one length, got {count} values in {first!r}, {size} in {key!r}"
            )


def _frame_columns(values: Any, name: str) -> dict[str, Any]:
    import narwhals as nw

    table = _wrapped(values, eager_only=True, allow_series=True)
    if table is None:
        raise ArgumentTypeError(
            f"{name} must be a data frame, a dict of columns or an array, got {type(values).__name__}"
        )
    if isinstance(table, nw.Series):
        return {str(table.name or "w1"): values}
    check_names([str(column) for column in table.columns], name)
    return {str(series.name): series.to_native() for series in table.iter_columns()}


def _numbers(values: Any, key: str, name: str, least: int) -> Any:
    """One column as numbers; yes and no are 1 and 0."""
    array = _checks.array(values, key, "1-D")
    if array.dtype.kind == "b":
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        objects = [np.nan if is_missing(value) else value for value in array.ravel().tolist()]
        if all(isinstance(value, bool) or value is np.nan for value in objects):
            return np.array(objects, dtype=np.float64)
    try:
        return column(values, key, least=least).array
    except TypeError as error:
        raise ArgumentTypeError(
            f"{name} must hold numbers, so give an indicator column for each category but one: {error}"
        ) from None
