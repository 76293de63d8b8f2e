"""Data rounded to the steps of their schemes before they are masked, so that swapped and kept
values lie on one grid; and how far that moves their means and their largest values.

A value becomes floor(x / step + 1/2) steps, ties up as the data are written (`grid.nearest`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from condmask import _checks
from condmask.errors import ReleaseWarning, warn


def asked(value: Any, schemes: Mapping[str, Any]) -> bool:
    """Whether to round the data; refused if there is no grid to round to."""
    rounds = _checks.boolean(value, "round")
    for scheme in schemes.values() if rounds else ():
        rule = "round must be left out for a scheme without a grid"
        hint = f" and {scheme!r}: {scheme.why_no_grid}"
        _checks.require(scheme.grid is not None, rule, rounds, hint=hint)
    return rounds


class Moved(NamedTuple):
    """What rounding moved: the sum over so many values, and the largest one, original and
    rounded."""

    total: float
    values: int
    largest: float
    rounded: float

    @classmethod
    def of(cls, x: np.ndarray, on_grid: np.ndarray) -> Self:
        """What rounding these values moved; NaN is missing."""
        total = float(np.nansum(on_grid - x))
        values = int(np.count_nonzero(~np.isnan(on_grid)))
        return cls(
            total, values, *(float(np.fmax.reduce(each, initial=-np.inf)) for each in (x, on_grid))
        )


def shift_of(parts: Sequence[Moved], name: str, step: float) -> tuple[float, ...]:
    """What rounding added to the mean and to the largest value of all parts of a column, in two
    digits since the latter is one record's, with a warning; nothing if nothing moved."""
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
