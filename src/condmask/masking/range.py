"""Check columns against their range: public bounds that no original and no released value leaves.

Noise has no bounds, so the expected number of released values outside is computed before anything
is drawn:

    (1 - p) sum over i of P(x_i + Y < low) + P(x_i + Y > high)        are expected.

Reverse mapping releases values of the data, and means of them, which are always within the bounds.
"""

import math
from collections.abc import Sequence

import numpy as np

from condmask import _checks
from condmask._blocks import evenly_spaced
from condmask.errors import ArgumentError, ArgumentTypeError, ReleaseWarning, warn
from condmask.law import Law
from condmask.masking.scheme import Scheme

RangeLimits = tuple[float | None, float | None]  # the lower bound first, None for an open one

SIDES = "below", "above"
REVERSE_MAPPING_INSTEAD = (
    "use cm.ReverseMapping(p={p!r}, sigma={sigma!r}), which releases values of the data alone"
)
# bound on the expected number outside, below which single values are not computed
NEGLIGIBLE_OUTSIDE = 1e-10
MAX_EXPECTED_OUTSIDE = 1e-6  # values expected outside the range; more are refused
MAX_NEGATIVE_SHARE = 0.01  # of released values expected below 0; more get a warning
MAX_SIGN_RECORDS = 1 << 14  # evenly spaced records in which negative values are counted


def declared_limits(value: Sequence[float | None]) -> RangeLimits | None:
    """Check the bounds of a range, the lower first; None for an open one, or for both."""
    rule = "two numbers, the lower first, of which one may be None"
    pair = isinstance(value, tuple | list) and len(value) == 2
    _checks.require(pair, f"range must be {rule}", value, ArgumentTypeError)
    low, high = (_checks.real(end, "range", rule) + 0.0 for end in _bounds_or_infinite(value))
    _checks.require(low < high, f"range must be {rule}", value)
    bounds = (low if low > -math.inf else None, high if high < math.inf else None)
    return None if bounds == (None, None) else bounds


def check_limits(values: np.ndarray, scheme: Scheme, name: str) -> None:
    """Refuse a column with a value outside its range, or with noise expected to take one outside.

    Without a range, warn of a release with many negative values of a column without any.
    """
    law = scheme.law
    if scheme.range is None:
        warn_of_signs(values, law, name)
        return
    ends = bounds_on_grid(scheme.range, law)
    stated = in_words(scheme.range)
    outside = np.flatnonzero((values < ends[0]) | (values > ends[1]))
    if outside.size:
        many = f"{outside.size:,} values" if outside.size > 1 else "a value"
        raise ArgumentError(
            f"{name} must lie within its range, {stated}, got {many} outside, the first "
            f"at position {outside[0]}"
        )
    if law is None:
        return
    expected = expected_outside(values, law, ends)
    if sum(expected) > MAX_EXPECTED_OUTSIDE:
        counts = [
            f"{_rounded_count(count)} {side}"
            for count, side in zip(expected, SIDES, strict=True)
            if count
        ]
        raise ArgumentError(
            f"{name} must stay within its range, {stated}, got noise that is expected to "
            f"take {' and '.join(counts)} it, of {values.size:,} values; "
            f"{REVERSE_MAPPING_INSTEAD.format(p=law.p, sigma=law.sigma)}, or leave range out"
        )


def bounds_on_grid(limits: RangeLimits, law: Law | None) -> tuple[float, float]:
    """Return the bounds of a range as numbers, widened to the grid points they are rounded to."""
    low, high = _bounds_or_infinite(limits)
    if law is None:
        return low, high
    on_grid = law.from_units(law.to_units(np.array([low, high]))).tolist()
    return min(low, on_grid[0]), max(high, on_grid[1])


def _bounds_or_infinite(ends: Sequence[float | None]) -> tuple[float, float]:
    """Return the bounds of a range, infinite where it is open."""
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


def expected_outside(
    values: np.ndarray, law: Law, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return how many released values are expected below and above the ends; NaN is missing."""
    present = values[~np.isnan(values)]
    nearest = (
        min(present.min(initial=np.inf) - ends[0], ends[1] - present.max(initial=-np.inf))
        - law.step
    )
    if present.size * _expected_beyond(np.array([nearest]), law) < NEGLIGIBLE_OUTSIDE:
        return 0.0, 0.0
    with np.errstate(invalid="ignore"):  # values of 1e300 are as far as infinite ones
        points = law.from_units(law.to_units(present))
        rooms = points - ends[0], ends[1] - points
    below, above = (
        (1.0 - law.p) * _expected_beyond(room[np.isfinite(room)], law) for room in rooms
    )
    return below, above


def _expected_beyond(room: np.ndarray, law: Law) -> float:
    """Return the sum of P(Y > room) for room on the grid, where Y is at least room plus half a
    step."""
    return 0.5 * float(np.sum(1.0 - law.noise_within(room + 0.5 * law.step)))


def warn_of_signs(values: np.ndarray, law: Law | None, name: str) -> None:
    """Warn if many released values will be negative although no original is.

    The warning does not name the smallest or largest original, each the value of one record.
    """
    if law is None or law.p == 0.0 or not np.fmin.reduce(values, initial=np.inf) >= 0.0:
        return
    some = values[evenly_spaced(values.size, MAX_SIGN_RECORDS)]
    some = some[~np.isnan(some)]
    below, _ = expected_outside(some, law, (0.0, np.inf))
    if below > MAX_NEGATIVE_SHARE * some.size:
        warn(
            f"some {below / some.size:.0%} of the released values of {name} will lie below 0, "
            "where no "
            f"original does; {REVERSE_MAPPING_INSTEAD.format(p=law.p, sigma=law.sigma)}",
            ReleaseWarning,
            about=name,
        )


def _rounded_count(count: float) -> str:
    """Return an expected number with two digits, or as a whole number."""
    return f"{count:,.0f}" if count >= 10.0 else f"{count:.2g}"


def in_words(limits: RangeLimits) -> str:
    """Return bounds in words, such as "0 to 100" or "at least 0"."""
    low, high = limits
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"
