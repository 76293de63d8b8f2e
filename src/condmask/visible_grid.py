"""Which grid the data show of themselves."""

import numpy as np

from condmask.grid import DISTINCT, Grid, decimal_grid, grid_of, largest_units, misses

FINE = 64.0  # a grid of the data this much finer than the step leaves no trace in rounded values


def visible_grid(array: np.ndarray, kind: str, step: float) -> Grid | None:
    """The coarsest decimal grid that all values lie on, where it is not much finer than `step`;
    else None.

    Steps such as 12, 0.05 and 2.54 are whole multiples of a decimal place. Values of so many
    places that continuous ones would lie on them by chance show none.
    """
    values = np.abs(array[~np.isnan(array)])
    largest = float(values.max(initial=0.0))
    most = DISTINCT * largest_units(kind)
    if not 0.0 < largest < np.inf:
        return None
    finest = np.ceil(2.0 - np.log10(step / FINE))  # 2.54 needs two places more than its size tells
    base = decimal_grid(int(min(finest, np.floor(np.log10(most / largest)))))
    units = base.units(values)
    times = int(np.gcd.reduce(units.astype(np.int64)))
    coarsest = base.numerator * times / base.denominator
    seen = coarsest >= step / FINE and not misses(values, base.values(units), kind).any()
    return grid_of(coarsest) if seen else None
