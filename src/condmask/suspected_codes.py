"""Values that look like codes of missing values: 999 beyond incomes, -8 below ages. The publisher is asked.

A number is suspected that surveys use for codes, stands at an end of the column, and does not belong there:

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
scale from 1 to 5. Only columns that end in such a number are looked at closely: their ends in all rows, the
rest in `ROWS`.
"""

from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks, evenly_spaced

FEWEST, SHARE = 3, 1e-4  # records of a code
MOST = 6  # codes at one end
TIMES, PART = 2.0, 0.2
WIDER = 10.0  # times as far as the lowest code, what else is negative by accident
ROWS = 1 << 15
BITS = (-32768.0, -2147483648.0, 32767.0, 65535.0, 2147483647.0)
LARGEST = 1e12


class Suspicion(NamedTuple):
    """Values that look like codes, the outermost first, and in how many records they are."""

    codes: tuple[float, ...]
    records: int


def suspicion(x: np.ndarray, kind: str) -> Suspicion | None:
    """Values that look like codes at one end of a column; missing values and declared codes are NaN."""
    for sign, extreme in ((1.0, np.fmin), (-1.0, np.fmax)):
        first = float(extreme.reduce(x, initial=sign * np.inf))
        if not _may_be_code(first, sign, kind):
            continue
        rows = evenly_spaced(x.size, ROWS)
        values, counts = np.unique(sign * x[rows], return_counts=True)
        counts = counts[~np.isnan(values)] * (x.size / rows.size)
        values = values[~np.isnan(values)]
        ends, records = _ends(x, sign, values, kind)
        others = values > ends[-1]
        values, counts = np.append(ends, values[others]), np.append(records, counts[others])
        for k in range(ends.size - 1, 0, -1):
            if _stand_apart(values, counts, k, lowest=sign > 0.0):
                codes = tuple(_as_written(sign * value, kind) for value in values[:k].tolist())
                return Suspicion(codes, int(counts[:k].sum()))
    return None


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
        return size > 9.0 and set(whole + places) == {"9"}
    if len(set(whole)) == 1:
        return value < 0.0 or whole[0] in ("789" if size < 10.0 else "6789")
    return set(whole[:-1]) == {"9"} and whole[-1] in "678"


def _as_written(value: float, kind: str) -> float:
    """A number with as few digits as identify it: 99.9, which float32 holds as 99.900002."""
    return float(str(np.float32(value))) if kind == "float32" else value


def _may_be_code(value: float, sign: float, kind: str) -> bool:
    """Whether a number may be a code at this end: a negative one at the low end, else a positive one."""
    return sign * value < 0.0 and looks_like_code(value, kind)


def _ends(x: np.ndarray, sign: float, some: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The first values of sign x that may be codes and the next one, and in how many records each is.

    All of them are within the first ones of some rows, ascending.
    """
    most = some[: MOST + 1][-1] if some.size else np.inf
    values, counts = np.empty(0), np.empty(0, dtype=np.int64)
    for start, stop in blocks(x.size):
        part = sign * x[start:stop]
        first, times = np.unique(part[part <= most], return_counts=True)
        values, place = np.unique(np.append(values, first), return_inverse=True)
        counts = np.bincount(place, np.append(counts, times), values.size).astype(np.int64)
        values, counts = values[: MOST + 2], counts[: MOST + 2]
    ends = 0
    while ends < min(MOST, values.size - 1) and _may_be_code(sign * values[ends], sign, kind):
        ends += 1
    return values[: ends + 1], counts[: ends + 1]


def _stand_apart(values: np.ndarray, records: np.ndarray, k: int, *, lowest: bool) -> bool:
    """Whether the first k of ascending values are codes, for all that the others tell."""
    ends, values, coded, records = values[:k], values[k:], records[:k], records[k:]
    below = np.cumsum(records)
    if coded.max() < max(FEWEST, SHARE * below[-1]) or values.size < 2:
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
