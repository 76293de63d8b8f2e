"""The grid of a release: which one a scheme lives on, and how data get there."""

from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask._grid import (
    LARGEST_UNITS,
    decimal_grid,
    default_step,
    on_grid,
    round_and_pass,
    shown,
    single_step,
    step_for,
    suits,
    visible_grid,
    within,
)
from condmask.errors import ArgumentError
from condmask.law import Law

MARGIN = 64.0  # sigma; noise of either law stays within
SMALLEST_SIGMA, SMALLEST_STEP = 1e-290, 1e-300  # so that a step and its inverse are exact
MOST_STEPS = 2.0**40  # of a sigma
COARSEST = 0.5  # sigma: of coarser steps too many records would go out unchanged


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


def on_the_grid(scheme: Any, x: np.ndarray, name: str, kind: str, out: np.ndarray) -> np.ndarray:
    """The data in units of the scheme's grid, or as they are where it has none."""
    grid = scheme.grid
    for start, stop in blocks(x.size):
        part = x[start:stop]
        if grid is None:
            np.add(part, 0.0, out=out[start:stop])  # zero has no sign
            continue
        into = None if out is x else out[start:stop]
        units = grid.units(part, into) if scheme.rounds else on_grid(part, grid, name, kind, row=start)
        within(units, grid, MARGIN * scheme.sigma / scheme.step, name, kind, row=start)
        if units is not into:
            out[start:stop] = units
    return out


def check_fits(values: np.ndarray, law: Law, name: str, kind: str) -> None:
    """Refuse data too far from 0 for the grid of a law, noise included, as masking does; NaN is missing."""
    for start, stop in blocks(values.size):
        part, margin = values[start:stop], MARGIN * law.sigma
        if law.grid is not None:
            ends = np.array([np.fmin.reduce(part), np.fmax.reduce(part)])
            try:
                within(law.grid.units(ends), law.grid, margin / law.step, name, kind)
            except ValueError:  # again, for the position in the column
                within(law.grid.units(part), law.grid, margin / law.step, name, kind, row=start)


def check_released(units: np.ndarray, law: Law, name: str, rows: np.ndarray | None = None) -> None:
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
