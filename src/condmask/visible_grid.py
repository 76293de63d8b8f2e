"""Which grid the data show of themselves, and which step of a release then keeps the last digits of values
from showing which records were swapped."""

from fractions import Fraction
from math import frexp, ldexp
from typing import Any

import numpy as np

from condmask.grid import (
    LARGEST_UNITS,
    LARGEST_UNITS_FLOAT32,
    MOST_DENOMINATOR,
    ULPS,
    Grid,
    decimal_grid,
    grid_of,
    misses,
    round_and_pass,
    shown,
)

# A grid of the data this much finer than the step leaves no trace in rounded values: the cells of the one
# then hold nearly equal numbers of points of the other.
FINE = 64.0
BY_CHANCE = 1e-9  # that continuous values lie on a grid
SAMPLE = 64  # values that suggest a grid


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


def single_step(array: np.ndarray, step: float) -> float | None:
    """The least power of two that hides that values, held as float64, have only float32's digits.

    None where they have more, or `step` hides it already.
    """
    for some in (array[:SAMPLE], array):  # most are told by a few, and the rest costs nothing
        with np.errstate(over="ignore"):
            if ((some.astype(np.float32) != some) & ~np.isnan(some)).any():
                return None
    largest = float(np.nanmax(np.abs(array)))
    return ldexp(1.0, frexp(largest)[1] - 24) if largest > LARGEST_UNITS_FLOAT32 * step else None


def suits(step: float, grid: Grid) -> bool:
    """Whether a step is a whole multiple of a grid's."""
    times = step / grid.step
    return times >= 0.5 and abs(times - np.rint(times)) <= 1e-9 * times


def step_for(step: float, grid: Grid) -> float:
    """The step next to `step` that suits a grid: at or below it, but for a grid that is coarser."""
    return grid.times(max(1, int(step / grid.step))).step


def shown_digits(scheme: Any, x: np.ndarray, name: str, kind: str) -> tuple[str, str] | None:
    """Why the digits of the data themselves would show which records were swapped, and what helps; None where
    they do not."""
    if scheme.step == 0.0:
        reason = "step must be positive for a release, got 0: without a grid the last digits of"
        return f"{reason} {name} show which records were swapped", "leave step out"
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
    kept = f"which a step of {scheme.step:g} does not keep: anyone sees which records were swapped"
    return f"{name} holds {held}, {kept}", remedy
