"""Masked values counted on the grid of their scheme; others are refused."""

from typing import Any

import numpy as np

from condmask._grid import Grid, misses
from condmask._log_grid import LogGrid
from condmask.engines.counting import Counts, count, merged

UNIT = Grid(1.0, 1.0)
# by which an amount may miss its grid of logarithms, in proportion: exp and log round, float32 more
MISS, MISS_FLOAT32 = 1e-11, 2.0**-21


def counted_column(z: np.ndarray, grid: Grid | LogGrid, kind: str, workers: Any = 1) -> Counts:
    """The counts of masked values by units of their grid, missing ones left out."""
    if isinstance(grid, LogGrid):
        known = z[~np.isnan(z)]
        return count(_signed(known, grid, kind), UNIT, workers)[0]
    counts, off = count(z, grid, workers)
    off = off[~np.isnan(off)]
    if off.size and kind == "float32":  # decimals miss their grid by more in single precision
        near = grid.values(grid.units(off))
        on = np.abs(off - near) <= 4.0 * np.spacing(np.abs(near).astype(np.float32))
        more, _ = count(near[on], grid)
        counts, off = merged([counts, more]), off[~on]
    if off.size:
        _refuse(z, off, f"multiples of {grid.step:g}")
    return counts


def _signed(z: np.ndarray, grid: LogGrid, kind: str) -> np.ndarray:
    """Amounts in units of the grid of their logarithm."""
    if grid.shown is not None:
        off = z[misses(z, grid.shown.values(grid.shown.units(z)), kind)]
        if off.size:
            _refuse(z, off, f"multiples of {grid.shown.step:g}")
        return grid.units(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(np.abs(z))
        k = grid.logarithms.units(logarithm)
        missed = np.abs(grid.logarithms.values(k) - logarithm) > (MISS_FLOAT32 if kind == "float32" else MISS)
    missed |= np.isinf(z)
    if missed.any():
        _refuse(z, z[missed], f"exp of multiples of {grid.step:g}")
    return grid.signed(k, z)


def _refuse(z: np.ndarray, off: np.ndarray, points: str) -> None:
    first = int(np.flatnonzero(z == off[0])[0])
    raise ValueError(
        f"z must lie on the grid of its scheme, {points}, got {float(off[0])!r} at position {first} "
        f"({off.size} such values); data without a grid have a scheme of step=0"
    )
