"""Values on a grid: to whole steps and back, rounded correctly; how data get on the grid of a
release.

A step is kept as a fraction, since a division of whole numbers rounds correctly where a product
with the step does not (0.1 * 3).
"""

from fractions import Fraction
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np

from condmask._checks import require
from condmask.errors import ArgumentError

LARGEST_UNITS = 2.0**53
LARGEST_UNITS_FLOAT32 = 2.0**24
INEXACT = 2.0**51  # from here on the rounding of a quotient may cost a step
# The default step is the power of two at or below sigma over this.
STEPS_PER_SIGMA = 1000.0
MARGIN = 64.0  # sigma; noise of either law stays within
MOST_STEPS = 2.0**40  # of a sigma
MOST_DENOMINATOR = 10**6
ULPS = 4.0  # by which a value computed in binary may miss its grid point
MOST_PLACES = 12
FIRST = 1_000  # values that tell how many places there are at least
DISTINCT = 2.0**-9  # of the largest units: up to there a tie is seen for what it is


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
        return self.denominator == 1.0 and self.numerator.is_integer()

    def units(self, values: np.ndarray) -> np.ndarray:
        """The nearest whole steps, ties up; zero has no sign, which noise would take from it."""
        with np.errstate(over="ignore", invalid="ignore"):  # enormous values
            steps = values * self.denominator / self.numerator
            units = steps + 0.5
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
        return units * self.numerator / self.denominator

    def below(self, x: np.ndarray) -> np.ndarray:
        """The whole steps at or below points x; one that misses a grid point by rounding is at
        it."""
        with np.errstate(over="ignore", invalid="ignore"):  # infinite and enormous points
            steps = x * self.denominator / self.numerator
            nearest = self.units(x)  # by value, which the quotient of large numbers may miss
            at = np.abs(steps - nearest) <= ULPS * np.spacing(np.abs(nearest))
        return np.where(at, nearest, np.floor(steps))

    def above(self, d: np.ndarray) -> np.ndarray:
        """The number of steps next to or above d, so that |k| < d holds for the same whole k."""
        return -self.below(-d)


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


def step_of(sigma: float, decimals: int | None, step: float | None) -> float:
    """The step of a grid, checked."""
    size = default_step(sigma) if step is None else step
    if decimals is not None:
        size = decimal_grid(decimals).step
        require(
            step in (None, size), f"step must be left out where decimals={decimals} is given", step
        )
    if size > 0.0 and not sigma / size <= MOST_STEPS:
        raise ArgumentError(
            f"step must be at least sigma / 2^40, got {size:g} with sigma={sigma!r}"
        )
    return size


def on_the_grid(scheme: Any, x: np.ndarray, name: str, kind: str) -> np.ndarray:
    """The data in whole steps of the scheme's grid, refused where they are off it and the scheme
    does not round; a copy of them where there is no grid."""
    grid = scheme.grid
    if grid is None:
        return np.asarray(x + 0.0)  # zero has no sign
    units = grid.units(x)
    off = misses(x, grid.values(units), kind)
    if off.any() and not scheme.rounds:
        raise ArgumentError(
            f"{name} must hold multiples of its step, {grid.step:g}, got another number at position "
            f"{off.argmax()}; round=True rounds the data, whose digits would otherwise reveal swapped records"
        )
    within(units, grid, MARGIN * scheme.sigma / scheme.step, name, kind)
    return np.asarray(units)


def misses(array: np.ndarray, back: np.ndarray, kind: str) -> np.ndarray:
    """Where values lie off the grid points next to them."""
    off = np.asarray(array != back)  # most are equal
    far = back[off].astype(np.float32 if kind == "float32" else np.float64)
    with np.errstate(invalid="ignore"):
        off[off] = np.abs(array[off] - back[off]) > ULPS * np.spacing(np.abs(far))
    return off


def within(units: np.ndarray, grid: Grid, margin: float, name: str, kind: str) -> None:
    """Refuse values so many steps from 0 that masked ones could not all be told apart."""
    size = np.abs(units)
    farthest = float(np.fmax.reduce(size, initial=0.0)) + margin
    most = largest_units(kind)
    largest = float(np.finfo(np.float32 if kind == "float32" else np.float64).max)
    if farthest <= most and farthest * grid.step < largest:
        return
    beyond = f"noise included, got a value beyond at position {np.nanargmax(size)}"
    if farthest <= most:
        raise ArgumentError(f"{name} must stay finite, {beyond}")
    needed = 2.0 ** np.ceil(np.log2(farthest * grid.step / most)) if farthest < 1e300 else 0.0
    # with all its digits, so that it can be passed on
    step = repr(float(needed)).removesuffix(".0")
    hint = f"; pass step={step} and round=True" if needed > grid.step else ""
    raise ArgumentError(
        f"{name} must stay within 2^{int(np.log2(most))} steps of {grid.step:g}, {beyond}{hint}"
    )


def largest_units(kind: str) -> float:
    """How many steps from 0 a column of this kind can tell apart."""
    return LARGEST_UNITS_FLOAT32 if kind == "float32" else LARGEST_UNITS


def nearest(array: np.ndarray, grid: Grid, kind: str) -> np.ndarray:
    """The grid points nearest to data, ties up as data are written: 1.005 goes to 1.01."""
    units = grid.units(array)
    with np.errstate(over="ignore", invalid="ignore"):
        ties = ~misses(array, grid.values(units + 0.5), kind)
    units[ties & (np.abs(units) < DISTINCT * largest_units(kind))] += 1.0
    return grid.values(units)


def check_fits(values: np.ndarray, scheme: Any, name: str, kind: str) -> None:
    """Refuse data too far from 0 for the grid of a scheme, as masking does; NaN is missing."""
    grid = scheme.grid
    if grid is not None:
        within(grid.units(values), grid, MARGIN * scheme.sigma / grid.step, name, kind)


def decimals_of(array: np.ndarray) -> int | None:
    """The fewest decimal places that all values have, 0 for whole numbers; None where they need
    too many."""
    values = np.abs(array[~np.isnan(array)])
    largest = float(values.max(initial=0.0))
    first = decimals_of(values[:FIRST]) if values.size > FIRST else 0
    if first is None:
        return None
    for places in range(first, MOST_PLACES + 1):
        if places and largest * 10.0**places > LARGEST_UNITS:
            break
        grid = decimal_grid(places)
        values = values[grid.values(grid.units(values)) != values]
        if not values.size:
            return places
    return None
