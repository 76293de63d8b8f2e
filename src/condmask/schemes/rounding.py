"""Data rounded to the steps of their schemes before they are masked, so that swapped and kept values lie on
one grid; and how far that moves their means and their largest values.

A value becomes floor(x / step + 1/2) steps, ties up as the data are written (`_grid.nearest`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask._grid import nearest
from condmask._warn import warn
from condmask.disclosure.release_check import ReleaseWarning

Shifts = dict[str, tuple[float, float]]  # rounded less original: of the mean and of the largest value


def asked(value: Any, schemes: Mapping[str, Any]) -> bool:
    """Whether data are to be rounded; refused where there is no grid to round them to."""
    if not _checks.truth(value, "round"):
        return False
    for scheme in schemes.values():
        if scheme.reverse_mapping:
            raise ValueError(
                "round must be left out where reverse_mapping=True, got True: released values are those "
                "of the data, and nothing is rounded"
            )
        if scheme.grid is None:
            raise ValueError(
                f"round must be left out for a scheme without a grid, got True and {scheme!r}: "
                "there is no step to round to"
            )
    return True


def rounded(
    schemes: Mapping[str, Any],
    columns: dict[str, np.ndarray],
    kinds: Mapping[str, str],
    *,
    in_place: bool = False,
) -> tuple[dict[str, np.ndarray], Shifts]:
    """Columns on the grids of their schemes, NaN where values are missing; and what moved, with a warning.

    Shifts have two digits, since the largest value is one record's.
    """
    on_grid, shifts = {}, {}
    for name, x in columns.items():
        grid, out = schemes[name].grid, x if in_place else np.empty_like(x)
        total, count, ends = 0.0, 0, np.full(2, -np.inf)
        for start, stop in blocks(x.size):
            part = nearest(x[start:stop], grid, kinds[name])
            total += float(np.nansum(part - x[start:stop]))
            count += int(np.count_nonzero(~np.isnan(part)))
            ends = np.fmax(ends, [np.fmax.reduce(x[start:stop]), np.fmax.reduce(part)])
            out[start:stop] = part
        on_grid[name] = out
        shift = total / max(count, 1), float(ends[1] - ends[0])
        if any(shift):
            shifts[name] = float(f"{shift[0]:.2g}"), float(f"{shift[1]:.2g}")
            warn(
                f"{name} was rounded to multiples of {grid.step:g}, which moves its mean by {shift[0]:+.2g} "
                f"and its largest value by {shift[1]:+.2g}",
                ReleaseWarning,
            )
    return on_grid, shifts
