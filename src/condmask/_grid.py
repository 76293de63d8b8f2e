"""Values on a grid: to whole steps and back, rounded correctly; and the grid that data show of themselves.

A step is kept as a fraction, since a division of whole numbers rounds correctly where a product with the
step does not (0.1 * 3).
"""

from fractions import Fraction
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

LARGEST_UNITS = 2.0**53
LARGEST_UNITS_FLOAT32 = 2.0**24
# The default step is the power of two at or below sigma over this.
STEPS_PER_SIGMA = 1000.0
# A grid of the data this much finer than the step leaves no trace in rounded values: the cells of the one
# then hold nearly equal numbers of points of the other.
FINE = 64.0
MOST_DENOMINATOR = 10**6
ULPS = 4.0  # by which a value computed in binary may miss its grid point
SAMPLE, PART = 64, 8192  # values that suggest a grid, and values that are checked at once


class Grid(NamedTuple):
    """The whole multiples of numerator / denominator."""

    numerator: float
    denominator: float

    @property
    def step(self) -> float:
        return self.numerator / self.denominator

    @property
    def whole(self) -> bool:
        """Whether its points are whole numbers."""
        return self.denominator == 1.0 and float(self.numerator).is_integer()

    def units(self, values: np.ndarray) -> np.ndarray:
        """The nearest whole steps, ties up; zero has no sign, which noise would take from it."""
        with np.errstate(over="ignore"):
            units = values * self.denominator
            if self.numerator != 1.0:
                units /= self.numerator
            units += 0.5
            np.floor(units, out=units)
            units += 0.0
        return units

    def values(self, units: np.ndarray) -> np.ndarray:
        """The numbers nearest to whole steps."""
        found = units * self.numerator
        if self.denominator != 1.0:
            found /= self.denominator
        return found

    def below(self, x: np.ndarray) -> np.ndarray:
        """The whole steps at or below points x; one that misses a grid point by rounding is at it."""
        with np.errstate(over="ignore", invalid="ignore"):  # infinite and enormous points
            steps = x * self.denominator / self.numerator
            nearest = np.rint(steps)
            at = np.abs(steps - nearest) <= ULPS * np.spacing(np.abs(nearest))
        return np.where(at, nearest, np.floor(steps))

    def above(self, d: np.ndarray) -> np.ndarray:
        """The number of steps next to or above d, so that |k| < d holds for the same whole k."""
        return -self.below(-d)

    def times(self, factor: int) -> "Grid":
        """The grid of every so-many-th point."""
        return Grid(self.numerator * factor, self.denominator)


def decimal_grid(places: int) -> Grid:
    """The numbers with so many decimal places."""
    return Grid(1.0, 10.0**places) if places >= 0 else Grid(10.0**-places, 1.0)


def grid_of(step: float) -> Grid:
    """The multiples of any step."""
    if frexp(step)[0] == 0.5:
        return Grid(step, 1.0) if step >= 1.0 else Grid(1.0, 1.0 / step)
    near = Fraction(step).limit_denominator(MOST_DENOMINATOR)
    exact = float(near) == step and near.numerator <= LARGEST_UNITS
    return Grid(float(near.numerator), float(near.denominator)) if exact else Grid(step, 1.0)


def default_step(sigma: float) -> float:
    """The power of two at or below sigma / 1000."""
    return ldexp(1.0, frexp(sigma / STEPS_PER_SIGMA)[1] - 1)


def largest_units(kind: str) -> float:
    """How many steps from 0 a column of this kind can tell apart."""
    return LARGEST_UNITS_FLOAT32 if kind == "float32" else LARGEST_UNITS


def misses(array: np.ndarray, back: np.ndarray, kind: str) -> np.ndarray:
    """Where values lie off the grid points next to them."""
    ulp = np.spacing(np.abs(back).astype(np.float32 if kind == "float32" else np.float64))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(array - back) > ULPS * ulp)


def visible_grid(array: np.ndarray, kind: str, step: float) -> Grid | None:
    """The coarsest grid that all values lie on, where it is not much finer than `step`; else None.

    A common divisor of a few values is found by Euclid's algorithm, and falls apart at once where
    the data are continuous; what is left is checked against all values.
    """
    divisor, start = 0.0, 0
    while start < array.size:
        length = PART if divisor else SAMPLE
        part = np.abs(array[start : start + length])
        part = part[~np.isnan(part)]
        if divisor:
            grid = grid_of(divisor)
            part = part[misses(part, grid.values(grid.units(part)), kind)]
        if part.size == 0:
            start += length
            continue
        found = _common_divisor(divisor, part[:SAMPLE], kind, step / FINE)
        if found < 0.0 or found == divisor > 0.0:  # what is off by little more than rounding has no grid
            return None
        divisor = found
        if divisor == 0.0:
            start += length
    return grid_of(divisor) if divisor else None


def suits(step: float, grid: Grid) -> bool:
    """Whether a step is a whole multiple of a grid's."""
    times = step / grid.step
    return times >= 0.5 and abs(times - np.rint(times)) <= 1e-9 * times


def step_for(step: float, grid: Grid) -> float:
    """The step next to `step` that suits a grid: at or below it, but for a grid that is coarser."""
    return grid.times(max(1, int(step / grid.step))).step


def _common_divisor(divisor: float, values: np.ndarray, kind: str, least: float) -> float:
    """That of all, 0 where all are 0; -1 where it is below `least`."""
    if values.size == 0:
        return divisor
    largest = float(values.max())
    noise = 16.0 * ULPS * float(np.spacing(np.float32(largest) if kind == "float32" else largest))
    for value in values.tolist():
        a, b = max(value, divisor), min(value, divisor)
        while b > noise:
            a, b = b, min(a % b, b - a % b)
            if noise < b < least:
                return -1.0
        divisor = a
    if 0.0 < divisor < max(least, noise):
        return -1.0
    near = Fraction(divisor).limit_denominator(MOST_DENOMINATOR)  # what rounding left of 1/3, of .05
    return float(near) if abs(float(near) - divisor) <= noise else divisor


def on_grid(array: np.ndarray, grid: Grid, name: str, kind: str, *, row: int = 0) -> np.ndarray:
    """Data in whole steps; anything off the grid is refused.

    ``row`` is the position of the first value in the whole column.
    """
    units = grid.units(array)
    off = misses(array, grid.values(units), kind)
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{name} must hold multiples of its step, {grid.step:g}, got {float(array[first])!r} at position "
            f"{row + first} ({int(off.sum())} such values); round the data first, or swapped records show"
        )
    return units


def within(units: np.ndarray, grid: Grid, margin: float, name: str, kind: str) -> None:
    """Refuse values so many steps from 0 that masked ones could not all be told apart."""
    largest = float(np.nanmax(np.abs(units), initial=0.0))
    most = largest_units(kind)
    if not largest + margin <= most:
        needed = 2.0 ** np.ceil(np.log2((largest + margin) * grid.step / most)) if largest < 1e300 else None
        hint = "" if needed is None or needed <= grid.step else f"; pass step={needed:g}"
        raise ValueError(
            f"{name} must stay within 2^{int(np.log2(most))} steps of {grid.step:g}, noise included, "
            f"got {largest * grid.step:g}{hint}"
        )
