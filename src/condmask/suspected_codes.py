"""Recognises values that look like codes of missing values; the publisher decides about them.

999 beyond incomes, -8 below ages, 2^127 from a program of statistics. Values at an end of a column
are suspected that do not belong there, for one of three reasons:

* *They look like codes.* At the low end a negative whole number from -9 on, of one digit again and
  again (-99, -888), or of 9s and any last digit (-97, -995); at the high end 7, 8, 9, a number of
  one such digit (66, 77, 999, 99.9), 9s and a last 6, 7 or 8 (97, 998, 99.7), or two 9s or more
  and any last digit, or three and zeros (990, 9995, 999000). A run of whole numbers, each less
  than `NEAR` from the next, is suspected where its outermost number looks like one (95 to 99) or
  its innermost does (-1 to -21). One of them is in `MIN_CODE_RECORDS` records, and in one of
  10,000, or all together are in twice as many; and a gap parts them from the rest: more than
  `TIMES` the second largest gap between the other values from that end to the median, and, unless
  they are the only negative numbers, at least a `PART` of the way from there to the median. Or
  they are the only negative numbers, the others are three or more, and either none of these is 0,
  or fewer records are as near to 0 above it, and the upper decile is ten times as far; or they are
  several, do not thin out downwards, and 1, 2 and 3 are `FALL` times as frequent as any of them.
* *They are repeated and far.* As many records have one value, or each of up to `MAX_FAR` whole
  numbers, there are `MIN_OTHERS` others, and the gap is more than `FAR` spreads, and more than
  `TIMES` the second largest gap; the spread is the distance from the median of the others to their
  outermost `TAIL`, or to the outermost where that is 0. For 0, 1 and -1 it takes `FAR_FROM_NONE`
  spreads, and they are in less than half of the records: 0 among years.
* *They are fill values of software* (`FILLS`), and as far: one record is enough.

So no zeros of amounts, no values that end a law without a gap (top codes, 99 of 100 marks, ages up
to 99), no 5 of a scale from 1 to 5. Declared codes count as part of a run, so that 9998 next to a
declared 9999 is suspected even where it is rare; and two declared codes, (9990, 9999), between
which there are whole numbers, may be meant as a range. Only columns that end in such values are
looked at closely.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.changes import Change
from condmask.errors import ArgumentError, Refusals
from condmask.missing_codes import (
    Code,
    Declared,
    WithCodes,
    codes_in_words,
    ends_of,
    is_code,
    shown,
    without_codes,
    written,
)

MIN_CODE_RECORDS = 3
MIN_CODE_SHARE = 1e-4  # of the records
MAX_RUN = 12  # codes at one end that follow on one another
NEAR = 10.0  # from one whole number of a run to the next
MAX_LISTED = 6  # codes that a question lists one by one
TIMES = 2.0  # the second largest gap between other values
PART = 0.2  # of the way to the median
WIDER = 10.0  # times as far as the lowest code, what else is negative by accident
FALL = 3.0  # times as frequent as any code, the first numbers above 0
TAPER = 0.5  # times as frequent as the highest negative number, the lowest one of a tail
EVEN = 2.0  # times as frequent as the rarest of these, the most frequent one
FAR = 3.0  # spreads
FAR_FROM_NONE = 10.0  # spreads between 0 and years, which have none
MAX_FAR = 3  # repeated values that lie far beyond the rest together
MIN_OTHERS = 5  # different values, of which a spread can be taken
TAIL = 0.02  # of the other records, beyond which a spread ends
NO_AMOUNT = 1e20  # numbers beyond it fill gaps
MAX_EXACT = 1e15  # numbers of which all digits are held
MAX_SINGLE = float(np.finfo(np.float32).max)
# look like codes; the others are fill values as well
BITS = (-32768.0, -32767.0, -128.0, -127.0, 127.0, 255.0, 32767.0, 65535.0)
FILLS = (
    *(-(2.0**31), 1.0 - 2.0**31, 2.0**31 - 1.0, 2.0**32 - 1.0),  # integers without a value
    *(-(2.0**63), 2.0**63, 2.0**64),
    *(2.0**127, 2.0**333, MAX_SINGLE, -MAX_SINGLE),  # the ends of numbers, and codes next to them
    *(1e20, -1e20, 1e30, -1e30, 1e36, -1e36, 1e37, -1e37),
    *(9.969209968386869e36, 9.96921e36, 9.999e20, -9.999e20),  # of gridded data
    *(9.99e33, -9.99e33, 9e33, -9e33),
)
FILL_NUMBERS = frozenset(FILLS) | {
    float(np.float32(fill)) for fill in FILLS if abs(fill) <= MAX_SINGLE
}


def drop_codes(
    schemes: Mapping[str, WithCodes], columns: Mapping[str, frames.Column]
) -> dict[str, np.ndarray]:
    """Return columns with NaN for their codes; refused where hardly any value is left, or one
    looks like a code that none declares."""
    refusals = Refusals()
    values = without_any_codes(schemes, columns, "omit", refusals)
    refusals.raise_all()
    return values


def without_any_codes(
    schemes: Mapping[str, WithCodes],
    columns: Mapping[str, frames.Column],
    nan_policy: str,
    refusals: Refusals,
) -> dict[str, np.ndarray]:
    """Return columns with NaN for their codes and for what looks like one, about which it asks."""
    values = {}
    for name, column in columns.items():
        array = column.array
        with refusals.collected():
            _checks.has_gaps(array, name, nan_policy)
        missing = schemes[name].missing
        codes, records = suspicion(missing, array, column.kind)
        values[name] = without_codes(array, (*schemes[name].codes, *codes), column.kind)
        if codes:
            refusals.errors.append(_question(missing or (), codes, records, name))
    for name, x in values.items():
        # without any values, there is nothing else to be looked at
        _checks.has_gaps(x, name, "omit")
    return values


def _question(
    missing: tuple[Code | None, ...], codes: Sequence[float], records: int, name: str
) -> ArgumentError:
    """Return the question about values of a column that look like codes."""
    ordered = sorted(codes, key=abs)
    many = len(codes) > MAX_LISTED
    listed = codes_in_words(_in_ranges(ordered)) if many else " and ".join(map(written, ordered))
    pair = _range_meant(missing)
    where = "far from all other values"
    more: Sequence[Code] = _in_ranges(ordered) if many else ordered
    if pair is not None and all(pair[0] < code < pair[1] for code in codes):
        where = f"between {written(pair[0])} and {written(pair[1])}"
        more = [pair]
    covered = [end for code in more for end in [ends_of(code)] if isinstance(code, tuple)]
    kept = [
        code
        for code in missing
        if code is None or not any(_is_within(code, *ends) for ends in covered)
    ]
    error = ArgumentError(
        f"missing must say whether {listed} in {name} ({_in_words(records)}, {where}) "
        f"{'stands' if len(codes) == 1 else 'stand'} for a missing value; "
        f"pass {_answer((*kept, *more))} if so, {_answer((*missing, None))} if not"
    )
    return error.settled_by(Change(missing=(*kept, *more)))


def _in_words(records: int) -> str:
    """Return the number of records in words."""
    return f"{records} record{'' if records == 1 else 's'}"


def _is_within(code: Code, low: float, high: float) -> bool:
    """Return whether all numbers of a code are in a range."""
    first, last = ends_of(code)
    return low <= first and last <= high


def _in_ranges(codes: Sequence[float]) -> list[Code]:
    """Return one range for the codes below 0, and one for those above."""
    sides = [code for code in codes if code < 0.0], [code for code in codes if code > 0.0]
    ends = [(min(side), max(side)) for side in sides if side]
    return [(low, high) if low < high else low for low, high in ends]


def _answer(missing: tuple[Code | None, ...]) -> str:
    """Return a declaration of codes as an argument in Python."""
    listed = ", ".join(map(shown, missing))
    if any(isinstance(code, tuple) for code in missing):
        return f"missing=[{listed}]"
    return f"missing={listed if len(missing) == 1 else f'({listed})'}"


def suspicion(missing: Declared, x: np.ndarray, kind: str) -> tuple[tuple[float, ...], int]:
    """Return values that look like codes and that none declares, and in how many records they are.

    The values are those at the low end, the outermost first, and those at the high end, then
    values inside these, and values between two declared codes. None where there are declared to be
    no others.
    """
    if missing is None or None in missing:
        return (), 0
    declared = tuple(code for code in missing if code is not None)
    found: list[float] = []
    left = x
    for _ in range(MAX_RUN):
        bare = without_codes(left, declared, kind)
        layer = [code for sign in (1.0, -1.0) for code in _at_end(bare, sign, kind, ())]
        if declared:
            beside = [code for sign in (1.0, -1.0) for code in _at_end(left, sign, kind, declared)]
            layer += [code for code in beside if code not in layer]
        if not layer:
            break
        found += layer
        left = without_codes(left, layer, kind)
    found += _values_between(_range_meant(missing), without_codes(left, declared, kind), kind)
    return tuple(found), int(np.count_nonzero(is_code(x, found, kind))) if found else 0


def looks_like_code(value: float, kind: str) -> bool:
    """Return whether surveys use a number for what is missing: below other values if it is
    negative, else above."""
    if value in BITS or _is_fill(value):
        return True
    size = abs(value)
    if not 0.0 < size < MAX_EXACT:
        return False
    if value < 0.0 and size < 10.0:
        return size.is_integer()
    whole, _, places = np.format_float_positional(_as_written(size, kind), trim="-").partition(".")
    digits = whole + places
    nines = set(digits[:-1]) == {"9"}
    if places:
        return set(digits) == {"9"} or (nines and len(digits) > 2 and digits[-1] in "678")
    if len(set(whole)) == 1:
        return value < 0.0 or whole[0] in ("789" if size < 10.0 else "6789")
    if nines and (value < 0.0 or len(whole) > 2 or whole[-1] in "678"):
        return True
    return len(whole.rstrip("0")) > 2 and set(whole.rstrip("0")) == {"9"}


def _is_fill(value: float) -> bool:
    """Return whether software writes a number where there is no value."""
    return value in FILL_NUMBERS or NO_AMOUNT < abs(value) < np.inf


def _as_written(value: float, kind: str) -> float:
    """Return a number with as few digits as identify it: 99.9, which float32 holds as
    99.900002."""
    return float(str(np.float32(value))) if kind == "float32" else value


def _at_end(x: np.ndarray, sign: float, kind: str, declared: tuple[Code, ...]) -> list[float]:
    """Return the undeclared values at the low end (sign 1) or the high end (-1) that are
    suspected."""
    values = sign * x[np.isfinite(x)]
    distinct = np.unique(values)
    chain = _chain(distinct, sign, kind, declared)
    codes = _run_of_codes(values, chain, sign, kind, declared)
    if not codes and not declared:
        codes = _far(values, distinct, sign)
    return [_as_written(sign * code, kind) for code in codes]


class _Link(NamedTuple):
    """A value of a run, times the sign of its end, and whether it looks like a code or is declared
    as one."""

    value: float
    is_code: bool
    is_declared: bool


def _chain(
    distinct: np.ndarray, sign: float, kind: str, declared: tuple[Code, ...]
) -> list[_Link]:
    """Return the outermost of ascending values that may be a run of codes."""
    chain: list[_Link] = []
    for value in distinct[:MAX_RUN].tolist():
        if value >= 0.0:
            break
        number = sign * value
        is_declared = bool(declared) and bool(is_code(np.array([number]), declared, kind)[0])
        link = _Link(value, is_declared or looks_like_code(number, kind), is_declared)
        whole = value.is_integer() and (not chain or chain[-1].value.is_integer())
        near = not chain or value - chain[-1].value < NEAR
        both = link.is_code and (not chain or chain[-1].is_code)
        if not (both or (whole and near)):
            break
        chain.append(link)
    return chain


def _run_of_codes(
    values: np.ndarray, chain: Sequence[_Link], sign: float, kind: str, declared: tuple[Code, ...]
) -> list[float]:
    """Return the undeclared values of the longest run that stands apart from the rest."""
    if not any(link.is_code for link in chain):
        return []
    distinct, counts = np.unique(values, return_counts=True)
    others = ~is_code(sign * distinct, declared, kind)
    for k in range(len(chain), 0, -1):
        first = chain[0]
        last = chain[k - 1]
        begins = last.is_code and (sign > 0.0 or last.value <= -NEAR)
        if not (first.is_code or begins):
            continue
        rest = distinct[k:][others[k:]], counts[k:][others[k:]]
        if _stand_apart((distinct[:k], counts[:k]), rest, lowest=sign > 0.0):
            return [link.value for link in chain[:k] if not link.is_declared]
    return []


ValueCounts = tuple[np.ndarray, np.ndarray]  # distinct values, ascending, and their records


def _stand_apart(coded: ValueCounts, rest: ValueCounts, *, lowest: bool) -> bool:
    """Return whether values at an end stand apart from the others as codes do."""
    (ends, counts) = coded
    (values, records) = rest
    if values.size < 2:
        return False
    below = np.cumsum(records)
    least = max(MIN_CODE_RECORDS, MIN_CODE_SHARE * below[-1])
    if counts.max() < least and counts.sum() < 2.0 * least:
        return False
    middle = values[np.searchsorted(below, 0.5 * below[-1])]
    gap = values[0] - ends[-1]
    alone = lowest and values[0] >= 0.0
    if gap > TIMES * _usual_gap(values, middle) and (alone or gap >= PART * (middle - values[0])):
        return True
    if not alone or values.size < 3:
        return False
    near = records[(values > 0.0) & (values <= -ends[0])].sum()
    decile = values[np.searchsorted(below, 0.9 * below[-1])]
    if values[0] > 0.0 or (counts.sum() > near and decile >= -WIDER * ends[0]):
        return True
    return _falls_off(counts, rest)


def _falls_off(counts: np.ndarray, rest: ValueCounts) -> bool:
    """Return whether several negative numbers are each much rarer than 1, 2 and 3 above them,
    which are as frequent as one another, while the lowest is not rarer than the highest, as it
    would be in a tail."""
    values, records = rest
    # the lowest is rare
    thins_out = counts.size < 2 or counts[0] < max(MIN_CODE_RECORDS, TAPER * counts[-1])
    if thins_out or values[:4].tolist() != [0.0, 1.0, 2.0, 3.0]:
        return False
    least = records[1:4].min()
    most = records[1:4].max()
    return bool(least > FALL * counts.max() and most < EVEN * least)


def _usual_gap(values: np.ndarray, middle: float) -> float:
    """Return the second largest gap between ascending values up to the middle, or the only one."""
    gaps = np.sort(np.diff(values[values <= middle] if values[0] < middle else values[:2]))
    return float(gaps[-2] if gaps.size > 2 else gaps[-1])


def _far(values: np.ndarray, distinct: np.ndarray, sign: float) -> list[float]:
    """Return the outermost value, if it is repeated, or fills gaps, and lies far beyond the rest;
    or up to `MAX_FAR` such whole numbers."""
    far: list[float] = []
    for value in distinct[: min(MAX_FAR, distinct.size - 2)].tolist():
        rest = values[values > value]
        count = int(np.count_nonzero(values == value))
        others = distinct.size - len(far)
        repeated = (
            count >= max(MIN_CODE_RECORDS, MIN_CODE_SHARE * rest.size) and others > MIN_OTHERS
        )
        if not repeated and not _is_fill(sign * value):
            return []
        far.append(value)
        if _is_far(value, count, rest):
            return far
        if not value.is_integer():
            return []
    return []


def _is_far(value: float, count: int, rest: np.ndarray) -> bool:
    """Return whether a value in so many records lies many spreads below the others. It takes many
    more, and few such records, if it is 0, 1 or -1: an answer of yes or no, or an amount of
    nothing."""
    is_small = abs(value) <= 1.0
    if is_small and count > rest.size:
        return False
    others = np.unique(rest)
    edge = float(others[0])
    # values of the column
    middle, tail = np.quantile(rest, [0.5, TAIL], method="inverted_cdf").tolist()
    spread = middle - tail or middle - edge or float(others[-1]) - edge
    least = FAR_FROM_NONE if is_small else FAR
    enough = max(least * spread, TIMES * _usual_gap(others, middle))
    return bool(spread > 0.0 and edge - value > enough)


def _range_meant(missing: Declared) -> tuple[float, float] | None:
    """Return two declared codes that are near enough to each other to be meant as a range, else
    None."""
    if missing is None or len(missing) != 2:
        return None
    low, high = missing
    if not isinstance(low, float) or not isinstance(high, float) or not low < high:
        return None
    near = high - low <= 0.1 * max(abs(low), abs(high))
    return (low, high) if near and low.is_integer() and high.is_integer() else None


def _values_between(pair: tuple[float, float] | None, x: np.ndarray, kind: str) -> list[float]:
    """Return the values between two declared codes, if all are whole and the rest is on one side
    of both."""
    if pair is None:
        return []
    low, high = pair
    inside = np.unique(x[(x > low) & (x < high)])
    if not inside.size or not (inside == np.rint(inside)).all():
        return []
    middle = float(np.nanmedian(x))
    return [] if low < middle < high else [_as_written(value, kind) for value in inside.tolist()]
