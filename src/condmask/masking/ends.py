"""Replace the smallest and largest values of each donor pool by their means
(docs/reverse_mapping.rst).
"""

import numpy as np

from condmask.grid import decimals_of
from condmask.strata import values_by_pool

AUTO = "auto"  # mask_table finds how many values at either end the data need


def aggregate(x: np.ndarray, code: np.ndarray | None, count: int) -> None:
    """Replace the `count` smallest and largest values of each pool by their means, in place.

    Means have the decimal places of the data. Pools of fewer than 2 `count` values, or in which
    smallest and largest values are the same, stay as they are.
    """
    places = decimals_of(x)
    for rows, part in values_by_pool(x, code):
        if part.size < 2 * count:
            continue
        ordered = np.partition(part, (count - 1, part.size - count))
        low_end = ordered[count - 1]
        high_end = ordered[part.size - count]
        if low_end >= high_end:
            continue
        for at_end in (part <= low_end, part >= high_end):
            values = part[at_end]
            first = float(values.min())
            mean = first + float(np.mean(np.subtract(values, first, out=values)))
            at = at_end if isinstance(rows, slice) else rows[at_end]
            x[at] = mean if places is None else round(mean, places)
