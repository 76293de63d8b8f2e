"""A data frame in some of its rows, and digests of its columns, by which a change is noticed."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import evenly_spaced
from condmask.frames import LABELS, column_names, dtype_of, is_series, labels, objects, table_column

DIGESTED = 1 << 14  # rows of a column of text


def some_rows(frame: Any, names: Sequence[str], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a data frame or a dict in some rows; what is missing there becomes NaN, NaT or None."""
    columns = {name: _in_rows(table_column(frame, name), name, rows) for name in names}
    return {name: x for name, x in columns.items() if x.ndim == 1}


def _in_rows(values: Any, name: str, rows: np.ndarray) -> np.ndarray:
    """A column in some rows."""
    if isinstance(values, np.ndarray | list | tuple) or not is_series(values):
        return np.asarray(labels(values, name)[rows])
    import narwhals as nw

    series = nw.from_native(values, series_only=True)
    by_place = getattr(values, "take", None)  # of pandas and Arrow
    try:
        return labels(by_place(rows) if by_place else series[rows].to_native(), name)
    except NotImplementedError:  # views and runs of Arrow, which it takes one by one
        return objects([series.item(row) for row in rows.tolist()])


def digests(frame: Any) -> dict[str, bytes]:
    """A digest of each column of a data frame, "" for the index of pandas: equal while nothing is changed.

    Text and other objects are sampled in 16,384 rows from all over the frame, numbers in all rows.
    """
    names, columns = column_names(frame), {}
    for name in names:
        values = table_column(frame, name)
        numbers = labels(values, name) if not is_series(values) or dtype_of(values).is_numeric() else None
        some = _in_rows(values, name, evenly_spaced(len(values), DIGESTED))
        with _checks.converting(some, name, LABELS):
            columns[name] = _digest(len(values), numbers, some)
    if hasattr(frame, "attrs"):  # of pandas
        index = labels(frame.index, "index")
        columns[""] = _digest(len(index), index, index[evenly_spaced(len(index), DIGESTED)])
    return columns


def _digest(n: int, values: np.ndarray | None, some: np.ndarray) -> bytes:
    """Of all numbers, which a change of one of them changes, and of some rows, which tell their order."""
    digest = hashlib.sha256(f"{some.dtype} {n}".encode())
    if values is not None and values.dtype.kind in "iufmM" and values.itemsize == 8:
        digest.update(np.bitwise_xor.reduce(values.view(np.uint64), initial=0).tobytes())
    elif values is not None and values.dtype.kind in "biufmM":
        digest.update(np.ascontiguousarray(values).data)
    if some.dtype.kind in "biuf":
        digest.update(np.ascontiguousarray(some).data)
    else:
        digest.update(repr(some.tolist()).encode("utf-8", "surrogatepass"))
    return digest.digest()
