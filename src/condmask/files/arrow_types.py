"""Arrow's types of numbers: the values of a column as float64, and the type of its masked values.

Integers become int64, float32 stays, and all else becomes float64: a type that the originals just fit into
may be too narrow for masked values. Decimals stay decimals of their scale, with all digits that the type has
room for, where the grid of the scheme has no finer decimals; else they become float64.
"""

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from condmask import _checks
from condmask._grid import decimal_grid
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.formats import Part, Rows

WIDEST = 38, 76  # digits of decimal128 and decimal256
MICROSECONDS = 86_400e6  # of a day
LARGEST_POWER = 22  # of ten that float64 holds exactly


def unwrapped(column: Any) -> Any:
    """The values of an Arrow array that wraps them: in a dictionary, in runs, or as an extension type."""
    column = _stored(column)
    return unwrapped(column.dictionary_decode()) if pa.types.is_dictionary(column.type) else column


def taken(column: Any, rows: np.ndarray) -> Any:
    """Some rows of an Arrow array of any plain type."""
    return _stored(column).take(pa.array(rows))


def _stored(column: Any) -> Any:
    """An Arrow array without runs, views and extension types around its values, or around its dictionary: few
    of Arrow's functions take these."""
    if isinstance(column, pa.ExtensionArray):
        return _stored(column.storage)
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        whole = pa.large_string() if pa.types.is_string_view(column.type) else pa.large_binary()
        return (_without_views_of_nulls(column) if column.null_count else column).cast(whole)
    if not pa.types.is_run_end_encoded(column.type):
        return column
    ends = values_of(column.run_ends, np.dtype(str(column.run_ends.type)))
    runs = np.searchsorted(ends, column.offset + np.arange(len(column)), side="right")
    return _stored(column.values).take(pa.array(runs))


def _without_views_of_nulls(column: Any) -> Any:
    """An Arrow array of views; those of nulls may point anywhere, which neither a check nor a cast minds."""
    _, memory, *texts = column.buffers()
    present = ~null(column)
    views = np.frombuffer(memory, dtype=np.int64)[2 * column.offset :][: 2 * len(column)].reshape(-1, 2)
    buffers = [pa.array(present).buffers()[1], pa.py_buffer(views * present[:, None]), *texts]
    return pa.Array.from_buffers(column.type, len(column), buffers)


def unwrapped_type(dtype: Any) -> Any:
    """The type of `unwrapped` of an array of this type."""
    if isinstance(dtype, pa.BaseExtensionType):
        return unwrapped_type(dtype.storage_type)
    wrapped = pa.types.is_dictionary(dtype) or pa.types.is_run_end_encoded(dtype)
    return unwrapped_type(dtype.value_type) if wrapped else dtype


def numbers(column: Any, name: str, row: int) -> tuple[np.ndarray, str]:
    """An Arrow array as float64 with NaN where null, and its kind; it begins at this row of the file."""
    kind = kind_of(column.type, name)
    column = unwrapped(column)
    dtype = column.type
    if kind == "int":
        # of nulls, too: they are told apart where it matters
        memory = values_of(column, np.dtype(str(dtype)))
        if memory.size and max(int(memory.max()), -int(memory.min())) > _checks.LARGEST_EXACT_INTEGER:
            present = ~null(column)
            _checks.exact_integers(memory[present], name, row + np.flatnonzero(present))
    values = _decimals(column) if pa.types.is_decimal(dtype) else values_of(_cast(column), np.float64)
    return np.where(null(column), np.nan, values) if column.null_count else values, kind


def parts_of(batches: Iterable[Any], names: Sequence[str], labels: Sequence[str]) -> Iterator[Part]:
    """Numbers and labels of record batches."""
    row = 0
    for batch in batches:
        yield Part(
            {name: numbers(batch.column(name), name, row) for name in names},
            {name: labels_of(batch.column(name), name) for name in labels},
        )
        row += batch.num_rows


def plain(column: Any, name: str) -> np.ndarray:
    """An Arrow array of any plain type: as float64 if it has numbers, yes and no, or times (in days), with
    NaN for null; else as objects, with None for null."""
    dtype = unwrapped_type(column.type)
    if pa.types.is_boolean(dtype):
        return numbers(unwrapped(column).cast(pa.uint8()), name, 0)[0]
    if pa.types.is_float16(dtype):
        column = unwrapped(column)
        return np.where(null(column), np.nan, values_of(column, np.float16).astype(np.float64))
    if time := _in_microseconds(dtype):
        since = unwrapped(column).cast(time, safe=False)
        return numbers(since.cast(pa.int64()), name, 0)[0] / MICROSECONDS
    with contextlib.suppress(TypeError, ValueError):  # no numbers, or whole ones too large
        return numbers(column, name, 0)[0]
    code, distinct = labels_of(column, name)
    return np.asarray(np.array(distinct, dtype=object)[code])


def _in_microseconds(dtype: Any) -> Any:
    """The type of times, times of a day or durations of this type in microseconds; None for other types."""
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        return pa.timestamp("us", getattr(dtype, "tz", None))
    if pa.types.is_time(dtype):
        return pa.time64("us")
    return pa.duration("us") if pa.types.is_duration(dtype) else None


def labels_of(column: Any, name: str) -> tuple[np.ndarray, list[Any]]:
    """A column of any plain type, in codes and the distinct values they stand for, None the last."""
    if not pa.types.is_dictionary(column.type):
        try:
            column = _wide(_stored(column))
            column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise ArgumentTypeError(f"{name} must hold labels, got {column.type}") from None
    code = values_of(column.indices.cast(pa.int64()), np.int64)
    if column.indices.null_count:
        code = np.where(null(column.indices), len(column.dictionary), code)
    return code, [*_distinct(column.dictionary, name), None]


def _distinct(labels: Any, name: str) -> list[Any]:
    """Labels as objects; text that is not UTF-8, which some writers allow, with its bytes escaped."""
    try:
        return list(labels.to_pylist())
    except (ArithmeticError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError) or pa.types.is_temporal(labels.type):
            raise ArgumentError(
                f"{name} must hold times and decimals that Python has, to be labels, got others"
            ) from None
        texts = labels.cast(pa.large_binary()).to_pylist()
        return [None if text is None else text.decode("utf-8", "backslashreplace") for text in texts]


def kind_of(dtype: Any, name: str) -> str:
    """The kind of a column of numbers; other types are refused."""
    dtype = unwrapped_type(dtype)
    if pa.types.is_boolean(dtype):
        raise ArgumentTypeError(f"{name} must be numeric, got booleans")
    if pa.types.is_integer(dtype):
        return "int"
    if pa.types.is_float32(dtype):
        return "float32"
    if pa.types.is_float64(dtype) or pa.types.is_decimal(dtype):
        return "float64"
    if pa.types.is_float16(dtype):
        raise ArgumentTypeError(
            f"{name} must be float32 or float64, got float16, whose few digits would show which records were "
            "swapped; make it float32 and pass the step to which it is rounded"
        )
    raise ArgumentTypeError(f"{name} must be numeric (integer, decimal, float32 or float64), got {dtype}")


def released_type(dtype: Any, kind: str, decimals: int | None) -> Any:
    """The type of masked values of a column of this type that is released as this kind."""
    dtype = unwrapped_type(dtype)
    if pa.types.is_decimal(dtype) and decimals is not None and decimals <= dtype.scale:
        large = dtype.bit_width > 128
        return (pa.decimal256 if large else pa.decimal128)(WIDEST[large], dtype.scale)
    return {"int": pa.int64(), "float32": pa.float32(), "float64": pa.float64()}[kind]


def released_columns(batch: Any, rows: Rows, types: dict[str, Any]) -> list[Any]:
    """The columns of the next rows as released: those of `types` masked, others unchanged."""
    masked, columns = rows.take(batch.num_rows), rows.columns
    return [
        released(masked[name], column, types[name], name, decimals=columns[name][1], nulls=name in rows.nulls)
        if name in types
        else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]


def released(
    z: np.ndarray, original: Any, dtype: Any, name: str, *, decimals: int | None = None, nulls: bool = False
) -> Any:
    """Masked values as an Arrow array; a missing one is the original's cell or, with `nulls`, null."""
    missing = np.isnan(z)
    gaps = bool(missing.any())
    if gaps:
        z = np.where(missing, 0.0, z).astype(z.dtype)
    if pa.types.is_integer(dtype):
        if (np.abs(z) > _checks.LARGEST_EXACT_INTEGER).any():
            raise ArgumentError(f"{name} must stay below 2^53 when it is masked: sigma is too large")
        z = z.astype(np.int64)
    elif pa.types.is_decimal(dtype):
        return _gaps(with_decimals(z, dtype, decimals or 0, name), original, missing if gaps else None, nulls)
    z = np.ascontiguousarray(z)
    masked = pa.Array.from_buffers(pa.from_numpy_dtype(z.dtype), z.size, [None, pa.py_buffer(z)])
    return _gaps(masked.cast(dtype), original, missing if gaps else None, nulls)


def null(array: Any) -> np.ndarray:
    """Which values of an Arrow array are null."""
    if array.null_count == 0:
        return np.zeros(len(array), dtype=bool)
    if array.buffers()[0] is None:  # as where all are
        return values_of(array.is_null().cast(pa.uint8()), np.bool_)
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    present = np.unpackbits(bits[array.offset // 8 :], count=array.offset % 8 + len(array), bitorder="little")
    return np.asarray(present[array.offset % 8 :] == 0)


def _gaps(masked: Any, original: Any, missing: np.ndarray | None, nulls: bool) -> Any:
    """Masked values, with cells of the original or nulls where they are missing."""
    if missing is None:
        return masked
    cells = pa.nulls(len(masked), masked.type) if nulls else unwrapped(original).cast(masked.type, safe=False)
    where = pa.Array.from_buffers(
        pa.bool_(), missing.size, [None, pa.py_buffer(np.packbits(missing, bitorder="little"))]
    )
    return pc.if_else(where, cells, masked)


def _decimals(column: Any) -> np.ndarray:
    """Decimals as the numbers next to them."""
    scale, gaps = column.type.scale, null(column)
    column = _wide(column)
    if column.type.bit_width == 128 and 0 <= scale <= LARGEST_POWER:
        units, above = values_of(column, np.dtype((np.int64, 2))).T
        small = (above == units >> 63) & (np.abs(units) <= _checks.LARGEST_EXACT_INTEGER)
        if (small | gaps).all():  # a division rounds once
            return np.asarray(units / 10.0**scale)
    return values_of(column.cast(pa.string()).cast(pa.float64()), np.float64)


def _wide(column: Any) -> Any:
    """An Arrow array whose decimals, if it holds any, have 128 bits or more, as most functions need."""
    narrow = pa.types.is_decimal(column.type) and column.type.bit_width < 128
    return column.cast(pa.decimal128(WIDEST[0], column.type.scale)) if narrow else column


def with_decimals(z: np.ndarray, dtype: Any, decimals: int, name: str) -> Any:
    """Numbers with so many decimals, in a decimal type that has as many or more."""
    units = decimal_grid(decimals).units(z).astype(np.int64)
    wide = np.ascontiguousarray(np.stack([units, units >> 63], axis=1))
    exact = pa.Array.from_buffers(pa.decimal128(WIDEST[0], decimals), units.size, [None, pa.py_buffer(wide)])
    try:
        return exact.cast(dtype)
    except pa.ArrowInvalid:
        raise ArgumentError(
            f"{name} must stay within {dtype.precision} digits when it is masked, got more"
        ) from None


def _cast(column: Any) -> Any:
    return column.cast(pa.float64(), safe=False)


def values_of(array: Any, dtype: Any) -> np.ndarray:
    """A plain Arrow array's memory, which is undefined for nulls.

    Arrow's to_numpy, fill_null and scalar import pandas, which takes 50 MB and a third of a second.
    """
    dtype = np.dtype(dtype)
    if len(array) == 0:
        return np.empty((0, *dtype.shape), dtype.base)
    stop = array.offset + len(array)  # behind which a buffer may have any number of bytes
    memory = np.frombuffer(array.buffers()[1], dtype.base, stop * math.prod(dtype.shape))
    return memory.reshape(-1, *dtype.shape)[array.offset :]
