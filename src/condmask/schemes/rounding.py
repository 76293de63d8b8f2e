"""Data rounded to the steps of their schemes before they are masked, so that swapped and kept values lie on
one grid; and how far that moves their means and their largest values.

A value becomes floor(x / step + 1/2) steps, ties up as the data are written (`_grid.nearest`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask._grid import nearest
from condmask._warn import warn
from condmask.disclosure.release_check import ReleaseWarning
from condmask.errors import ArgumentError

Shifts = dict[str, tuple[float, float]]  # rounded less original: of the mean and of the largest value


def asked(value: Any, schemes: Mapping[str, Any]) -> bool:
    """Whether to round the data; refused if there is no grid to round to."""
    if not _checks.truth(value, "round"):
        return False
    for scheme in schemes.values():
        if scheme.reverse_mapping:
            raise ArgumentError(
                "round must be left out where reverse_mapping=True, got True: released values are those "
                "of the data, and nothing is rounded"
            )
        if scheme.grid is None:
            raise ArgumentError(
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
    on_grid: dict[str, np.ndarray] = {}
    shifts: Shifts = {}
    for name, x in columns.items():
        grid, out, moved = schemes[name].grid, x if in_place else np.empty_like(x), STILL
        for start, stop in blocks(x.size):
            part = nearest(x[start:stop], grid, kinds[name])
            moved = moved.and_of(x[start:stop], part)
            out[start:stop] = part
        on_grid[name] = out
        shifts |= moved.shift(name, grid.step)
    return on_grid, shifts


class Moved(NamedTuple):
    """What rounding moved: the sum over so many values, and the largest one, original and rounded."""

    total: float
    values: int
    largest: tuple[float, float]

    def and_of(self, x: np.ndarray, on_grid: np.ndarray) -> Self:
        """With more values; NaN is missing."""
        total, values = float(np.nansum(on_grid - x)), int(np.count_nonzero(~np.isnan(on_grid)))
        low, high = (float(np.fmax.reduce(part, initial=-np.inf)) for part in (x, on_grid))
        largest = max(self.largest[0], low), max(self.largest[1], high)
        return self._replace(total=self.total + total, values=self.values + values, largest=largest)

    def shift(self, name: str, step: float) -> Shifts:
        """The published part, with a warning; nothing if nothing moved."""
        shift = self.total / max(self.values, 1), self.largest[1] - self.largest[0]
        if not self.values or not any(shift):
            return {}
        warn(
            f"{name} was rounded to multiples of {step:g}, which moves its mean by {shift[0]:+.2g} "
            f"and its largest value by {shift[1]:+.2g}",
            ReleaseWarning,
        )
        return {name: (float(f"{shift[0]:.2g}"), float(f"{shift[1]:.2g}"))}


STILL = Moved(0.0, 0, (-np.inf, -np.inf))
