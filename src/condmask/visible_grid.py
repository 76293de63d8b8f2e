"""Recognises the grid on which data lie."""

import numpy as np

from condmask.grid import MAX_TIE_SHARE, Grid, decimal_grid, grid_of, largest_units, misses

MAX_REFINEMENT_SEEN = 64.0  # a grid finer than the step by more has no effect on rounded values


def visible_grid(array: np.ndarray, kind: str, step: float) -> Grid | None:
    """Return the coarsest decimal grid on which all values lie; None if it is much finer than
    `step`.

    Steps such as 12, 0.05 and 2.54 are whole multiples of a decimal place. Values with so many
    decimals that continuous values would also fit have no grid.
    """
    values = np.abs(array[~np.isnan(array)])
    largest = float(values.max(initial=0.0))
    largest_number = MAX_TIE_SHARE * largest_units(kind)
    if not 0.0 < largest < np.inf:
        return None
    # 2.54 needs two decimals more than its size
    finest = np.ceil(2.0 - np.log10(step / MAX_REFINEMENT_SEEN))
    base = decimal_grid(int(min(finest, np.floor(np.log10(largest_number / largest)))))
    units = base.units(values)
    times = int(np.gcd.reduce(units.astype(np.int64)))
    coarsest = base.numerator * times / base.denominator
    seen = (
        coarsest >= step / MAX_REFINEMENT_SEEN
        and not misses(values, base.values(units), kind).any()
    )
    return grid_of(coarsest) if seen else None
