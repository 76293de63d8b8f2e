"""Limits of a column: public bounds that no original and no released value may leave.

Noise has no bounds, so the expected number of released values outside is computed before anything is drawn:

    (1 - p) sum over i of P(x_i + Y < low) + P(x_i + Y > high)        are expected.

Reverse mapping releases values of the data, and means of them, which are always within the bounds.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask._warn import warn
from condmask.audit_input import AuditInput
from condmask.disclosure.release_check import ReleaseWarning
from condmask.disclosure.remedies import reverse_mapping
from condmask.errors import ArgumentError
from condmask.law import Law
from condmask.schemes.parameters import in_words

SIDES = "below", "above"
SERVES = "which releases values of the data alone"
NONE = 1e-10  # expected outside: not looked at value by value
LEAST = 1e-6  # values that are expected outside: fewer are none
MANY = 0.01  # of the records: so many below 0 are worth a word
LOOKED_AT = 1 << 14  # records in which they are counted


class Outside(NamedTuple):
    """How many values lie outside of a range, and the position of the first one, -1 for none; and how many
    released ones are expected below and above."""

    values: int
    first: int
    expected: tuple[float, float]


def check_limits(data: AuditInput, schemes: Mapping[str, Any]) -> None:
    """Refuse columns with a value outside of their range, and those whose release is expected to have one."""
    for name, scheme in schemes.items():
        if scheme.range is None:
            warn_of_signs(data.values[name], scheme.law, name)
        else:
            refuse_outside(outside(data.values[name], scheme), name, data, schemes, data.n)


def outside(values: np.ndarray, scheme: Any) -> Outside:
    """What of a column lies, and will lie, outside of the range of its scheme; NaN is missing."""
    ends = bounds(scheme)
    count, first = _outside(values, ends)
    expected = (0.0, 0.0) if scheme.law is None or count else expected_outside(values, scheme.law, ends)
    return Outside(count, first, expected)


def refuse_outside(
    found: Outside, name: str, data: AuditInput, schemes: Mapping[str, Any], records: int
) -> None:
    """Refuse a column of so many records, with what helps those of the table."""
    scheme = schemes[name]
    if found.values:
        many = f"{found.values:,} values" if found.values > 1 else "a value"
        raise ArgumentError(
            f"{name} must lie within its range, {in_words(scheme.range)}, got {many} outside, the first "
            f"at position {found.first}"
        )
    if sum(found.expected) > LEAST:
        better = reverse_mapping(data, dict(schemes))
        serves = "" if better is None else f"{better.remedy} ({SERVES}), or "
        counts = [
            f"{_number(count)} {side}" for count, side in zip(found.expected, SIDES, strict=True) if count
        ]
        raise ArgumentError(
            f"{name} must stay within its range, {in_words(scheme.range)}, got noise that is expected to "
            f"take {' and '.join(counts)} it, of {records:,} values; {serves}leave range out"
        )


def _outside(values: np.ndarray, ends: tuple[float, float]) -> tuple[int, int]:
    """How many values lie outside of two bounds, and the position of the first one, -1 for none."""
    count, first = 0, -1
    for start, stop in blocks(values.size):
        part = values[start:stop]
        beyond = (part < ends[0]) | (part > ends[1])
        if first < 0 and beyond.any():
            first = start + int(beyond.argmax())
        count += int(np.count_nonzero(beyond))
    return count, first


def bounds(scheme: Any) -> tuple[float, float]:
    """The bounds of a scheme as numbers, each with the point of the grid that it is rounded to."""
    low, high = scheme.range
    ends = np.array([-np.inf if low is None else low, np.inf if high is None else high])
    on_grid, finite = ends.copy(), np.isfinite(ends)
    if scheme.law is not None:
        on_grid[finite] = scheme.law.from_units(scheme.law.to_units(ends[finite]))
    return float(min(ends[0], on_grid[0])), float(max(ends[1], on_grid[1]))


def expected_outside(values: np.ndarray, law: Law, ends: tuple[float, float]) -> tuple[float, float]:
    """How many released values are expected below and above two bounds; NaN is missing."""
    totals = [0.0, 0.0]
    nearest = min(np.fmin.reduce(values) - ends[0], ends[1] - np.fmax.reduce(values)) - law.step
    if values.size * _beyond(np.array([nearest]), law) < NONE:
        return 0.0, 0.0
    for start, stop in blocks(values.size):
        part = values[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):  # values of 1e300 are as far as infinite ones
            points = law.from_units(law.to_units(part[~np.isnan(part)]))
            for side, room in enumerate((points - ends[0], ends[1] - points)):
                totals[side] += _beyond(room[np.isfinite(room)], law)
    return (1.0 - law.p) * totals[0], (1.0 - law.p) * totals[1]


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
            f"original does; pass reverse_mapping=True ({SERVES}), or range=(0, None) (--range 0 none), "
            "outside of which nothing is released",
            ReleaseWarning,
        )


def _number(count: float) -> str:
    return f"{count:,.0f}" if count >= 10.0 else f"{count:.2g}"
