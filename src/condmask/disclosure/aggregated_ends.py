"""The ends of a column released by reverse mapping: the smallest and largest values, shown as their means."""

from typing import Any

import numpy as np

from condmask import _scratch
from condmask._blocks import blocks
from condmask._grid import decimals_of
from condmask.kernels import range_partition
from condmask.strata import rows_of


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the smallest and largest values of each pool by their means, to the digits of the column."""
    places = decimals_of(x)
    for rows in rows_by_pool(x, code):
        part = values_of(x, rows)
        least, most = ends_of(part, count)
        for end in (part <= least, part >= most):
            if end.any():
                some = _scratch.selected(part, end)
                first = float(some.min())
                middle = first + float(np.mean(np.subtract(some, first, out=some)))
                at = end if isinstance(rows, slice) else rows[end]
                x[at] = middle if places is None else round(middle, places)


def values_of(x: np.ndarray, rows: Any) -> np.ndarray:
    """The values of the rows of a pool, without a copy where these are all."""
    if isinstance(rows, slice):
        return x[rows]
    values = _scratch.empty(rows.size)
    range_partition.take(x, rows, values)
    return values


def ends_of(x: np.ndarray, count: int) -> tuple[float, float]:
    """Up to which value the smallest go, and from which on the largest; none where they are the same ones."""
    if x.size < 2 * count:
        return -np.inf, np.inf
    low, high = np.sort(x[:count]), np.sort(x[:count])
    for start, stop in blocks(x.size):
        part = x[max(start, count) : stop]
        low = np.sort(np.concatenate([low, part[part < low[-1]]]))[:count]
        high = np.sort(np.concatenate([high, part[part > high[0]]]))[-count:]
    least, most = float(low[-1]), float(high[0])
    return (least, most) if least < most else (-np.inf, np.inf)


def rows_by_pool(x: np.ndarray, code: np.ndarray | None) -> list[Any]:
    """The rows of each pool that have a value, all of them without a copy."""
    if code is None and not np.isnan(x.min()):
        return [slice(None)]
    pool = _scratch.empty(x.size, np.int32 if code is None else code.dtype)
    for start, stop in blocks(x.size):
        pool[start:stop] = 0 if code is None else code[start:stop]
        pool[start:stop][np.isnan(x[start:stop])] = -1
    return list(rows_of(pool).values())
