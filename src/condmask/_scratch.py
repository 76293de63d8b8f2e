"""Large arrays in temporary files without a name, mapped into memory.

Such an array is paged out to its file where memory is short, instead of filling it, and is gone with the
process, however that ends. Small ones are ordinary arrays.
"""

import math
import os
import tempfile
from typing import Any

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
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(
                    file.fileno(), 0, length
                )  # a write to a page without room kills the process
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
