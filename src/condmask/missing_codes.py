"""Missing codes: numbers that stand for "no value" (-8: refused to say), declared with the scheme.

Codes are not values: they are replaced by NaN before anything is done with a column, and the release has them
in their places again, or nulls.

A publisher whose data hold an undeclared value that looks like a code is asked: 999 beyond incomes, -8 below
ages. A number is suspected that surveys use for codes, stands at an end of the column, and does not belong
there:

* at the low end a negative whole number from -9 on, or of one digit again and again (-99, -888); at the high
  end 7, 8, 9, a number of one such digit (66, 77, 999, 99.9), or 9s and a last 6, 7 or 8 (97, 998); or the
  largest or least number of 16 or 32 bits. Up to `MOST` such numbers may follow on one another;
* one of them is in `FEWEST` records, and in one of 10,000;
* they lie off the rest by a gap: more than `TIMES` the second largest gap between the other values from that
  end to the median, and, unless they are the only negative numbers, at least a `PART` of the way from there
  to the median;
* or they are the only negative numbers, the others are three or more, and either none of these is 0, or fewer
  records are as near to 0 above it, and the upper decile is ten times as far.

So no zeros, no values that end a law without a gap (top codes, 99 of 100 marks, ages up to 99), no 5 of a
scale from 1 to 5. Only columns that end in such a number are looked at closely.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError, Refusals

Declared = tuple[float | None, ...] | None  # None among codes, or alone: there are no others
TOLERATED = 1e-6  # masked values, expected, that are taken for a code
INSTEAD = 'missing_as="null" (--missing-as null) releases nulls in their place'
FEWEST, SHARE = 3, 1e-4  # records of a code
MOST = 6  # codes at one end
TIMES, PART = 2.0, 0.2
WIDER = 10.0  # times as far as the lowest code, what else is negative by accident
BITS = (-32768.0, -2147483648.0, 32767.0, 65535.0, 2147483647.0)
LARGEST = 1e12


def declared_codes(values: Any) -> Declared:
    """Numbers that stand for missing values: one or several, each once; None where there are no others."""
    rule = "a finite number or a sequence of several"
    several = isinstance(values, tuple | list) or (isinstance(values, np.ndarray) and values.ndim > 0)
    given, codes = list(values) if several else [values], []
    for value in given:
        if value is not None:
            code = _checks.real(value, "missing", rule) + 0.0
            _checks.require(math.isfinite(code), f"missing must be {rule}", value)
            _checks.require(code not in codes, "missing must name each code once", value)
            codes.append(code)
    if len(codes) == len(given):
        return tuple(codes)
    return (*codes, None) if codes else None


def released_codes(scheme: Any) -> tuple[float, ...]:
    """The codes that stand in a release; where nulls do, a masked value may be any number."""
    return tuple(scheme.codes) if scheme.missing_as == "code" else ()


def is_code(x: np.ndarray, codes: tuple[float, ...], kind: str) -> np.ndarray:
    """Where values are codes; float32 holds the nearest number to -99.9."""
    return np.isin(x, [held(code, kind) for code in codes])


def held(code: float, kind: str) -> float:
    """A code as a column of this kind holds it."""
    with np.errstate(over="ignore"):
        return float(np.float32(code)) if kind == "float32" else code


def without_codes(x: np.ndarray, codes: tuple[float, ...], kind: str) -> np.ndarray:
    """The column with NaN for its codes."""
    return np.where(is_code(x, codes, kind), np.nan, x) if codes else x


def numbers_of(values: Any, name: str, codes: tuple[float, ...]) -> np.ndarray:
    """A column from any container as numbers, NaN where there is no value."""
    column = frames.column(values, name)
    return without_codes(column.array, codes, column.kind)


def values_of(schemes: Mapping[str, Any], columns: Mapping[str, frames.Column]) -> dict[str, np.ndarray]:
    """Columns with NaN for their codes."""
    return {name: without_codes(x, schemes[name].codes, kind) for name, (x, _, kind, _) in columns.items()}


def drop_codes(schemes: Mapping[str, Any], columns: Mapping[str, frames.Column]) -> dict[str, np.ndarray]:
    """The same; refused where hardly any value is left, or one looks like a code that none declares."""
    refusals = Refusals()
    values = without_any_codes(schemes, columns, "omit", refusals)
    refusals.raise_all()
    return values


def without_any_codes(
    schemes: Mapping[str, Any], columns: Mapping[str, frames.Column], nan_policy: str, refusals: Refusals
) -> dict[str, np.ndarray]:
    """Columns with NaN for their codes and for what looks like one, about which it asks."""
    values = {}
    for name, (array, _, kind, _) in columns.items():
        with refusals.collected():
            _checks.has_gaps(array, name, nan_policy)
        missing = schemes[name].missing
        x = without_codes(array, schemes[name].codes, kind)
        codes, records = suspicion(missing, x, kind)
        values[name] = without_codes(x, codes, kind)
        if codes:
            refusals.errors.append(_question(missing, sorted(codes, key=abs), records, name))
    for name, x in values.items():
        _checks.has_gaps(x, name, "omit")  # without any values, there is nothing else to be looked at
    return values


def _question(missing: Any, codes: list[float], records: int, name: str) -> ArgumentError:
    """What to ask about values of a column that look like codes."""
    listed, stand = " and ".join(map(_shown, codes)), "stands" if len(codes) == 1 else "stand"
    return ArgumentError(
        f"missing must say whether {listed} in {name} ({records} records, "
        f"far from all other values) {stand} for a missing value; pass {_answer((*missing, *codes))} if so, "
        f"{_answer((*missing, None))} if not"
    )


def _answer(missing: tuple[float | None, ...]) -> str:
    """A declaration in Python and as options."""
    listed = [_shown(code) for code in missing]
    options = " ".join(f"--missing {code.lower()}" for code in listed)
    codes = listed[0] if len(listed) == 1 else f"({', '.join(listed)})"
    return f"missing={codes} ({options})"


def _shown(code: float | None) -> str:
    return "None" if code is None else f"{code:.15g}"


def suspicion(missing: Declared, x: np.ndarray, kind: str) -> tuple[tuple[float, ...], int]:
    """Values that look like codes at one end of a column, the outermost first, and in how many records they
    are; missing values and declared codes are NaN.

    None where there are declared to be no others.
    """
    if missing is None or None in missing:
        return (), 0
    for sign, extreme in ((1.0, np.fmin), (-1.0, np.fmax)):
        first = float(extreme.reduce(x, initial=0.0))
        if not _may_be_code(first, sign, kind):
            continue
        values, counts = np.unique(sign * x[~np.isnan(x)], return_counts=True)
        ends = 0
        while ends < min(MOST, values.size) and _may_be_code(sign * float(values[ends]), sign, kind):
            ends += 1
        for k in range(ends, 0, -1):
            if _stand_apart(values, counts, k, lowest=sign > 0.0):
                codes = tuple(_as_written(sign * value, kind) for value in values[:k].tolist())
                return codes, int(counts[:k].sum())
    return (), 0


def looks_like_code(value: float, kind: str) -> bool:
    """Whether surveys use a number for what is missing: below other values if it is negative, else above."""
    if value in BITS:
        return True
    size = abs(value)
    if not 0.0 < size < LARGEST:
        return False
    if value < 0.0 and size < 10.0:
        return size.is_integer()
    whole, _, places = np.format_float_positional(_as_written(size, kind), trim="-").partition(".")
    if places:
        return set(whole + places) == {"9"}
    if len(set(whole)) == 1:
        return value < 0.0 or whole[0] in ("789" if size < 10.0 else "6789")
    return set(whole[:-1]) == {"9"} and whole[-1] in "678"


def _as_written(value: float, kind: str) -> float:
    """A number with as few digits as identify it: 99.9, which float32 holds as 99.900002."""
    return float(str(np.float32(value))) if kind == "float32" else value


def _may_be_code(value: float, sign: float, kind: str) -> bool:
    """Whether a number may be a code at this end: a negative one at the low end, else a positive one."""
    return sign * value < 0.0 and looks_like_code(value, kind)


def _stand_apart(values: np.ndarray, records: np.ndarray, k: int, *, lowest: bool) -> bool:
    """Whether the first k of ascending values are codes, for all that the others tell."""
    ends, values, coded, records = values[:k], values[k:], records[:k], records[k:]
    below = np.cumsum(records)
    if values.size < 2 or coded.max() < max(FEWEST, SHARE * below[-1]):
        return False
    middle = values[np.searchsorted(below, 0.5 * below[-1])]
    gaps = np.sort(np.diff(values[values <= middle] if values[0] < middle else values[:2]))
    gap, usual = values[0] - ends[-1], gaps[-2] if gaps.size > 2 else gaps[-1]
    alone = lowest and values[0] >= 0.0
    if gap > TIMES * usual and (alone or gap >= PART * (middle - values[0])):
        return True
    if not alone or values.size < 3:
        return False
    near = records[(values > 0.0) & (values <= -ends[0])].sum()
    decile = values[np.searchsorted(below, 0.9 * below[-1])]
    return bool(values[0] > 0.0 or (coded.sum() > near and decile >= -WIDER * ends[0]))


def refuse_reachable(scheme: Any, units: np.ndarray, name: str, kind: str) -> None:
    """Refuse codes on which masked values would land; the column is in whole steps of its grid."""
    for code in released_codes(scheme):
        count = expected_hits(scheme, code, units, kind)
        if count > TOLERATED:
            raise ArgumentError(
                f"missing must be out of reach of masked values, got {code:g}, on which {count:.2g} of "
                f"{name} are expected to land; {INSTEAD}"
            )


def expected_hits(scheme: Any, code: float, units: np.ndarray, kind: str) -> float:
    """How many masked values are expected to come out as the code."""
    law, code = scheme.law, held(code, kind)
    if scheme.grid is None or not np.isfinite(code):
        return 0.0
    rounding = 0.5 * float(np.spacing(np.float32(abs(code)))) if kind == "float32" else 0.0
    (low,), (high,) = law.grid.above(np.array([code - rounding])), law.grid.below(np.array([code + rounding]))
    if low > high:  # it lies between two points of the grid
        return 0.0
    away, wide = np.abs(units - 0.5 * (low + high)), 0.5 * (high - low)
    plain, ends = law._replace(grid=None), ((away + side * (wide + 0.5)) * law.step for side in (1.0, -1.0))
    # on which side of the value an end lies, and half the chance of noise between both
    kept = np.subtract(*(np.sign(end) * plain.noise_within(np.abs(end)) for end in ends))
    return float(law.p * np.count_nonzero(away <= wide) + 0.5 * (1.0 - law.p) * np.nansum(kept))


def restore_codes(scheme: Any, z: np.ndarray, x: np.ndarray, kind: str, name: str) -> np.ndarray:
    """Masked values as they are published, all finite, with the codes of the original in their places."""
    codes = released_codes(scheme)
    where = is_code(x, codes, kind)
    with np.errstate(over="ignore"):
        published = np.asarray(scheme.publish(np.where(where, x, z), kind))
    if np.isinf(published).any():  # one would show that its record was masked
        raise ArgumentError(f"{name} must stay finite when it is masked: its noise is too large")
    for code in codes:  # a last check
        if is_code(published[~where], (code,), kind).any():
            raise ArgumentError(
                f"{name} has a masked value that equals its code {code:g}; nothing was released; {INSTEAD}"
            )
    return published
