"""Masked values counted on the grid of their scheme; others are refused."""

from collections.abc import Iterable

import numpy as np

from condmask._blocks import Workers
from condmask._grid import Grid
from condmask.engines.counting import EMPTY, ValueCounts, count, merged


def counted_parts(parts: Iterable[tuple[np.ndarray, str]], grid: Grid, workers: Workers = 1) -> ValueCounts:
    """The counts of masked values that come part by part, each with its kind."""
    row, counted = 0, [EMPTY]
    for z, kind in parts:
        counted.append(counted_column(z, grid, kind, row=row))
        row += z.size
    return merged(counted)


def counted_column(
    z: np.ndarray, grid: Grid, kind: str, workers: Workers = 1, *, row: int = 0
) -> ValueCounts:
    """The counts of masked values by units of their grid, missing ones left out; they begin at this row."""
    counts, off = count(z, grid, workers)
    off = off[~np.isnan(off)]
    if off.size and kind == "float32":  # decimals miss their grid by more in single precision
        near = grid.values(grid.units(off))
        on = np.abs(off - near) <= 4.0 * np.spacing(np.abs(near).astype(np.float32))
        more, _ = count(near[on], grid)
        counts, off = merged([counts, more]), off[~on]
    if off.size:
        first = int(np.flatnonzero(z == off[0])[0])
        raise ValueError(
            f"z must lie on the grid of its scheme, multiples of {grid.step:g}, got {float(off[0])!r} at "
            f"position {row + first} ({off.size} such values); data without a grid have a scheme of step=0"
        )
    return counts
