"""Schemes of noise on the grid that the data have of their own, where no step was named.

Whole numbers that are masked on a finer grid show who kept a value: it is no whole number any
more. On their own grid kept and swapped values look alike. The grid tells nothing new, since
swapped values are released as they are. A table and a file are released with it; a column that is
masked by itself keeps the step of its scheme, which is all that its analyst has.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd, log, log10
from typing import Any

import numpy as np

from condmask import frames
from condmask.errors import CondmaskError
from condmask.grid import FIRST, Grid, decimal_grid, default_step
from condmask.missing_codes import values_of
from condmask.visible_grid import visible_grid

MOST_PLACES = 15  # of a scheme's `decimals`
RARE = 1e-9  # chance that is taken for none
ANY = Fraction(0)  # the grid of values that lie on every one, of which all are 0 or missing


def own_grid(values: np.ndarray, kind: str, sigma: float) -> Fraction | None:
    """Return the step of the data's own grid; None where they have none, or one below the default
    step.

    Data on a grid that is finer than the default step are rounded to that. `ANY` is returned for
    values that lie on every grid.
    """
    fitting = default_step(sigma)
    grid = None
    for part in (values[:FIRST], values):  # the first values tell of most data that they have none
        if not ((part < 0.0) | (part > 0.0)).any():
            continue
        grid = visible_grid(part, kind, fitting)
        if grid is None or grid.step <= 0.5 * fitting:
            return None
    return ANY if grid is None else as_fraction(grid)


def as_fraction(grid: Grid) -> Fraction:
    """Return the step of a grid without rounding."""
    return Fraction(grid.numerator) / Fraction(grid.denominator)


def common(a: Fraction, b: Fraction) -> Fraction:
    """Return the coarsest step of which both are whole multiples."""
    shared = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(shared, a.denominator * b.denominator)


def options_of(step: float) -> dict[str, Any]:
    """Return the parameters of a scheme with this step: `decimals` where it is a power of ten."""
    places = -round(log10(step))
    if abs(places) <= MOST_PLACES and decimal_grid(places).step == step:
        return {"decimals": places, "step": None}
    return {"step": step}


def coarser_grid(scheme: Any, z: np.ndarray) -> float | None:
    """Return the step of a coarser grid than that of the scheme, on which all masked values lie.

    None where there is none, or it may be by chance: a kept value lies on the multiples of k steps
    with probability 1/k, which is at most 1/2.
    """
    values = z[np.isfinite(z)]
    by_chance = values.size * log(0.5 + 0.5 * scheme.p)
    if by_chance > log(RARE):
        return None
    multiple = 0
    for part in (values[:FIRST], values):  # the first values tell of most data that they have none
        with np.errstate(invalid="ignore"):  # enormous values, which estimates refuse
            units = scheme.grid.units(part).astype(np.int64)
        multiple = int(np.gcd.reduce(units))
        if multiple == 1:
            return None
    return multiple * scheme.grid.step if multiple else None


def on_own_grids(
    schemes: Mapping[str, Any], parts: Iterable[Callable[[str], frames.Column]]
) -> dict[str, Any]:
    """Return the schemes with the grids of their data, where no step was named.

    Parameters
    ----------
    schemes : dict of str to scheme
        By column.
    parts : iterable of callables (name) -> Column
        Read a column of each part of a table; no more parts are read than are needed.
    """
    steps = {name: ANY for name, scheme in schemes.items() if scheme.rounds}
    try:
        for part in parts if steps else ():
            steps = _shared(steps, part, schemes)
            if not steps:
                break
    except CondmaskError:  # data that cannot be read, which masking refuses, with all else
        return dict(schemes)
    taken = {name: options_of(float(step)) for name, step in steps.items() if step != ANY}
    return {**schemes, **{name: replace(schemes[name], **step) for name, step in taken.items()}}


def _shared(
    steps: Mapping[str, Fraction],
    column_of: Callable[[str], frames.Column],
    schemes: Mapping[str, Any],
) -> dict[str, Fraction]:
    """Return the steps by column that hold in this part, too, as far as they are coarse enough."""
    shared = {}
    for name, step in steps.items():
        scheme = schemes[name]
        column = column_of(name)
        values = values_of({name: scheme}, {name: column})[name]
        own = own_grid(values, column.kind, scheme.sigma)
        both = None if own is None else common(step, own)
        if both is not None and (both == ANY or both > 0.5 * default_step(scheme.sigma)):
            shared[name] = both
    return shared
