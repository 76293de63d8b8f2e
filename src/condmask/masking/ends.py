"""Means in place of the smallest and largest values of each donor pool
(docs/reverse_mapping.rst)."""

import numpy as np

from condmask.grid import decimals_of
from condmask.strata import values_by_pool

AUTO = "auto"  # as many values at either end as the data need


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the smallest and largest values of each pool by their means, to the digits of
    float64 columns.

    Not where a pool has fewer than twice as many values, or the same ones are the smallest and the
    largest.
    """
    places = decimals_of(x)
    for rows, part in values_by_pool(x, code):
        if part.size < 2 * count:
            continue
        ordered = np.partition(part, (count - 1, part.size - count))
        least = ordered[count - 1]
        most = ordered[part.size - count]
        for end in (part <= least, part >= most) if least < most else ():
            some = part[end]
            first = float(some.min())
            middle = first + float(np.mean(np.subtract(some, first, out=some)))
            at = end if isinstance(rows, slice) else rows[end]
            x[at] = middle if places is None else round(middle, places)
