"""Replace the default step of a scheme by the grid on which the data lie.

Whole numbers masked on a finer grid reveal which records kept their value: it is no longer a whole
number. On the grid of the data, kept and swapped values look alike. Publishing this grid discloses
nothing new, since swapped values are released as they are. `mask_table` and `mask_file` use it; a
single column keeps the step of its scheme, because the scheme is all that its analyst has.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import gcd, log, log10
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from condmask import frames
from condmask.errors import CondmaskError
from condmask.grid import LARGEST_UNITS, LEADING_VALUES, Grid, decimal_grid, default_step
from condmask.law import Law
from condmask.missing_codes import WithCodes, values_of
from condmask.visible_grid import visible_grid

MAX_DECIMALS = 15  # of the parameter `decimals`
MAX_FALSE_ALARM = 1e-9  # chance that masked values lie on a coarser grid by accident
EVERY_GRID = Fraction(0)  # stands for the grid of a column of zeros and missing values


class GridFollowingScheme(WithCodes, Protocol):
    """A scheme that takes over the grid of the data where it `rounds`."""

    @property
    def rounds(self) -> bool: ...

    @property
    def law(self) -> Law | None: ...

    def with_parameters(self, **parameters: Any) -> Self: ...


GridSchemeT = TypeVar("GridSchemeT", bound=GridFollowingScheme)


def own_grid(values: np.ndarray, kind: str, sigma: float) -> Fraction | None:
    """Return the step of the grid of the data; `EVERY_GRID` if they are all 0 or missing.

    None without a grid, and for a grid finer than the default step: such data are rounded to the
    default step.
    """
    default = default_step(sigma)
    grid = None
    for part in (values[:LEADING_VALUES], values):  # most data without a grid show it at once
        if not ((part < 0.0) | (part > 0.0)).any():
            continue
        grid = visible_grid(part, kind, default)
        if grid is None or grid.step <= 0.5 * default:
            return None
    return EVERY_GRID if grid is None else as_fraction(grid)


def as_fraction(grid: Grid) -> Fraction:
    """Return the step of a grid as an exact fraction."""
    return Fraction(grid.numerator) / Fraction(grid.denominator)


def common(a: Fraction, b: Fraction) -> Fraction:
    """Return the coarsest step of which both are whole multiples."""
    shared = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(shared, a.denominator * b.denominator)


def grid_parameters(step: float) -> dict[str, Any]:
    """Return the parameters of a scheme with this step: `decimals` where it is a power of ten."""
    places = -round(log10(step))
    if abs(places) <= MAX_DECIMALS and decimal_grid(places).step == step:
        return {"decimals": places, "step": None}
    return {"step": step}


def coarser_grid(law: Law, z: np.ndarray) -> float | None:
    """Return the step of a coarser grid than that of the law, on which all masked values lie.

    None without one, or if that may be an accident: a kept value lies on the multiples of k steps
    with probability 1/k, which is at most 1/2. None, too, for values so far from 0 that no grid
    can be seen in them.
    """
    if law.grid is None:
        return None
    values = z[np.isfinite(z)]
    by_chance = values.size * log(0.5 + 0.5 * law.p)
    if by_chance > log(MAX_FALSE_ALARM):
        return None
    multiple = 0
    for part in (values[:LEADING_VALUES], values):  # most data without a grid show it at once
        units = law.grid.units(part)
        if not (np.abs(units) <= LARGEST_UNITS).all():
            return None
        multiple = int(np.gcd.reduce(units.astype(np.int64)))
        if multiple == 1:
            return None
    return multiple * law.grid.step if multiple else None


def on_own_grids(
    schemes: Mapping[str, GridSchemeT], parts: Iterable[Callable[[str], frames.Column]]
) -> dict[str, GridSchemeT]:
    """Replace the default steps of schemes by the grids of their data.

    Parameters
    ----------
    schemes : dict of str to scheme
        By column. Schemes with a step of their own are returned as they are.
    parts : iterable of callables (name) -> Column
        Read a column of each part of a table; no more parts are read than are needed.

    Returns
    -------
    dict of str to scheme
    """
    steps = {name: EVERY_GRID for name, scheme in schemes.items() if scheme.rounds}
    try:
        for part in parts if steps else ():
            steps = _steps_with_part(steps, part, schemes)
            if not steps:
                break
    except CondmaskError:  # unreadable data, which masking refuses with all other problems
        return dict(schemes)
    changed = {
        name: schemes[name].with_parameters(**grid_parameters(float(step)))
        for name, step in steps.items()
        if step != EVERY_GRID
    }
    return {**schemes, **changed}


def _steps_with_part(
    steps: Mapping[str, Fraction],
    column_of: Callable[[str], frames.Column],
    schemes: Mapping[str, GridSchemeT],
) -> dict[str, Fraction]:
    """Return by column the step that also fits this part; columns without one are left out."""
    shared = {}
    for name, step in steps.items():
        law = schemes[name].law
        if law is None:
            continue
        column = column_of(name)
        values = values_of({name: schemes[name]}, {name: column})[name]
        of_part = own_grid(values, column.kind, law.sigma)
        if of_part is None:
            continue
        both = common(step, of_part)
        if both == EVERY_GRID or both > 0.5 * default_step(law.sigma):
            shared[name] = both
    return shared
