"""Large arrays in temporary files without a name, mapped into memory.

Such an array is paged out to its file where memory is short, instead of filling it, and is gone with the
process, however that ends. Small ones are ordinary arrays.
"""

import math
import os
import tempfile
from collections.abc import Callable, Iterable
from itertools import chain
from typing import IO, Any

import numpy as np

from condmask._blocks import blocks

LARGE = 1 << 24  # bytes, from which on an array has a file of its own


def nameless(buffering: int = -1) -> IO[bytes]:
    """A temporary file without a name."""
    return tempfile.TemporaryFile(prefix="condmask-", buffering=buffering)  # mode 0600


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
        with nameless() as file:
            if hasattr(os, "posix_fallocate"):  # a write to a page without room kills the process
                os.posix_fallocate(file.fileno(), 0, length)
            return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=shape))
    except OSError:  # no room, or no place at all
        return np.empty(shape, dtype=dtype)


def by_block(
    function: Callable[[np.ndarray], np.ndarray], array: np.ndarray, dtype: Any = np.float64
) -> np.ndarray:
    """What a function makes of each entry of an array, without a second one beside the result."""
    result = empty(array.size, dtype)
    for start, stop in blocks(array.size):
        result[start:stop] = function(array[start:stop])
    return result


def selected(array: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The entries of an array where others are true."""
    parts = blocks(array.size) or [(0, 0)]
    return joined(array[start:stop][where[start:stop]] for start, stop in parts)


def joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Arrays of one type, of which there may be any number, one after the other.

    They are written into the file as they come; where its place has not enough room, they are an ordinary
    array.
    """
    remaining, held, length = iter(parts), [], 0
    for part in remaining:
        held.append(part)
        length += part.nbytes
        if length >= LARGE:
            break
    else:
        return np.concatenate(held) if held else np.empty(0)
    try:
        file = nameless(buffering=0)
    except OSError:
        return np.concatenate([*held, *remaining])
    with file:
        dtype, size = held[0].dtype, 0
        for part in chain(held, remaining):
            if not _written(file, part):
                file.seek(0)
                return np.concatenate([np.fromfile(file, dtype, size), part, *remaining])
            size += part.size
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+"))


def _written(file: IO[bytes], part: np.ndarray) -> bool:
    """Whether there was room for an array at the end of a file."""
    content = np.ascontiguousarray(part).data.cast("B")
    try:
        while content:
            content = content[file.write(content) :]
    except OSError:
        return False
    return True
