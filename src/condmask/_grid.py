"""Values on a grid: to whole steps and back, rounded correctly; and the grid that data show of themselves.

A step is kept as a fraction, since a division of whole numbers rounds correctly where a product with the
step does not (0.1 * 3).
"""

from collections.abc import Iterator
from fractions import Fraction
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

from condmask.errors import ArgumentError

LARGEST_UNITS = 2.0**53
LARGEST_UNITS_FLOAT32 = 2.0**24
INEXACT = 2.0**51  # from here on the rounding of a quotient may cost a step
# The default step is the power of two at or below sigma over this.
STEPS_PER_SIGMA = 1000.0
# A grid of the data this much finer than the step leaves no trace in rounded values: the cells of the one
# then hold nearly equal numbers of points of the other.
FINE = 64.0
MOST_DENOMINATOR = 10**6
BY_CHANCE = 1e-9  # that continuous values lie on a grid
ULPS = 4.0  # by which a value computed in binary may miss its grid point
MOST_PLACES = 12
DISTINCT = 2.0**-9  # of the largest units: up to there a tie is seen for what it is
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

    def units(self, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The nearest whole steps, ties up; zero has no sign, which noise would take from it."""
        with np.errstate(over="ignore", invalid="ignore"):  # enormous values
            steps = values * self.denominator if self.denominator != 1.0 else values
            if self.numerator != 1.0:
                steps = steps / self.numerator
            units = np.add(steps, 0.5, out=out)
            np.floor(units, out=units)
            units += 0.0
            if not (units.max(initial=0.0) < INEXACT and units.min(initial=0.0) > -INEXACT):
                large = np.abs(steps) >= INEXACT
                near = np.rint(steps[large]) + np.array([[1.0], [0.0], [-1.0]])
                nearest = np.abs(self.values(near) - values[large]).argmin(axis=0)
                units[large] = np.take_along_axis(near, nearest[None], axis=0)[0]
        return units

    def values(self, units: np.ndarray) -> np.ndarray:
        """The numbers nearest to whole steps."""
        values = units * self.numerator
        if self.denominator != 1.0:
            values /= self.denominator
        return values

    def below(self, x: np.ndarray) -> np.ndarray:
        """The whole steps at or below points x; one that misses a grid point by rounding is at it."""
        with np.errstate(over="ignore", invalid="ignore"):  # infinite and enormous points
            steps = x * self.denominator / self.numerator
            nearest = self.units(x)  # by value, which the quotient of large numbers may miss
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

    Grids of whole, decimal and binary fractions are found as common divisors in whole numbers, others by
    Euclid's algorithm with its errors. A few values suggest a grid, and continuous ones none; all are then
    checked.
    """
    values = next((some[:SAMPLE] for some in _parts(array) if some.size), None)
    if values is None:
        return None
    least, largest = step / FINE, float(values.max())
    if largest > FINE * LARGEST_UNITS * 2.0 * least:  # refused by `within`
        return None
    ulp = ULPS * float(np.spacing(np.float32(largest) if kind == "float32" else largest))
    count = np.unique(values).size
    fine = max(least, 2.0 * ulp * BY_CHANCE ** (-1.0 / count))  # continuous values are on it by chance alone
    binary, decimal = grid_of(ldexp(1.0, frexp(fine)[1])), decimal_grid(int(np.floor(-np.log10(fine))))
    for base, slack in ((binary, 0.0), (decimal, ulp)):
        multiple = _multiple(array, values, base, kind, slack)
        if multiple is not None:
            return multiple
    divisor, last, chance = 0.0, None, min(BY_CHANCE ** (1.0 / max(1, count - 1)), 0.02)
    while values.size:
        if values.min() < least:
            return None
        divisor = _common_divisor(divisor, np.unique(values), ulp / largest, chance)
        if divisor < least or divisor == last:
            return None
        last, grid = divisor, grid_of(divisor)
        off = (some[misses(some, grid.values(grid.units(some)), kind)] for some in _parts(array))
        values = next((some[:SAMPLE] for some in off if some.size), values[:0])
    return grid


def decimals_of(array: np.ndarray) -> int | None:
    """The fewest decimal places that all values have, 0 for whole numbers; None where they need too many."""
    places = 0
    for values in _parts(array):
        while True:
            grid = decimal_grid(places)
            units = grid.units(values)
            if (grid.values(units) == values).all():
                break
            places += 1
            if places > MOST_PLACES or values.max() * 10.0**places > LARGEST_UNITS:
                return None
    return places


def _parts(array: np.ndarray) -> Iterator[np.ndarray]:
    """The sizes of the values that are neither missing nor zero, bit by bit."""
    for start in range(0, array.size, PART):
        part = np.abs(array[start : start + PART])
        yield part[part > 0.0]


def _multiple(array: np.ndarray, values: np.ndarray, base: Grid, kind: str, slack: float) -> Grid | None:
    """The coarsest multiple of a base grid that holds all values; None where that has not even its own."""
    times = 0
    for some in (values, *([] if _off(values, base, kind, slack).any() else _parts(array))):
        wrong = some if times == 0 else some[_off(some, base.times(times), kind, slack)]
        if _off(wrong, base, kind, slack).any():
            return None
        times = int(np.gcd.reduce(base.units(wrong).astype(np.int64), initial=times))
    return grid_of(base.times(times).step) if times else None


def _off(values: np.ndarray, grid: Grid, kind: str, slack: float) -> np.ndarray:
    back = grid.values(grid.units(values))
    return misses(values, back, kind) if slack else np.asarray(back != values)


def single_step(array: np.ndarray, step: float) -> float | None:
    """The least power of two that hides that values, held as float64, have only float32's digits.

    None where they have more, or `step` hides it already.
    """
    if not _single(array[:SAMPLE]):  # that is what most are, and the rest costs nothing
        return None
    largest = float(max(np.nanmax(array), -np.nanmin(array)))
    if not largest > LARGEST_UNITS_FLOAT32 * step:
        return None
    if not all(_single(array[start : start + PART]) for start in range(0, array.size, PART)):
        return None
    return ldexp(1.0, frexp(largest)[1] - 24)


def _single(array: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return not ((array.astype(np.float32) != array) & ~np.isnan(array)).any()


def suits(step: float, grid: Grid) -> bool:
    """Whether a step is a whole multiple of a grid's."""
    times = step / grid.step
    return times >= 0.5 and abs(times - np.rint(times)) <= 1e-9 * times


def step_for(step: float, grid: Grid) -> float:
    """The step next to `step` that suits a grid: at or below it, but for a grid that is coarser."""
    return grid.times(max(1, int(step / grid.step))).step


def _common_divisor(divisor: float, values: np.ndarray, error: float, chance: float) -> float:
    """The common divisor of ascending values; 0 where there is none.

    They are known to a relative error, which Euclid's algorithm enlarges.
    """
    for value in values.tolist():
        a, b, of_a, of_b = value, divisor, error * value, error * divisor
        # multiples of the divisor in a and b, and of the result in the value at last
        into_a, into_b = 0.0, 1.0
        while b > of_b:
            times = np.rint(a / b)
            sign = np.copysign(1.0, a - times * b)
            a, b, of_a, of_b = b, sign * (a - times * b), of_b, of_a + times * of_b
            into_a, into_b = into_b, sign * (into_a - times * into_b)
        if of_b > chance * a:  # a remainder so small is there by chance
            return 0.0
        divisor = value / abs(into_b)
    near = Fraction(divisor).limit_denominator(MOST_DENOMINATOR)  # what rounding left of 1/3, of .05
    return float(near) if abs(float(near) - divisor) <= error * divisor else divisor


def shown(step: float) -> str:
    """A step with all the digits it takes to pass it on."""
    return repr(float(step)).removesuffix(".0")


def round_and_pass(step: float) -> str:
    """What to do where data have to be made coarser: an explicit step alone does not round them."""
    return f"pass step={shown(step)} and round=True"


def nearest(array: np.ndarray, grid: Grid, kind: str) -> np.ndarray:
    """The grid points nearest to data, ties up as data are written: 1.005 goes to 1.01."""
    units = grid.units(array)
    with np.errstate(over="ignore", invalid="ignore"):
        ties = ~misses(array, grid.values(units + 0.5), kind)
    units[ties & (np.abs(units) < DISTINCT * largest_units(kind))] += 1.0
    return grid.values(units)


def on_grid(array: np.ndarray, grid: Grid, name: str, kind: str, *, row: int = 0) -> np.ndarray:
    """Data in whole steps; anything off the grid is refused.

    ``row`` is the position of the first value in the whole column.
    """
    units = grid.units(array)
    off = misses(array, grid.values(units), kind)
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise ArgumentError(
            f"{name} must hold multiples of its step, {grid.step:g}, got another number at position "
            f"{row + first}; round=True rounds the data, whose digits would otherwise reveal swapped records"
        )
    return units


def within(units: np.ndarray, grid: Grid, margin: float, name: str, kind: str, *, row: int = 0) -> None:
    """Refuse values so many steps from 0 that masked ones could not all be told apart.

    ``row`` is the position of the first value in the whole column.
    """
    largest = max(float(units.max(initial=0.0)), -float(units.min(initial=0.0)))
    if np.isnan(largest):
        largest = float(np.nanmax(np.abs(units), initial=0.0))
    most = largest_units(kind)
    if not largest + margin <= most:
        needed = 2.0 ** np.ceil(np.log2((largest + margin) * grid.step / most)) if largest < 1e300 else 0.0
        hint = "" if needed <= grid.step else f"; {round_and_pass(needed)}"
        raise ArgumentError(
            f"{name} must stay within 2^{int(np.log2(most))} steps of {grid.step:g}, noise included, "
            f"got a value beyond at position {_farthest(units, row)}{hint}"
        )
    if not (largest + margin) * grid.step < float(np.finfo(np.float32 if kind == "float32" else float).max):
        raise ArgumentError(
            f"{name} must stay finite, noise included, got a value beyond at position {_farthest(units, row)}"
        )


def _farthest(units: np.ndarray, row: int) -> int:
    """The position of the value that is farthest from 0."""
    return row + int(np.nanargmax(np.abs(units)))
