"""Amounts on a grid of their logarithm: noise in proportion leaves their sign, and zero, as they are."""

from typing import NamedTuple

import numpy as np

from condmask._grid import Grid, decimal_grid

# An amount is counted as sign * (k + SHIFT), k its logarithm in whole steps: exact in a float64, and never 0.
SHIFT = 2.0**42
SMALLEST_STEP = 2.0**-30  # |k| stays below SHIFT / 4
SMALLEST_STEP_FLOAT32 = 2.0**-18  # which the 24 bits of a mantissa still tell apart, two roundings included
LARGEST_LOGARITHM, LARGEST_LOGARITHM_FLOAT32 = 705.0, 88.0


class LogGrid(NamedTuple):
    """Zero, and the amounts whose logarithm is a multiple of numerator / denominator.

    They are published with so many decimal places, not less than one of the last place in size; None is all.
    """

    numerator: float
    denominator: float
    decimals: int | None = None

    @property
    def step(self) -> float:
        """Of the logarithm."""
        return self.numerator / self.denominator

    @property
    def logarithms(self) -> Grid:
        return Grid(self.numerator, self.denominator)

    @property
    def shown(self) -> Grid | None:
        """The grid of what is published."""
        return None if self.decimals is None else decimal_grid(self.decimals)

    @property
    def whole(self) -> bool:
        return self.decimals is not None and self.decimals <= 0

    def units(self, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """sign * (k + SHIFT), k the nearest whole step of the logarithm; 0 for 0."""
        size = np.abs(values)
        with np.errstate(divide="ignore"):
            k = self.logarithms.units(np.log(size))
        return self.signed(k, values, out)

    def signed(self, k: np.ndarray, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The same from whole steps of the logarithm of the size; what these are for 0 does not matter."""
        units: np.ndarray = np.add(k, SHIFT, out=out)
        with np.errstate(invalid="ignore"):  # the logarithm of 0
            units *= np.sign(values)
        units[values == 0.0] = 0.0
        return units

    def values(self, units: np.ndarray) -> np.ndarray:
        """The amounts, as they are published."""
        found = np.exp(self.logarithms.values(np.abs(units) - SHIFT))
        shown = self.shown
        if shown is not None:
            found = shown.values(np.maximum(shown.units(found), 1.0))
        return np.asarray(np.where(units == 0.0, 0.0, np.copysign(found, units)))

    def times(self, factor: int) -> "LogGrid":
        """The grid of every so-many-th point."""
        return self._replace(numerator=self.numerator * factor)


def within_logarithm(
    values: np.ndarray, grid: LogGrid, margin: float, name: str, kind: str, *, row: int = 0
) -> None:
    """Refuse amounts whose logarithm, noise included, leaves what numbers of this kind can hold.

    ``row`` is the position of the first value in the whole column.
    """
    most = LARGEST_LOGARITHM_FLOAT32 if kind == "float32" else LARGEST_LOGARITHM
    least = SMALLEST_STEP_FLOAT32 if kind == "float32" else SMALLEST_STEP
    if grid.step < least:
        raise ValueError(
            f"step must be at least {least:.1e} on the log scale for {kind} values, got {grid.step:g}"
        )
    size = np.abs(values)
    known = size[size > 0.0]
    if not known.size:
        return
    highest, lowest = float(np.log(known.max())), float(np.log(known.min()))
    if not (highest + margin <= most and lowest - margin >= -most):
        out = known.max() if highest + margin > most else known.min()
        raise ValueError(
            f"{name} must stay between e^-{most:g} and e^{most:g} in size, noise of up to e^{margin:g} "
            f"included, got a value beyond at position {row + int(np.flatnonzero(size == out)[0])}"
        )
