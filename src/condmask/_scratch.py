"""Large arrays in temporary files without a name, mapped into memory.

Such an array is paged out to its file where memory is short, instead of filling it, and is gone with the
process, however that ends. Small ones are ordinary arrays.
"""

import math
import os
import tempfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

LARGE = 1 << 24  # bytes, from which on an array has a file of its own
PART = 1 << 16  # entries that are copied at once


def empty(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """An array whose entries have yet to be set.

    All of its room is taken at once; where TMPDIR, the place for temporary files, has not enough, it is an
    ordinary array.
    """
    size = math.prod(shape) if isinstance(shape, tuple) else int(shape)
    length = size * np.dtype(dtype).itemsize
    if length < LARGE:
        return np.empty(shape, dtype=dtype)
    try:
        with tempfile.TemporaryFile(prefix="condmask-") as file:  # mode 0600
            if hasattr(os, "posix_fallocate"):  # a write to a page without room kills the process
                os.posix_fallocate(file.fileno(), 0, length)
            return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=shape))
    except OSError:  # no room, or no place at all
        return np.empty(shape, dtype=dtype)


def selected(array: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The entries of an array where others are true."""
    out, first = empty(int(np.count_nonzero(where)), array.dtype), 0
    for start in range(0, array.size, PART):
        part = array[start : start + PART][where[start : start + PART]]
        out[first : first + part.size] = part
        first += part.size
    return out


def joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Arrays of one type, of which there may be any number, one after the other.

    Raises
    ------
    OSError
        If the place for temporary files, TMPDIR, has not enough room.
    """
    remaining, held, length = iter(parts), [], 0
    for part in remaining:
        held.append(part)
        length += part.nbytes
        if length >= LARGE:
            break
    else:
        return np.concatenate(held) if held else np.empty(0)
    dtype = held[0].dtype
    with tempfile.TemporaryFile(prefix="condmask-", buffering=0) as file:  # mode 0600
        while held:
            _write(file, held.pop(0))
        for part in remaining:
            _write(file, part)
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+"))


def _write(file: IO[bytes], part: np.ndarray) -> None:
    content = np.ascontiguousarray(part).data.cast("B")
    try:
        while content:
            content = content[file.write(content) :]
    except OSError as error:  # which names no file
        raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error
