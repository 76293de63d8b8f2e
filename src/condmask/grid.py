"""Convert values to whole steps of a grid and back, rounded correctly, and check data against the
grid of a release.

A step is kept as a fraction, since a division of whole numbers rounds correctly where a product
with the step does not (0.1 * 3).
"""

from fractions import Fraction
from math import frexp, ldexp
from typing import NamedTuple, Protocol

import numpy as np

from condmask._checks import require
from condmask.errors import ArgumentError

LARGEST_UNITS = 2.0**53
LARGEST_UNITS_FLOAT32 = 2.0**24
MIN_INEXACT_UNITS = 2.0**51  # from here on the rounding of a quotient may cost a step
# The default step is the power of two at or below sigma over this.
STEPS_PER_SIGMA = 1000.0
MARGIN_SIGMAS = 64.0  # noise of either law is smaller
MAX_STEPS_PER_SIGMA = 2.0**40
MAX_DENOMINATOR = 10**6
MAX_ULPS_OFF = 4.0  # by which a value computed in binary may miss its grid point
MAX_DATA_DECIMALS = 12  # decimal places up to which data are recognised as decimal
LEADING_VALUES = 1_000  # looked at first: most data without a grid show it in these
MAX_TIE_SHARE = 2.0**-9  # of the largest units; ties of larger values cannot be recognised


class Grid(NamedTuple):
    """The whole multiples of numerator / denominator."""

    numerator: float
    denominator: float

    @property
    def step(self) -> float:
        """Distance of neighbouring points, in the units of the data."""
        return self.numerator / self.denominator

    @property
    def whole(self) -> bool:
        """Whether all points are whole numbers."""
        return self.denominator == 1.0 and self.numerator.is_integer()

    def units(self, values: np.ndarray) -> np.ndarray:
        """Return the nearest whole numbers of steps, ties up, and 0.0 for -0.0, as noise gives."""
        with np.errstate(over="ignore", invalid="ignore"):  # enormous values
            steps = values * self.denominator / self.numerator
            units = steps + 0.5
            np.floor(units, out=units)
            units += 0.0
            if not (
                units.max(initial=0.0) < MIN_INEXACT_UNITS
                and units.min(initial=0.0) > -MIN_INEXACT_UNITS
            ):
                large = np.abs(steps) >= MIN_INEXACT_UNITS
                near = np.rint(steps[large]) + np.array([[1.0], [0.0], [-1.0]])
                nearest = np.abs(self.values(near) - values[large]).argmin(axis=0)
                units[large] = np.take_along_axis(near, nearest[None], axis=0)[0]
        return units

    def values(self, units: np.ndarray) -> np.ndarray:
        """Return whole numbers of steps as values, in the units of the data."""
        return units * self.numerator / self.denominator

    def below(self, x: np.ndarray) -> np.ndarray:
        """Return the largest whole numbers of steps at or below x.

        A point x within rounding of a grid point counts as that point.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # infinite and enormous points
            steps = x * self.denominator / self.numerator
            nearest = self.units(x)  # by value, which the quotient of large numbers may miss
            at = np.abs(steps - nearest) <= MAX_ULPS_OFF * np.spacing(np.abs(nearest))
        return np.where(at, nearest, np.floor(steps))

    def above(self, d: np.ndarray) -> np.ndarray:
        """Return d in steps, rounded up: |k| < d holds for the same whole k."""
        return -self.below(-d)


def decimal_grid(places: int) -> Grid:
    """Return the grid of numbers with these decimal places; negative ones are tens, hundreds,
    ..."""
    return Grid(1.0, 10.0**places) if places >= 0 else Grid(10.0**-places, 1.0)


def grid_of(step: float) -> Grid:
    """Return the grid of the multiples of a step, as a fraction where the step is close to one."""
    if frexp(step)[0] == 0.5:
        return Grid(step, 1.0) if step >= 1.0 else Grid(1.0, 1.0 / step)
    near = Fraction(step).limit_denominator(MAX_DENOMINATOR)
    exact = float(near) == step and near.numerator <= LARGEST_UNITS
    return Grid(float(near.numerator), float(near.denominator)) if exact else Grid(step, 1.0)


def default_step(sigma: float) -> float:
    """Return the power of two at or below sigma / 1000."""
    return ldexp(1.0, frexp(sigma / STEPS_PER_SIGMA)[1] - 1)


def step_of(sigma: float, decimals: int | None, step: float | None) -> float:
    """Check the step of a scheme, given as decimals, as a step or not at all, and return it."""
    size = default_step(sigma) if step is None else step
    if decimals is not None:
        size = decimal_grid(decimals).step
        require(
            step in (None, size), f"step must be left out where decimals={decimals} is given", step
        )
    if size > 0.0 and not sigma / size <= MAX_STEPS_PER_SIGMA:
        raise ArgumentError(
            f"step must be at least sigma / 2^40, got {size:g} with sigma={sigma!r}"
        )
    return size


class GridScheme(Protocol):
    """A scheme with noise of standard deviation `sigma` on a grid, or without a grid (None).

    `rounds` says whether data off the grid are rounded to it; otherwise they are refused.
    """

    @property
    def grid(self) -> Grid | None: ...

    @property
    def sigma(self) -> float: ...

    @property
    def rounds(self) -> bool: ...


def on_the_grid(scheme: GridScheme, x: np.ndarray, name: str, kind: str) -> np.ndarray:
    """Return data in whole steps of the grid of a scheme; a copy of them without a grid.

    Data off the grid are refused if the scheme does not round.
    """
    grid = scheme.grid
    if grid is None:
        return np.asarray(x + 0.0)  # zero has no sign
    units = grid.units(x)
    off = misses(x, grid.values(units), kind)
    if off.any() and not scheme.rounds:
        raise ArgumentError(
            f"{name} must hold multiples of its step, {grid.step:g}, got another number at "
            f"position {off.argmax()}; round=True rounds the data, whose digits would otherwise "
            "reveal swapped records"
        )
    require_representable(units, grid, MARGIN_SIGMAS * scheme.sigma / grid.step, name, kind)
    return np.asarray(units)


def misses(array: np.ndarray, back: np.ndarray, kind: str) -> np.ndarray:
    """Return where values differ from their nearest grid points `back` by more than rounding."""
    off = np.asarray(array != back)  # most are equal
    far = back[off].astype(np.float32 if kind == "float32" else np.float64)
    with np.errstate(invalid="ignore"):
        off[off] = np.abs(array[off] - back[off]) > MAX_ULPS_OFF * np.spacing(np.abs(far))
    return off


def require_representable(
    units: np.ndarray, grid: Grid, margin: float, name: str, kind: str
) -> None:
    """Refuse values too many steps from 0 for a column of this kind to hold masked values exactly.

    `margin` bounds the noise, in steps.
    """
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
    """Return the number of steps from 0 up to which a column of this kind holds every step."""
    return LARGEST_UNITS_FLOAT32 if kind == "float32" else LARGEST_UNITS


def nearest(array: np.ndarray, grid: Grid, kind: str) -> np.ndarray:
    """Return the nearest grid points of data, ties up as data are written: 1.005 goes to 1.01."""
    units = grid.units(array)
    with np.errstate(over="ignore", invalid="ignore"):
        ties = ~misses(array, grid.values(units + 0.5), kind)
    units[ties & (np.abs(units) < MAX_TIE_SHARE * largest_units(kind))] += 1.0
    return grid.values(units)


def check_fits(values: np.ndarray, scheme: GridScheme, name: str, kind: str) -> None:
    """Refuse data too far from 0 for the grid of a scheme, as masking does; NaN is missing."""
    grid = scheme.grid
    if grid is not None:
        margin = MARGIN_SIGMAS * scheme.sigma / grid.step
        require_representable(grid.units(values), grid, margin, name, kind)


def decimals_of(array: np.ndarray) -> int | None:
    """Return the fewest decimal places with which all values can be written; None for too many."""
    values = np.abs(array[~np.isnan(array)])
    largest = float(values.max(initial=0.0))
    first = decimals_of(values[:LEADING_VALUES]) if values.size > LEADING_VALUES else 0
    if first is None:
        return None
    for places in range(first, MAX_DATA_DECIMALS + 1):
        if places and largest * 10.0**places > LARGEST_UNITS:
            break
        grid = decimal_grid(places)
        values = values[grid.values(grid.units(values)) != values]
        if not values.size:
            return places
    return None
