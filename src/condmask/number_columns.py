"""Read a column of any container as an array of numbers, and put values back into its container.

`frames` recognises containers. Here are the types that a column may have: integers, floating
point numbers, decimals, dates, times and durations.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentTypeError, optional
from condmask.stored_values import (
    ArrayValues,
    ArrowValues,
    IntegerSeries,
    ObjectSeries,
    StoredValues,
    as_type,
    per_unit,
    placed,
    steps_of,
    whole_numbers,
    with_nulls,
)


class Column(NamedTuple):
    """A column as an array, with the way back into its container.

    Attributes
    ----------
    array : ndarray of float64
        The values, NaN where one is missing; dates in days and times in seconds, from 1970 on.
    name : str
        The name of a series; "" where there is none.
    kind : {"int", "float32", "float64"}
        The type of values in the container.
    back : callable (values, nulls=None)
        Puts values into such a container, with nulls in the gaps of the original, and where
        `nulls` is True.
    stored : StoredValues or None
        The values in their own type; None where it is float32 or float64.
    """

    array: Any
    name: str
    kind: str
    back: Callable[..., Any]
    stored: StoredValues | None = None


def of_array(values: Any, name: str, **checks: Any) -> Column:
    """Read an array or a list; the checks are those of `_checks.column`."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return _of_times(values, name, **checks)
    array = _checks.column(values, name, **checks)
    dtype = np.asarray(values).dtype
    kind = "int" if dtype.kind in "iu" else "float32" if dtype.itemsize == 4 else "float64"
    stored = ArrayValues(np.asarray(values)) if kind == "int" else None
    return Column(array, "", kind, lambda z, nulls=None: z, stored)


def _of_times(values: np.ndarray, name: str, **checks: Any) -> Column:
    """Read an array of dates, times or durations."""
    per = per_unit(np.datetime_data(values.dtype))
    if not per:
        rule = f"{name} must have dates in days, or times in seconds or parts of them"
        raise ArgumentTypeError(f"{rule}, got dtype {values.dtype}")
    times = ArrayValues(values)

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> np.ndarray:
        gaps = np.isnan(z) if nulls is None else np.isnan(z) | nulls
        whole = np.rint(np.where(gaps, 0.0, z) * per).astype(np.int64)
        dates = np.asarray(whole.view(values.dtype))
        dates[gaps] = np.array("NaT", values.dtype)
        return dates

    return Column(_checks.column(times.numbers(), name, **checks), "", "float64", back, times)


def of_series(series: Any, values: Any, name: str, *, least: int, finite: bool) -> Column:
    """Read a series, given as narwhals wraps it, too."""
    import narwhals as nw

    label = series.name if isinstance(series.name, str) else ""
    stored_in_arrow = arrow_type(values)
    if stored_in_arrow is None:
        dtype = series.dtype
        in_arrow = is_of_objects(series) or isinstance(dtype, nw.Decimal) or dtype.is_temporal()
    else:
        in_arrow = _is_exact(stored_in_arrow)
    if in_arrow:
        return _of_arrow(series, values, name, least)._replace(name=label)
    dtype = series.dtype
    if not dtype.is_numeric() or isinstance(dtype, nw.Int128 | nw.UInt128):
        raise ArgumentTypeError(f"{name} must be numeric, got dtype {dtype}{_hint(series, name)}")
    missing = series.is_null().to_numpy()
    array = (
        series.cast(nw.Float64()).to_numpy()
        if dtype.is_integer() or missing.any()
        else series.to_numpy()
    )
    kind = "int" if dtype.is_integer() else "float32" if dtype == nw.Float32() else "float64"
    checked = _checks.column(array, name, least=least, finite=finite)
    stored = None
    if kind == "int":
        stored = IntegerSeries(series, values, series.fill_null(0).to_numpy())

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> Any:
        gaps = missing if nulls is None else missing | nulls
        if kind == "int" and gaps.any():
            z = np.where(gaps, 0.0, z)
            if np.array_equal(z, np.rint(z)):
                z = z.astype(np.int64)
        result = with_nulls(nw.new_series(series.name, z, backend=series.implementation), gaps)
        return placed(_nullable(result.to_native(), values, str(z.dtype)), values)

    return Column(checked, label, kind, back, stored)


def _hint(series: Any, name: str) -> str:
    """Return the call that makes a column of numbers, where there is one."""
    import narwhals as nw

    if isinstance(series.dtype, nw.Int128 | nw.UInt128):
        return f"; pass {name}.cast(pl.Decimal(38, 0))"
    return ""


def _nullable(result: Any, values: Any, kind: str) -> Any:
    """Return a new series of pandas of a kind, as NumPy names it, in a type that has nulls, where
    the old one had such a type."""
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype) or not hasattr(result, "astype"):
        return result
    if str(dtype).endswith("[pyarrow]"):
        arrow = {"float64": "double", "float32": "float"}.get(kind, kind)
        return result.astype(f"{arrow}[pyarrow]")
    return result.astype(kind.capitalize()) if hasattr(dtype, "numpy_dtype") else result


def arrow_type(values: Any) -> Any:
    """Return the type of Arrow that a column is stored in, of pyarrow or pandas; None for
    others."""
    if hasattr(values, "combine_chunks") or hasattr(values, "dictionary_encode"):
        return values.type
    return getattr(getattr(values, "dtype", None), "pyarrow_dtype", None)


def _is_exact(kind: Any) -> bool:
    """Return whether a type of Arrow is one of integers, decimals, dates, times or durations."""
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_decimal(kind) or steps_of(kind) is not None


def _in_arrow(series: Any, values: Any, name: str) -> Any:
    """Return a series of decimals, dates, times or objects as an array of Arrow."""
    with optional(f"{name}, a column of {type(values).__name__} in exact types,", "files"):
        import pyarrow as pa

    if arrow_type(values) is not None:
        array = values if hasattr(values, "type") else values.array.__arrow_array__()
    elif is_of_objects(series):
        array = _of_objects(values, name)
    else:
        with _checks.converting(series.dtype, name, "a column of decimals, dates or times alone"):
            array = series.to_arrow()
    if not hasattr(array, "chunks"):
        return array
    return array.combine_chunks() if array.num_chunks else pa.array([], array.type)


def _of_objects(values: Any, name: str) -> Any:
    """Return objects of Python as an array of Arrow; refused unless they are of one type."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(
            f"{name} must be a column of one type of numbers, got objects of several: pass "
            f"{name}.convert_dtypes(), or decimals alone"
        ) from None


def _of_arrow(series: Any, values: Any, name: str, least: int) -> Column:
    """Read integers, decimals, dates, times or objects by way of Arrow."""
    import pyarrow as pa

    original = _in_arrow(series, values, name)
    kind = original.type
    per = steps_of(kind)
    whole = pa.types.is_integer(kind)
    if pa.types.is_decimal(kind):
        # by way of text: a cast is off in the last bit
        array = original.cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    elif per is not None or whole:
        missing = original.is_null().to_numpy(zero_copy_only=False)
        array = np.where(missing, np.nan, whole_numbers(original) / (per or 1))
    elif pa.types.is_floating(kind):
        array = original.cast(pa.float64()).to_numpy(zero_copy_only=False)
    else:
        raise ArgumentTypeError(f"{name} must be numeric, got dtype {series.dtype}")
    rebuilt = partial(_rebuilt, series, values)

    def back(z: np.ndarray, nulls: np.ndarray | None = None) -> Any:
        # nulls for codes among them: no type of decimals tells NaN from null
        gaps = np.isnan(z) if nulls is None else np.isnan(z) | nulls
        if pa.types.is_decimal(kind):
            return rebuilt(_as_decimals(z, gaps, kind))
        if per is None and not whole:
            return rebuilt(pa.array(z, mask=gaps))
        numbers = np.rint(np.where(gaps, 0.0, z) * (per or 1)).astype(np.int64)
        if per is not None:
            return rebuilt(as_type(numbers, kind, gaps))
        fits = np.array_equal(numbers[~gaps], z[~gaps])
        return rebuilt(pa.array(numbers if fits else z, mask=gaps))

    checked = _checks.column(array, name, least=least)
    column = Column(checked, "", "int" if whole else "float64", back)
    if pa.types.is_floating(kind):
        return column
    by_arrow = arrow_type(values) is not None or "polars" in type(values).__module__
    stored = ArrowValues(original, rebuilt) if by_arrow else ObjectSeries(series, values, original)
    return column._replace(stored=stored)


def _rebuilt(series: Any, values: Any, released: Any) -> Any:
    """Return an array of Arrow in the container of a column."""
    import narwhals as nw
    import pyarrow as pa

    if hasattr(values, "type"):
        return pa.chunked_array([released]) if hasattr(values, "chunks") else released
    if arrow_type(values) is not None:
        array = type(values.array)(released)
        return type(values)(array, index=values.index, name=values.name)
    if str(getattr(values, "dtype", "")) == "object":
        objects = released.to_pylist()
        return type(values)(objects, index=values.index, name=values.name, dtype=object)
    made = nw.from_arrow(pa.table({"values": released}), backend=series.implementation)["values"]
    return placed(made.alias(series.name).to_native(), values)


def _as_decimals(z: np.ndarray, gaps: np.ndarray, kind: Any) -> Any:
    """Return numbers as decimals of a type, of a longer one where they are too large for it, or
    as they are where they have more places."""
    import pyarrow as pa

    numbers = pa.array(z, mask=gaps)
    texts = numbers.cast(pa.string())
    for wider in (kind, pa.decimal128(38, kind.scale), pa.decimal256(76, kind.scale)):
        try:
            return texts.cast(pa.decimal256(76, max(kind.scale, 0))).cast(wider)
        except pa.ArrowInvalid:
            continue
    return numbers


def is_of_objects(series: Any) -> bool:
    """Return whether a series of narwhals holds objects of Python that are no texts."""
    if str(getattr(series.to_native(), "dtype", "")).lower() != "object":
        return False
    first = next((value for value in series if not is_missing(value)), None)
    return not isinstance(first, str | bytes)


def is_missing(label: Any) -> bool:
    """Return whether a label is None, differs from itself (NaN), or cannot be compared
    (pandas.NA)."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
    except Exception:  # an array, or an object that compares with nothing
        return False
