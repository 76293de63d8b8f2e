"""Values on a decimal grid: to whole steps and back."""

import numpy as np

from condmask._checks import LARGEST_EXACT_INTEGER


def grid(array: np.ndarray, places: int, name: str, kind: str = "float64", *, row: int = 0) -> np.ndarray:
    """The data in units of ``10**-places``, as whole numbers; anything off that grid is refused.

    ``row`` is the position of the first value in the whole column.
    """
    with np.errstate(over="ignore"):
        units = to_units(array, places)
    if (np.abs(units) > LARGEST_EXACT_INTEGER).any():
        largest = float(np.nanmax(np.abs(array)))
        raise ValueError(
            f"{name} must stay below 2^53 steps of its grid, got {largest!r} with decimals={places}"
        )
    back = from_units(units, places)
    # a value computed in binary may miss its decimal by a few units in the last place
    ulp = np.spacing(np.abs(back).astype(np.float32 if kind == "float32" else np.float64))
    off = np.abs(array - back) > 4.0 * ulp
    if off.any():
        first = int(np.flatnonzero(off)[0])
        raise ValueError(
            f"{name} must be rounded to decimals={places}, "
            f"got {float(array[first])!r} at position {row + first} "
            f"({int(off.sum())} such values); round the data first, or swapped records show"
        )
    return units


def to_units(array: np.ndarray, places: int) -> np.ndarray:
    """Whole steps of ``10**-places``; zero has no sign, which noise would take from it."""
    step = 10.0 ** abs(places)
    return np.rint(array * step if places >= 0 else array / step) + 0.0


def from_units(units: np.ndarray, places: int) -> np.ndarray:
    """The decimal nearest to a whole number of steps (a division rounds correctly, 0.1 * 3 does not)."""
    step = 10.0 ** abs(places)
    return units / step if places >= 0 else units * step


def visible_grid(array: np.ndarray, kind: str) -> int | None:
    """The fewest decimal places (0 to 4) on which all values lie, None if there are more."""
    for places in range(5):
        # part by part: most data leave the grid within a few values, and little memory is needed
        if all(_on_grid(array[start : start + 8192], places, kind) for start in range(0, array.size, 8192)):
            return places
    return None


def _on_grid(array: np.ndarray, places: int, kind: str) -> bool:
    values = array[~np.isnan(array)]
    if np.abs(values).max(initial=0.0) > LARGEST_EXACT_INTEGER:  # there every float is whole
        return False
    rounded = from_units(to_units(values, places), places)
    if kind == "float32":
        return np.array_equal(rounded.astype(np.float32), values.astype(np.float32))
    return np.array_equal(rounded, values)


def to_grid(x: np.ndarray, decimals: int) -> np.ndarray:
    """Half a step to the right of the grid point at or below x, where rounded data are evaluated."""
    step = 10.0 ** abs(decimals)
    units = x * step if decimals >= 0 else x / step
    nearest = np.rint(units)
    with np.errstate(invalid="ignore"):  # infinite points
        on_grid = np.abs(units - nearest) <= 4 * np.spacing(np.abs(nearest))
    whole = np.where(on_grid, nearest, np.floor(units)) + 0.5
    return whole / step if decimals >= 0 else whole * step


def whole_steps(d: np.ndarray, decimals: int) -> np.ndarray:
    """The number of steps of the grid next to or above d, so that |k| < d holds for the same whole k."""
    units = d * 10.0**decimals
    nearest = np.rint(units)
    whole = np.abs(units - nearest) <= 4.0 * np.spacing(nearest)
    return np.asarray(np.where(whole, nearest, np.ceil(units)))
