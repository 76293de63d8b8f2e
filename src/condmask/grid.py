"""Values on a grid: to whole steps and back, rounded correctly; how data get on the grid of a release; and
the grid that data show of themselves.

A step is kept as a fraction, since a division of whole numbers rounds correctly where a product with the
step does not (0.1 * 3).
"""

from fractions import Fraction
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np

from condmask.errors import ArgumentError

LARGEST_UNITS = 2.0**53
LARGEST_UNITS_FLOAT32 = 2.0**24
INEXACT = 2.0**51  # from here on the rounding of a quotient may cost a step
# The default step is the power of two at or below sigma over this.
STEPS_PER_SIGMA = 1000.0
MARGIN = 64.0  # sigma; noise of either law stays within
SMALLEST_SIGMA, SMALLEST_STEP = 1e-290, 1e-300  # so that a step and its inverse are exact
MOST_STEPS = 2.0**40  # of a sigma
COARSEST = 0.5  # sigma: of coarser steps too many records would go out unchanged
# A grid of the data this much finer than the step leaves no trace in rounded values: the cells of the one
# then hold nearly equal numbers of points of the other.
FINE = 64.0
MOST_DENOMINATOR = 10**6
BY_CHANCE = 1e-9  # that continuous values lie on a grid
ULPS = 4.0  # by which a value computed in binary may miss its grid point
MOST_PLACES = 12
DISTINCT = 2.0**-9  # of the largest units: up to there a tie is seen for what it is
SAMPLE = 64  # values that suggest a grid


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
        with np.errstate(over="ignore", invalid="ignore"):  # enormous values
            steps = values * self.denominator if self.denominator != 1.0 else values
            if self.numerator != 1.0:
                steps = steps / self.numerator
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


def step_of(sigma: float, decimals: int | None, step: float | None) -> float:
    """The step of a grid, checked."""
    if decimals is not None:
        size = decimal_grid(decimals).step
        if step is not None and step != size:
            raise ArgumentError(f"step must be left out where decimals={decimals} is given, got {step!r}")
    elif step is None:
        if sigma < SMALLEST_SIGMA:
            raise ArgumentError(
                f"sigma must be at least {SMALLEST_SIGMA:g} for its default step, got {sigma!r}; "
                "pass step=0 for research"
            )
        size = default_step(sigma)
    else:
        size = step
    if 0.0 < size < SMALLEST_STEP:
        raise ArgumentError(f"step must be 0 or at least {SMALLEST_STEP:g}, got {step!r}")
    if size > 0.0 and not sigma / size <= MOST_STEPS:
        raise ArgumentError(f"step must be at least sigma / 2^40, got {size:g} with sigma={sigma!r}")
    return size


def in_steps(scheme: Any, x: np.ndarray, name: str, kind: str) -> np.ndarray:
    """The data in whole steps of the scheme's grid, or a copy of them where it has none."""
    grid = scheme.grid
    if grid is None:
        return np.asarray(x + 0.0)  # zero has no sign
    units = grid.units(x) if scheme.rounds else on_grid(x, grid, name, kind)
    within(units, grid, MARGIN * scheme.sigma / scheme.step, name, kind)
    return np.asarray(units)


def on_grid(array: np.ndarray, grid: Grid, name: str, kind: str) -> np.ndarray:
    """Data in whole steps; anything off the grid is refused."""
    units = grid.units(array)
    off = misses(array, grid.values(units), kind)
    if off.any():
        raise ArgumentError(
            f"{name} must hold multiples of its step, {grid.step:g}, got another number at position "
            f"{off.argmax()}; round=True rounds the data, whose digits would otherwise reveal swapped records"
        )
    return units


def misses(array: np.ndarray, back: np.ndarray, kind: str) -> np.ndarray:
    """Where values lie off the grid points next to them."""
    ulp = np.spacing(np.abs(back).astype(np.float32 if kind == "float32" else np.float64))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(array - back) > ULPS * ulp)


def within(units: np.ndarray, grid: Grid, margin: float, name: str, kind: str) -> None:
    """Refuse values so many steps from 0 that masked ones could not all be told apart."""
    size = np.abs(units)
    farthest = float(np.fmax.reduce(size, initial=0.0)) + margin
    most, finite = largest_units(kind), np.finfo(np.float32 if kind == "float32" else np.float64)
    if not farthest <= most:
        needed = 2.0 ** np.ceil(np.log2(farthest * grid.step / most)) if farthest < 1e300 else 0.0
        hint = "" if needed <= grid.step else f"; {round_and_pass(needed)}"
        raise ArgumentError(
            f"{name} must stay within 2^{int(np.log2(most))} steps of {grid.step:g}, noise included, "
            f"got a value beyond at position {np.nanargmax(size)}{hint}"
        )
    if not farthest * grid.step < float(finite.max):
        raise ArgumentError(
            f"{name} must stay finite, noise included, got a value beyond at position {np.nanargmax(size)}"
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


def check_fits(values: np.ndarray, law: Any, name: str, kind: str) -> None:
    """Refuse data too far from 0 for the grid of a law, noise included, as masking does; NaN is missing."""
    if law.grid is not None:
        within(law.grid.units(values), law.grid, MARGIN * law.sigma / law.step, name, kind)


def check_released(units: np.ndarray, law: Any, name: str, rows: np.ndarray | None = None) -> None:
    """Refuse masked values, in units of a law, that no release on its grid can hold; NaN is missing.

    ``rows`` are the positions of the values in the whole column, where these are not all.
    """
    if law.grid is None:
        return
    beyond = np.flatnonzero(np.abs(units) > LARGEST_UNITS)
    if beyond.size:
        raise ArgumentError(
            f"{name} must stay within 2^53 steps of {law.step:g}, as values released with this scheme do, "
            f"got a value beyond at position {beyond[0] if rows is None else rows[beyond[0]]}"
        )


def visible_grid(array: np.ndarray, kind: str, step: float) -> Grid | None:
    """The coarsest grid that all values lie on, where it is not much finer than `step`; else None.

    Grids of whole, decimal and binary fractions are found as common divisors in whole numbers, others by
    Euclid's algorithm with its errors. A few values suggest a grid, and continuous ones none; all are then
    checked.
    """
    sizes = np.abs(array)
    sizes = sizes[sizes > 0.0]
    values = sizes[:SAMPLE]
    least, largest = step / FINE, float(values.max(initial=0.0))
    if not 0.0 < largest <= FINE * LARGEST_UNITS * 2.0 * least:  # larger ones are refused by `within`
        return None
    ulp = ULPS * float(np.spacing(np.float32(largest) if kind == "float32" else largest))
    count = np.unique(values).size
    fine = max(least, 2.0 * ulp * BY_CHANCE ** (-1.0 / count))  # continuous values are on it by chance alone
    binary, decimal = grid_of(ldexp(1.0, frexp(fine)[1])), decimal_grid(int(np.floor(-np.log10(fine))))
    for base, exact in ((binary, True), (decimal, False)):
        multiple = _multiple(sizes, base, kind, exact)
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
        values = sizes[misses(sizes, grid.values(grid.units(sizes)), kind)][:SAMPLE]
    return grid


def _multiple(values: np.ndarray, base: Grid, kind: str, exact: bool) -> Grid | None:
    """The coarsest multiple of a base grid that holds all values; None where that has not even its own."""

    def off(some: np.ndarray, grid: Grid) -> np.ndarray:
        back = grid.values(grid.units(some))
        return np.asarray(back != some) if exact else misses(some, back, kind)

    times = 0
    for some in (values[:SAMPLE], values):
        wrong = some if times == 0 else some[off(some, base.times(times))]
        if off(wrong, base).any():
            return None
        times = int(np.gcd.reduce(base.units(wrong).astype(np.int64), initial=times))
    return grid_of(base.times(times).step)


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


def decimals_of(array: np.ndarray) -> int | None:
    """The fewest decimal places that all values have, 0 for whole numbers; None where they need too many."""
    values = np.abs(array[~np.isnan(array)])
    largest = float(values.max(initial=0.0))
    for places in range(MOST_PLACES + 1):
        if places and largest * 10.0**places > LARGEST_UNITS:
            break
        grid = decimal_grid(places)
        values = values[grid.values(grid.units(values)) != values]
        if not values.size:
            return places
    return None


def single_step(array: np.ndarray, step: float) -> float | None:
    """The least power of two that hides that values, held as float64, have only float32's digits.

    None where they have more, or `step` hides it already.
    """
    if not _single(array[:SAMPLE]):  # that is what most are, and the rest costs nothing
        return None
    largest = float(max(np.nanmax(array), -np.nanmin(array)))
    if not largest > LARGEST_UNITS_FLOAT32 * step or not _single(array):
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


def shown(step: float) -> str:
    """A step with all the digits it takes to pass it on."""
    return repr(float(step)).removesuffix(".0")


def round_and_pass(step: float) -> str:
    """What to do where data have to be made coarser: an explicit step alone does not round them."""
    return f"pass step={shown(step)} and round=True"


def shown_digits(scheme: Any, x: np.ndarray, name: str, kind: str) -> tuple[str, str] | None:
    """Why the digits of the data themselves would show which records were swapped, and what helps; None where
    they do not."""
    if scheme.step == 0.0:
        return (
            f"step must be positive for a release, got 0: without a grid the last digits of {name} show "
            "which records were swapped"
        ), "leave step out"
    seen = visible_grid(x, kind, scheme.step)
    serves = scheme.step if seen is None or suits(scheme.step, seen) else step_for(scheme.step, seen)
    single = None if kind == "float32" else single_step(x, serves)
    if single is not None:
        held, remedy = "float32 values", round_and_pass(single)
    elif seen is not None and serves != scheme.step:
        held, remedy = f"multiples of {seen.step:g}", f"pass step={shown(serves)}"
        if max(np.fmax.reduce(x), -np.fmin.reduce(x)) < 1.5 * seen.step:  # then the step is a record's value
            held, remedy = "a single value besides 0", "pass a step of which it is a whole multiple"
    else:
        return None
    return (
        f"{name} holds {held}, which a step of {scheme.step:g} does not keep: anyone sees which records "
        "were swapped"
    ), remedy
