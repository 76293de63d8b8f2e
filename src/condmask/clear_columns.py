"""Columns in clear as an audit examines them: as numbers, as labels, and as units.

All columns are examined, in the same rows whether they are in a frame or in a file. Columns that name units
(the number of a firm or of a household) are examined in all rows of some units, since a mean over part of a
unit says less than one over all of it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask._blocks import evenly_spaced, in_stretches
from condmask._checks import LARGEST_EXACT_INTEGER as EXACT
from condmask.audit_input import Unit
from condmask.correlations import intraclass, ranks

ROWS = 1 << 15  # of a table, in which columns in clear are examined
LARGEST_UNIT = 1_000  # records; larger ones show no more than a column of categories
ALIKE, CERTAINTY = 0.1, 1.5  # of the variance between units, at least, and times its standard error
IN_NUMBERS, SOME_NUMBERS = 0.9, 0.1  # of the texts of a column that holds only numbers, or also labels
NUMBER = re.compile(r"[-+\u2212]?\d[\d.,'\u2019\u00a0\u202f]*(?:[eE][-+]?\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?(?=Z|[-+]\d{2}:?\d{2}|$)")
MICROSECONDS = 86_400e6  # of a day
FEW = 100  # values up to which a column may have each once by chance

Columns = dict[str, np.ndarray]


class Clear(NamedTuple):
    """Columns in clear; the fields are named as those of `AuditInput`."""

    rows: np.ndarray
    clear: Columns
    labels: Columns
    units: dict[str, Unit]
    identifiers: tuple[str, ...] = ()


def columns_in_clear(names: Sequence[str], left: Collection[str]) -> list[str]:
    """The columns of a table except some, and except those that share a name."""
    count = Counter(names)
    return [name for name in names if name not in left and count[name] == 1]


def clear_columns(
    n: int, masked: Sequence[np.ndarray], rows: np.ndarray, columns: Columns, coded: Callable[[str], Any]
) -> Clear:
    """Columns in clear beside masked ones of n rows.

    Parameters
    ----------
    n : int
    masked : sequence of ndarray of shape (n,)
        Originals of the columns to be masked.
    rows : ndarray of shape (m,)
        Rows from all over the table.
    columns : dict of str to ndarray of shape (m,)
        The columns in clear in these rows.
    coded : callable
        Takes the name of a column; returns it whole, as labels of n records.
    """
    clear, labels = numbers_and_labels(columns)
    some, units = [x[rows] for x in masked], {}
    whole = {name: x for name, x in clear.items() if (x[~np.isnan(x)] % 1.0 == 0.0).all()}
    for name, values in {**whole, **labels}.items():
        if units_alike(_codes(values), some, n):
            units[name] = whole_units(frames.groups(coded(name), name, n).code, rows)
    identifiers = tuple(name for name, values in columns.items() if may_identify(values, rows))
    return Clear(rows, clear, labels, units, identifiers)


def clear_of_frame(frame: Any, names: Sequence[str], masked: Sequence[np.ndarray]) -> Clear:
    """Columns in clear of a data frame or a dict of columns."""
    n = masked[0].size
    rows = in_stretches(n, ROWS)
    some = some_rows(frame, names, rows)
    return clear_columns(n, masked, rows, some, lambda name: frames.table_column(frame, name))


def some_rows(frame: Any, names: Sequence[str], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a data frame or a dict in some rows; what is missing there becomes NaN, NaT or None."""
    columns = {name: _in_rows(frames.table_column(frame, name), name, rows) for name in names}
    return {name: x for name, x in columns.items() if x.ndim == 1}


def _in_rows(values: Any, name: str, rows: np.ndarray) -> np.ndarray:
    """A column in some rows."""
    if not frames.is_series(values):
        return np.asarray(frames.labels(values, name)[rows])
    import narwhals as nw

    series = nw.from_native(values, series_only=True)
    by_place = getattr(values, "take", None)  # of pandas and Arrow
    try:
        return frames.labels(by_place(rows) if by_place else series[rows].to_native(), name)
    except NotImplementedError:  # views and runs of Arrow, which it takes one by one
        return frames.objects([series.item(row) for row in rows.tolist()])


def numbers_and_labels(columns: Columns) -> tuple[Columns, Columns]:
    """Columns that hold numbers (also as text) as numbers, times as days since 1970, others as labels.

    Infinite numbers count as missing. A column of texts some of which are numbers is returned as both.
    """
    numbers, labels = {}, {}
    for name, values in columns.items():
        kind = values.dtype.kind
        if kind in "iu" and (np.abs(values.astype(np.float64)) > EXACT).any():
            labels[name] = np.unique(values, return_inverse=True)[1]
        elif kind in "fiub":
            numbers[name] = values.astype(np.float64)
        elif kind in "mM":
            times = values.astype(f"{kind}8[us]")
            numbers[name] = np.where(np.isnat(times), np.nan, times.astype(np.int64) / MICROSECONDS)
        else:
            with suppress(TypeError, ValueError, OverflowError):  # numbers alone are told at once
                read = values.astype(np.float64)
                if np.isfinite(read).all():
                    numbers[name] = read
                    continue
            try:
                code, distinct = frames.groups(values, name, values.size)
            except (TypeError, ValueError):  # lists, arrays and other values that are not labels
                continue
            read, present = np.append(_in_numbers(distinct), np.nan)[code], code >= 0
            share = np.mean(~np.isnan(read[present])) if present.any() else 1.0
            if share < IN_NUMBERS:
                labels[name] = code
            if share >= SOME_NUMBERS:
                numbers[name] = read
    finite = {name: np.where(np.isfinite(x), x, np.nan) for name, x in numbers.items()}
    return finite, labels


def may_identify(values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a column has another text, or another whole number, in each of these rows of a table.

    Numbers of the rows themselves identify nobody. Dates and fractional numbers are measured, not assigned.
    """
    numeric = values.dtype.kind in "fiu"
    is_text = (isinstance(value, str) for value in values.tolist())
    present = np.isfinite(values) if numeric else np.fromiter(is_text, bool, values.size)
    found = values[present].tolist()
    if len(found) <= FEW or len(set(found)) < len(found):
        return False
    if not numeric and all(map(DATE.match, found)):
        return False
    numbers = values[present] if numeric else _numbers(found)
    if np.isnan(numbers).any():
        return True
    are_rows = any(np.array_equal(numbers, rows[present] + first) for first in (0, 1))
    return bool((numbers == np.rint(numbers)).all()) and not are_rows


def units_alike(codes: np.ndarray, masked: Sequence[np.ndarray], n: int) -> bool:
    """Whether few records of a table of n rows share a label, and these are alike in a masked column.

    Measured by the intraclass correlation of ranks.
    """
    sizes = np.bincount(codes[codes >= 0])
    units = np.count_nonzero(sizes)
    most = 16 + LARGEST_UNIT * codes.size / max(n, 1)  # in the rows examined
    if units < 2 or sizes.sum() == units or sizes.sum() > most * units:
        return False
    for x in masked:
        present = (codes >= 0) & ~np.isnan(x)
        code = codes[present]
        freedom = code.size - np.unique(code).size
        if freedom and intraclass(ranks(x[present]), code) > max(ALIKE, CERTAINTY / np.sqrt(freedom)):
            return True
    return False


def whole_units(code: np.ndarray, rows: np.ndarray, most: int = ROWS) -> Unit:
    """All rows of the units that some rows belong to; only evenly spaced units if all have more than `most`
    rows. The units of a column are numbered by `code`, below 0 where there is none."""
    units = [unit for unit in dict.fromkeys(code[rows].tolist()) if unit >= 0]
    number = np.full(code.max() + 2, -1)  # the last one of -1
    number[units] = np.arange(len(units))
    of_rows = number[code]
    places = np.flatnonzero(of_rows >= 0)
    if places.size > most:
        kept = evenly_spaced(len(units), max(1, int(len(units) * most / places.size)))
        places = np.flatnonzero(np.isin(of_rows, kept))
    return Unit(places, np.unique(of_rows[places], return_inverse=True)[1])


def _codes(values: np.ndarray) -> np.ndarray:
    """Labels, or equal numbers, as numbers from 0; -1 for missing ones."""
    if values.dtype.kind == "i":
        return values
    return np.where(np.isnan(values), -1, np.unique(values, return_inverse=True)[1])


def _in_numbers(distinct: list[Any]) -> np.ndarray:
    """Labels as dates if most are, else as numbers; NaN if a label holds no number, or several."""
    if all(isinstance(label, int | float | Decimal) for label in distinct):
        return np.array([_number(label) for label in distinct])
    texts = [str(label).strip() for label in distinct]
    dates = _dates(texts)
    return dates if np.isnan(dates).mean() < 0.5 else _numbers(texts)


def _number(label: Any) -> float:
    """A number; infinite, thus missing, if it has more than 308 digits."""
    with suppress(OverflowError):
        return float(label)
    return np.inf


def _dates(texts: list[str]) -> np.ndarray:
    """Days since 1970 for dates in ISO 8601 format; NaN for other texts."""
    days = np.full(len(texts), np.nan)
    for k, date in enumerate(map(DATE.match, texts)):
        with suppress(ValueError):  # the 31st of February
            if date:
                days[k] = np.datetime64(date.group(), "us").astype(np.int64) / MICROSECONDS
    return days


def _numbers(texts: list[str]) -> np.ndarray:
    """The number in each text, whatever precedes or follows it; NaN if there is none, or several.

    A mark that occurs once, and not before exactly three digits, is the decimal mark, and so is the last of
    several kinds. If this leaves it open, the point is the decimal mark.
    """
    with suppress(ValueError):
        read = np.array(list(map(float, texts)))
        if np.isfinite(read).all():
            return read
    matches = [NUMBER.findall(text) for text in texts]
    alone = [match[0].rstrip(".,'") if len(match) == 1 else "" for match in matches]
    mark, other = (",", ".") if _decimals(alone, ",") > _decimals(alone, ".") else (".", ",")
    written = str.maketrans(mark + "\u2212", ".-", other + "'\u2019\u00a0\u202f")
    plain = [text.translate(written) for text in alone]
    return np.array([float(text) if text and text.count(".") <= 1 else np.nan for text in plain])


def _decimals(texts: list[str], mark: str) -> int:
    """How many numbers have this decimal mark for sure: once, and not before exactly three digits."""
    sure = re.compile(rf"[^{mark}]*[{mark}](?!\d{{3}}$)\d+")
    return sum(bool(sure.fullmatch(text)) for text in texts)
