"""Missing codes: numbers that stand for "no value" (-8: refused to say), declared with the scheme.

Codes are not values: they are replaced by NaN before anything is done with a column, and the
release has them in their places again, or nulls. A code is one number, or a range of them, each of
which stays as it is.

A publisher whose data hold an undeclared value that looks like a code is asked: `suspected_codes`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.grid import Grid
from condmask.law import Law

# a number, or a range with its ends, None where it is open
Code = float | tuple[float | None, float | None]
Declared = tuple[Code | None, ...] | None  # None among codes, or alone: there are no others
# codes as a user gives them: a number, or a sequence of numbers and ranges; None for no others
GivenCodes = float | Sequence[Code | None] | np.ndarray | None
MAX_EXPECTED_HITS = 1e-6  # masked values that are expected to equal a code
NULLS_HINT = 'missing_as="null" releases nulls in their place'
CODES_RULE = (
    "a finite number or a sequence of several, with ranges as pairs in it: [-8, (9990, 9999)]"
)


class WithCodes(Protocol):
    """Declares codes of missing values, as every scheme does."""

    @property
    def missing(self) -> Declared:
        """Return the codes as they were declared."""

    @property
    def codes(self) -> tuple[Code, ...]:
        """Return the declared codes without the None that excludes others."""

    @property
    def missing_as(self) -> str:
        """Return "code" or "null", which stands for missing values in a release."""


class WithLaw(WithCodes, Protocol):
    """Declares codes of missing values, and masks values under a law."""

    @property
    def law(self) -> Law | None:
        """Return the law of the noise, if there is one."""

    def publish(self, z: np.ndarray, kind: str) -> np.ndarray:
        """Return masked values as they are released."""


def declared_codes(values: GivenCodes) -> Declared:
    """Check the numbers and ranges that stand for missing values, each once; None where there are
    no others.

    A flat sequence holds codes, also one of two; a pair within a sequence is a range.
    """
    given = _listed(values)
    if len(given) == 2 and given[0] is None and not _is_sequence(given[1]):
        end = _code_number(given[1], given[1])
        raise ArgumentError(
            f"missing=(None, {written(end)}) could be a range or a code: "
            f"pass missing=[(None, {written(end)})] for all numbers up to it, "
            f"missing=({written(end)}, None) for this code and no others"
        )
    codes: list[Code] = []
    for value in given:
        if value is not None:
            code = _range(value) if _is_sequence(value) else _code_number(value, value)
            clash = next((other for other in codes if _overlap(code, other)), None)
            hint = f", which overlaps with {shown(clash)}" if isinstance(clash, tuple) else ""
            _checks.require(clash is None, "missing must name each code once", value, hint=hint)
            codes.append(code)
    if len(codes) == len(given):
        return tuple(codes)
    return (*codes, None) if codes else None


def _is_sequence(values: object) -> bool:
    """Return whether values are several."""
    return isinstance(values, tuple | list) or (isinstance(values, np.ndarray) and values.ndim > 0)


def _listed(values: Any) -> list[Any]:
    """Return codes as a list, also a single one."""
    return list(values) if _is_sequence(values) else [values]


def _code_number(value: object, given: object) -> float:
    """Check one code, or one end of a range."""
    code = _checks.real(value, "missing", CODES_RULE) + 0.0
    _checks.require(math.isfinite(code), f"missing must be {CODES_RULE}", given)
    return code


def _range(pair: Any) -> Code:
    """Check a range of codes, whose open end is None or infinite; of one number, it is that
    number."""
    ends = list(pair)
    rule = (
        "missing must have ranges of two ends, of which one may be None: (9990, 9999), (None, -1)"
    )
    _checks.require(len(ends) == 2, rule, pair)
    low = None if ends[0] in (None, -math.inf) else ends[0]
    high = None if ends[1] in (None, math.inf) else ends[1]
    _checks.require(low is not None or high is not None, rule, pair)
    least = None if low is None else _code_number(low, pair)
    most = None if high is None else _code_number(high, pair)
    if least is None or most is None:
        return least, most
    if least > most:
        raise ArgumentError(
            f"missing must have ranges that ascend, got {shown((least, most))}; pass "
            f"missing=[{shown((most, least))}]"
        )
    return least if least == most else (least, most)


def ends_of(code: Code) -> tuple[float, float]:
    """Return the least and the largest number of a code, which may be infinite."""
    if not isinstance(code, tuple):
        return code, code
    low, high = code
    return -math.inf if low is None else low, math.inf if high is None else high


def _overlap(one: Code, other: Code) -> bool:
    """Return whether a number is in both codes."""
    (low, high) = ends_of(one)
    (least, most) = ends_of(other)
    return low <= most and least <= high


def released_codes(scheme: WithCodes) -> tuple[Code, ...]:
    """Return the codes that stand in a release; where nulls do, a masked value may be any
    number."""
    return tuple(scheme.codes) if scheme.missing_as == "code" else ()


def written(number: float) -> str:
    """Return a number with as few digits as identify it."""
    short = f"{number:.15g}"
    return short if float(short) == number else repr(number)


def shown(code: Code | None) -> str:
    """Return a code, or the None that stands for no others, as Python code."""
    if isinstance(code, tuple):
        return f"({', '.join('None' if end is None else written(end) for end in code)})"
    return "None" if code is None else written(code)


def codes_in_words(codes: Sequence[Code]) -> str:
    """Return codes as a sentence lists them: -8, 9990 to 9999, or at most -1."""
    words = []
    for code in codes:
        low, high = ends_of(code)
        if math.isinf(low):
            words.append(f"{written(high)} or less")
        elif math.isinf(high):
            words.append(f"{written(low)} or more")
        else:
            words.append(written(low) if low == high else f"{written(low)} to {written(high)}")
    return " and ".join(words)


def is_code(x: np.ndarray, codes: Sequence[Code], kind: str) -> np.ndarray:
    """Return where values are codes; float32 holds the nearest number to -99.9."""
    found = np.isin(x, [held(code, kind) for code in codes if not isinstance(code, tuple)])
    for code in codes:
        if isinstance(code, tuple):
            low, high = (held(end, kind) for end in ends_of(code))
            found |= (x >= low) & (x <= high)
    return found


def held(code: float, kind: str) -> float:
    """Return a code as a column of this kind holds it."""
    with np.errstate(over="ignore"):
        return float(np.float32(code)) if kind == "float32" else code


def without_codes(x: np.ndarray, codes: Sequence[Code], kind: str) -> np.ndarray:
    """Return the column with NaN for its codes."""
    return np.where(is_code(x, codes, kind), np.nan, x) if codes else x


def numbers_of(values: ArrayLike, name: str, codes: tuple[Code, ...]) -> np.ndarray:
    """Return a column from any container as numbers, NaN for missing values and codes."""
    column = frames.column(values, name)
    return without_codes(column.array, codes, column.kind)


def values_of(
    schemes: Mapping[str, WithCodes], columns: Mapping[str, frames.Column]
) -> dict[str, np.ndarray]:
    """Return columns with NaN for their codes."""
    return {
        name: without_codes(column.array, schemes[name].codes, column.kind)
        for name, column in columns.items()
    }


def refuse_reachable(scheme: WithLaw, units: np.ndarray, name: str, kind: str) -> None:
    """Refuse codes on which masked values would land; the column is in whole steps of its grid."""
    for code in released_codes(scheme):
        count = expected_hits(scheme, code, units, kind)
        if count > MAX_EXPECTED_HITS:
            raise ArgumentError(
                f"missing must be out of reach of masked values, got {shown(code)}, on which "
                f"{count:.2g} of {name} are expected to land; {NULLS_HINT}"
            )


def expected_hits(scheme: WithLaw, code: Code, units: np.ndarray, kind: str) -> float:
    """Return how many masked values are expected to come out as the code, or in the range."""
    law = scheme.law
    if (
        law is None
        or not np.isfinite([held(end, kind) for end in ends_of(code) if math.isfinite(end)]).all()
    ):
        # of values put in another order none is a code; nor is one beyond single precision
        return 0.0
    low, high = _steps_of(code, law.grid, kind)
    if low > high:  # it lies between two points of the grid
        return 0.0
    # of a step, within which noise is rounded to a point
    margin = 0.0 if law.grid is None else 0.5
    step = law.step or 1.0
    plain = law._replace(grid=None)
    below = (low - margin - units) * step
    above = (high + margin - units) * step
    # from the value to either end, and half the chance of noise between both
    kept = np.sign(above) * plain.noise_within(np.abs(above))
    kept -= np.sign(below) * plain.noise_within(np.abs(below))
    there = np.count_nonzero((units >= low) & (units <= high))
    return float(law.p * there + 0.5 * (1.0 - law.p) * np.nansum(kept))


def _steps_of(code: Code, grid: Grid | None, kind: str) -> tuple[float, float]:
    """Return the first and the last step of a grid that is published as a code; without one, its
    ends."""
    ends = []
    for end, side in zip(ends_of(code), (-1.0, 1.0), strict=True):
        point = held(end, kind)
        if math.isfinite(point) and grid is not None:
            rounding = (
                0.5 * float(np.spacing(np.float32(abs(point)))) if kind == "float32" else 0.0
            )
            reach = np.array([point + side * rounding])
            (point,) = grid.above(reach) if side < 0.0 else grid.below(reach)
        ends.append(float(point))
    return ends[0], ends[1]


def restore_codes(
    scheme: WithLaw, z: np.ndarray, x: np.ndarray, kind: str, name: str
) -> np.ndarray:
    """Return masked values as they are published, all finite, with the codes of the original in
    their places."""
    codes = released_codes(scheme)
    where = is_code(x, codes, kind)
    with np.errstate(over="ignore"):
        published = np.asarray(scheme.publish(np.where(where, x, z), kind))
    if np.isinf(published).any():  # one would show that its record was masked
        raise ArgumentError(f"{name} must stay finite when it is masked: its noise is too large")
    refuse_values_like_codes(scheme, published[~where], kind, name)
    return published


def refuse_values_like_codes(scheme: Any, released: np.ndarray, kind: str, name: str) -> None:
    """Refuse masked values that equal a code: a last check."""
    for code in released_codes(scheme):
        if is_code(released, (code,), kind).any():
            raise ArgumentError(
                f"{name} has a masked value that equals its code {shown(code)}; nothing was "
                f"released; {NULLS_HINT}"
            )
