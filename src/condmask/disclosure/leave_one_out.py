"""The other records of a unit: their mean, their median, and how many lie near."""

import numpy as np


def others_of_unit(code: np.ndarray, values: np.ndarray, near: tuple[float, ...]) -> list[np.ndarray]:
    """Of the other records of each one's unit the number, mean and median; by distance how many lie within.

    And, for each distance, how far off the densest place of the unit is. NaN without a unit, a value, others.
    """
    rows = np.flatnonzero((code >= 0) & ~np.isnan(values))
    rows = rows[np.lexsort((values[rows], code[rows]))]
    unit, x = code[rows], values[rows]
    first = np.flatnonzero(np.diff(unit, prepend=-1))
    size = np.diff(np.append(first, unit.size))
    start, others = np.repeat(first, size), np.repeat(size, size) - 1
    several = others > 0
    sums = np.repeat(np.add.reduceat(x, first) if first.size else x, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (sums - x) / others
    place = np.arange(unit.size) - start

    def ranked(rank: np.ndarray) -> np.ndarray:
        """The other value of that rank: the record itself is passed over."""
        return np.asarray(x[np.where(several, start + rank + (rank >= place), 0)])

    median = 0.5 * (ranked((others - 1) // 2) + ranked(others // 2)) if x.size else x
    columns = [others.astype(np.float64), mean, median]
    line = x - x.min(initial=0.0) if x.size else x
    width = float(line.max(initial=0.0))
    for distance in near:
        reach = min(distance, width)
        key = unit * (3.0 * width + 1.0) + line
        within = np.searchsorted(key, key + reach, side="right") - np.searchsorted(key, key - reach)
        columns.append(within - 1.0)
        densest = np.lexsort((-within, unit))[first]
        columns.append(x - np.repeat(x[densest], size))
    filled = []
    for column in columns:
        full = np.full(code.size, np.nan)
        full[rows] = np.where(several, column, np.nan)
        filled.append(full)
    return filled
