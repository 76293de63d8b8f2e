"""Limits of a column: public bounds that no original and no released value may leave.

Noise has no bounds, so the expected number of released values outside is computed before anything
is drawn:

    (1 - p) sum over i of P(x_i + Y < low) + P(x_i + Y > high)        are expected.

Reverse mapping releases values of the data, and means of them, which are always within the bounds.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import evenly_spaced
from condmask.errors import ArgumentError, ArgumentTypeError, ReleaseWarning, warn
from condmask.law import Law

SIDES = "below", "above"
INSTEAD = (
    "use cm.ReverseMapping(p={p!r}, sigma={sigma!r}), which releases values of the data alone"
)
NONE = 1e-10  # expected outside: not looked at value by value
LEAST = 1e-6  # values that are expected outside: fewer are none
MANY = 0.01  # of the records: so many below 0 are worth a word
LOOKED_AT = 1 << 14  # records in which they are counted


def declared_limits(value: Any) -> tuple[float | None, float | None] | None:
    """The bounds of a range, the lower first, None for one that is open; None where both are."""
    rule = "two numbers, the lower first, of which one may be None"
    pair = isinstance(value, tuple | list) and len(value) == 2
    _checks.require(pair, f"range must be {rule}", value, ArgumentTypeError)
    low, high = (_checks.real(end, "range", rule) + 0.0 for end in _numbers(value))
    _checks.require(low < high, f"range must be {rule}", value)
    bounds = (low if low > -math.inf else None, high if high < math.inf else None)
    return None if bounds == (None, None) else bounds


def check_limits(values: np.ndarray, scheme: Any, name: str) -> None:
    """Refuse a column with a value outside of its range, or whose release is expected to have
    one."""
    if scheme.range is None:
        warn_of_signs(values, scheme.law, name)
        return
    ends = bounds(scheme)
    stated = in_words(scheme.range)
    outside = np.flatnonzero((values < ends[0]) | (values > ends[1]))
    if outside.size:
        many = f"{outside.size:,} values" if outside.size > 1 else "a value"
        raise ArgumentError(
            f"{name} must lie within its range, {stated}, got {many} outside, the first "
            f"at position {outside[0]}"
        )
    expected = (0.0, 0.0) if scheme.law is None else expected_outside(values, scheme.law, ends)
    if sum(expected) > LEAST:
        counts = [
            f"{_number(count)} {side}"
            for count, side in zip(expected, SIDES, strict=True)
            if count
        ]
        raise ArgumentError(
            f"{name} must stay within its range, {stated}, got noise that is expected to "
            f"take {' and '.join(counts)} it, of {values.size:,} values; "
            f"{INSTEAD.format(p=scheme.p, sigma=scheme.sigma)}, or leave range out"
        )


def bounds(scheme: Any) -> tuple[float, float]:
    """The bounds of a scheme as numbers, each with the point of the grid that it is rounded to."""
    low, high = _numbers(scheme.range)
    if scheme.law is None:
        return low, high
    on_grid = scheme.law.from_units(scheme.law.to_units(np.array([low, high]))).tolist()
    return min(low, on_grid[0]), max(high, on_grid[1])


def _numbers(ends: Sequence[Any]) -> tuple[Any, Any]:
    """The bounds of a range, infinite where it is open."""
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


def expected_outside(
    values: np.ndarray, law: Law, ends: tuple[float, float]
) -> tuple[float, float]:
    """How many released values are expected below and above two bounds; NaN is missing."""
    there = values[~np.isnan(values)]
    nearest = (
        min(there.min(initial=np.inf) - ends[0], ends[1] - there.max(initial=-np.inf)) - law.step
    )
    if there.size * _beyond(np.array([nearest]), law) < NONE:
        return 0.0, 0.0
    with np.errstate(invalid="ignore"):  # values of 1e300 are as far as infinite ones
        points = law.from_units(law.to_units(there))
        rooms = points - ends[0], ends[1] - points
    below, above = ((1.0 - law.p) * _beyond(room[np.isfinite(room)], law) for room in rooms)
    return below, above


def _beyond(room: np.ndarray, law: Law) -> float:
    """The sum of P(Y > room), room being on the grid: Y is no less than room and half a step."""
    return 0.5 * float(np.sum(1.0 - law.noise_within(room + 0.5 * law.step)))


def warn_of_signs(values: np.ndarray, law: Law | None, name: str) -> None:
    """Say so where many released values will be negative and no original is.

    The smallest and the largest original are not named: each is one record's.
    """
    if law is None or law.p == 0.0 or not np.fmin.reduce(values, initial=np.inf) >= 0.0:
        return
    some = values[evenly_spaced(values.size, LOOKED_AT)]
    some = some[~np.isnan(some)]
    below, _ = expected_outside(some, law, (0.0, np.inf))
    if below > MANY * some.size:
        warn(
            f"some {below / some.size:.0%} of the released values of {name} will lie below 0, where no "
            f"original does; {INSTEAD.format(p=law.p, sigma=law.sigma)}",
            ReleaseWarning,
            about=name,
        )


def _number(count: float) -> str:
    return f"{count:,.0f}" if count >= 10.0 else f"{count:.2g}"


def in_words(limits: tuple[float | None, float | None]) -> str:
    """Bounds as they are read: 0 to 100, at least 0."""
    low, high = limits
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"
