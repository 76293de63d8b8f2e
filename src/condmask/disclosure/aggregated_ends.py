"""The ends of a column released by reverse mapping: the smallest and largest values, shown as their means."""

from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask._grid import decimals_of
from condmask.strata import rows_of


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the smallest and largest values of each pool by their means, to the digits of the column."""
    places = decimals_of(x)
    for rows in rows_by_pool(x, code):
        part = x[rows]
        least, most = ends_of(part, count)
        for end in (part <= least, part >= most):
            if end.any():
                middle = float(part[end].min()) + float(np.mean(part[end] - part[end].min()))
                part[end] = middle if places is None else round(middle, places)
        x[rows] = part


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
    missing = np.isnan(x)
    if code is None and not missing.any():
        return [slice(None)]
    return list(rows_of(np.where(missing, np.int32(-1), np.int32(0) if code is None else code)).values())
