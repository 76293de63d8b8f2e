"""The ends of a column released by reverse mapping: the smallest and largest values, shown as their means."""

import numpy as np

from condmask._blocks import blocks
from condmask.grid import decimals_of
from condmask.strata import values_by_pool


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the smallest and largest values of each pool by their means, to the digits of the column."""
    places = decimals_of(x)
    for rows, part in values_by_pool(x, code):
        least, most = ends_of(part, count)
        for end in (part <= least, part >= most):
            if end.any():
                some = part[end]
                first = float(some.min())
                middle = first + float(np.mean(np.subtract(some, first, out=some)))
                at = end if isinstance(rows, slice) else rows[end]
                x[at] = middle if places is None else round(middle, places)


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
