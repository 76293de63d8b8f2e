"""Round data to the steps of their schemes before masking, so that swapped and kept values lie on
one grid, and report how far that moves their means and their largest values.

A value becomes floor(x / step + 1/2) steps, ties up as the data are written (`grid.nearest`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from condmask import _checks
from condmask.errors import ReleaseWarning, warn
from condmask.masking.scheme import Scheme


def check_round(value: bool, schemes: Mapping[str, Scheme]) -> bool:
    """Check the argument `round`; True is refused for schemes without a grid."""
    rounds = _checks.boolean(value, "round")
    for scheme in schemes.values() if rounds else ():
        rule = "round must be left out for a scheme without a grid"
        hint = f" and {scheme!r}: {scheme.why_no_grid}"
        _checks.require(scheme.grid is not None, rule, rounds, hint=hint)
    return rounds


class RoundingShift(NamedTuple):
    """How far rounding moved the values of one part of a column.

    Attributes
    ----------
    total : float
        The sum of all moves, in the units of the data.
    values : int
        The number of values that are not missing.
    largest, rounded : float
        The largest value before rounding, and the largest one after it.
    """

    total: float
    values: int
    largest: float
    rounded: float

    @classmethod
    def between(cls, x: np.ndarray, on_grid: np.ndarray) -> Self:
        """Compare values with themselves on the grid; NaN is missing."""
        total = float(np.nansum(on_grid - x))
        values = int(np.count_nonzero(~np.isnan(on_grid)))
        largest = float(np.fmax.reduce(x, initial=-np.inf))
        rounded = float(np.fmax.reduce(on_grid, initial=-np.inf))
        return cls(total, values, largest, rounded)


def shift_of(parts: Sequence[RoundingShift], name: str, step: float) -> tuple[float, ...]:
    """Return what rounding added to the mean and to the largest value of a column, and warn of it.

    Both have two digits, since the largest value is that of one record. The result is empty if
    nothing moved.
    """
    totals, values, largest, rounded = zip(*parts, strict=True)
    shift = sum(totals) / max(sum(values), 1), max(rounded) - max(largest)
    if not sum(values) or not any(shift):
        return ()
    warn(
        f"{name} was rounded to multiples of {step:g}, which moves its mean by {shift[0]:+.2g} "
        f"and its largest value by {shift[1]:+.2g}",
        ReleaseWarning,
        about=name,
    )
    return float(f"{shift[0]:.2g}"), float(f"{shift[1]:.2g}")
