"""Refuse columns whose values a scheme cannot compute with.

Reverse mapping releases the values of a column as they are. Every other scheme computes values, in
float64: it must hold those of the column, and noise must take a date to another date.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.frames import Column
from condmask.stored_values import LARGEST_TOLD_APART

INSTEAD = "cm.ReverseMapping releases such values as they are"


def refuse_unfit(scheme: Any, column: Column, name: str) -> None:
    """Refuse a column that a scheme would compute values of, and float64 or the type of the column
    cannot hold them."""
    if scheme.gathers or column.stored is None:
        return
    if column.kind == "int":
        _checks.exact_integers(column.array, name, f"; {INSTEAD}")
    step = column.stored.step
    if step is not None and not _moves_by(scheme.grid, step):
        raise ArgumentTypeError(
            f"{name} must be masked in whole steps of {float(step):g} days or seconds, got "
            f"{scheme!r}: {INSTEAD}"
        )
    if step is None and column.kind != "int" and column.stored.rank is not None:
        largest = np.nanargmax(np.abs(column.array))
        raise ArgumentError(
            f"{name} must hold numbers of which float64 has all digits, at most 2^"
            f"{int(np.log2(LARGEST_TOLD_APART))} of the last place, got a larger one at position "
            f"{largest}; {INSTEAD}"
        )


def _moves_by(grid: Any, step: Fraction) -> bool:
    """Return whether all points of a grid are multiples of a step."""
    if grid is None:
        return False
    return (Fraction(grid.numerator) / Fraction(grid.denominator) / step).denominator == 1
