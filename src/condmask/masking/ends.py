"""Replace the smallest and largest values of each donor pool by their means
(docs/reverse_mapping.rst).
"""

from collections.abc import Iterator

import numpy as np

from condmask.grid import decimals_of
from condmask.strata import values_by_pool

AUTO = "auto"  # mask_table finds how many values at either end the data need


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> list[np.ndarray]:
    """Replace the `count` smallest and largest values of each pool by their means, in place.

    Means have the decimal places of the data. Pools of fewer than 2 `count` values, or in which
    smallest and largest values are the same, stay as they are. Return the rows of each end.
    """
    places = decimals_of(x)
    groups = []
    for rows in ends(x, code, count):
        groups.append(rows)
        some = x[rows]
        first = float(some.min())
        middle = first + float(np.mean(np.subtract(some, first, out=some)))
        x[rows] = middle if places is None else round(middle, places)
    return groups


def ends(x: np.ndarray, code: np.ndarray | None, count: int) -> Iterator[np.ndarray]:
    """Yield the rows of the smallest values of each pool, and those of the largest.

    None of a pool that has fewer than twice as many values, or in which the same ones are the
    smallest and the largest.
    """
    for rows, part in values_by_pool(x, code):
        if part.size < 2 * count:
            continue
        ordered = np.partition(part, (count - 1, part.size - count))
        least = ordered[count - 1]
        most = ordered[part.size - count]
        both = (np.flatnonzero(part <= least), np.flatnonzero(part >= most))
        for end in both if least < most else ():
            yield end if isinstance(rows, slice) else rows[end]
