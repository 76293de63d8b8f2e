"""Whether a data frame is still what it was, from a digest of each of its columns."""

import hashlib
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import evenly_spaced

DIGESTED = 1 << 14  # rows of a column of text


def digests(frame: Any) -> dict[str, bytes]:
    """A digest of each column of a data frame, "" for the index of pandas: equal while nothing is changed.

    Text and other objects are sampled in 16,384 rows from all over the frame, numbers in all rows.
    """
    names, columns = frames.column_names(frame), {}
    for name in names:
        values = frame[name] if isinstance(frame, dict) else frames.as_frame(frame)[name]
        array = isinstance(values, np.ndarray | list | tuple)
        numbers = np.asarray(values) if array else values.to_numpy() if values.dtype.is_numeric() else None
        some = frames.some_rows(frame, [name], evenly_spaced(len(values), DIGESTED))[name]
        columns[name] = _digest(len(values), numbers, some)
    if hasattr(frame, "attrs"):  # of pandas
        index = frames.labels(frame.index, "index")
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
