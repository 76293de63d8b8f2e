"""A table before it is masked, as an attacker sees it: columns to be masked, and those left in
clear.

Columns in clear are looked at in some rows from all over the table: as numbers (also in text, and
dates), as labels, and as units, the firms, households or persons that repeat. Where there are
units, whole ones are looked at, since what a unit tells is told by all of its records together.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from condmask import frame_rows, frames
from condmask._blocks import evenly_spaced, in_stretches
from condmask._checks import LARGEST_EXACT_INTEGER as EXACT
from condmask.disclosure.units import Columns, candidates, units_of
from condmask.labels import groups

MAX_EXAMINED_ROWS = 16_384  # in which columns in clear are looked at
SOME_NUMBERS = 0.1
IN_NUMBERS = 0.9  # of the texts of a column: it holds numbers, or nothing else
EXAMINED_PARTS = (0, 1, 2, 3, -1)  # of a text that are looked at
PART_OF = " (part "  # of a text
MAX_VALUES_UNIQUE_BY_CHANCE = 100  # values up to which a column may have each once by chance
NUMBER_TEXT = re.compile(r"[-+\u2212]?\d[\d.,'\u00a0\u202f\u2019]*(?:[eE][-+]?\d+)?")
DATE_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
TEXT_PART = re.compile(r"[^\W_]+")  # of a text: what stands between marks
ORDER = "the order of the rows"
DAY = 86_400e6  # microseconds


class Clear(NamedTuple):
    """Columns left in clear, in some rows.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Ascending numbers of the rows.
    numbers : dict of str to ndarray of shape (m,)
        Columns as numbers, NaN where there is none.
    labels : dict of str to ndarray of shape (m,)
        Columns, and first parts of texts, as numbers of labels, below 0 for missing ones.
    units : dict of str to ndarray of shape (m,)
        Which unit a record belongs to, below 0 for none, the most alike first.
    identifiers : tuple of str
        Columns with another text or whole number in each record, which may be names.
    dates : tuple of str
        Columns of dates, of times or of yes and no: numbers for who learns from them, which cannot
        be masked.
    """

    rows: np.ndarray
    numbers: Columns = {}  # noqa: RUF012
    labels: Columns = {}  # noqa: RUF012
    units: Columns = {}  # noqa: RUF012
    identifiers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()

    def beside(self, x: np.ndarray, by: int) -> np.ndarray:
        """What stands so many rows before (after, if below 0), NaN where that row is not among
        these."""
        moved = np.roll(x, by)
        moved[self.rows - np.roll(self.rows, by) != by] = np.nan
        return moved

    def without(
        self, names: Collection[str], masked: Columns, order: Any = slice(None)
    ) -> "Clear":
        """All but some columns, with the units that the others tell, in the rows as they are or
        reordered."""
        numbers, labels = (
            {name: x[order] for name, x in each.items() if column_of(name) not in names}
            for each in (self.numbers, self.labels)
        )
        units = units_of(numbers, labels, masked, self.rows)
        return self._replace(numbers=numbers, labels=labels, units=units)


class Table(NamedTuple):
    """Columns to be masked together, and what is released beside them.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n,)
        Originals, NaN where one is missing.
    pool : ndarray of shape (n,) or None
        The donor pool of each record, below 0 for none; None if all form one.
    clear : Clear or None
        None where nothing is left in clear.
    scope : {"whole", "part", "sample"}
        Whether this is all of a table; or a part of a long one, or some rows from all of its
        parts.
    """

    values: Columns
    pool: np.ndarray | None = None
    clear: Clear | None = None
    scope: str = "whole"

    @property
    def n(self) -> int:
        """The number of records."""
        return int(next(iter(self.values.values())).size)

    @property
    def code(self) -> np.ndarray:
        """The number of each record's donor pool, below 0 where it has no value."""
        present = np.logical_or.reduce([~np.isnan(x) for x in self.values.values()])
        return np.where(present, 0 if self.pool is None else self.pool, -1)


def column_of(name: str) -> str:
    """The column that numbers and labels are made of."""
    return name.partition(PART_OF)[0]


def clear_of(frame: Any, masked: Mapping[str, np.ndarray]) -> Clear | None:
    """Columns in clear of a data frame or a dict of columns, beside those that are masked; None
    where there is one masked column alone."""
    frame = frame_rows.with_index(frame)
    n = next(iter(masked.values())).size
    names = [name for name in frames.column_names(frame) if name not in masked]
    if not names and len(masked) == 1:
        return None
    found = _looked_at(frame, names, in_stretches(n, MAX_EXAMINED_ROWS), masked)
    by_columns = [unit for unit in found.units if not unit.startswith("rows ")]
    rows = (
        _whole_units(frame, names, by_columns[0], found.rows, n)
        if n > MAX_EXAMINED_ROWS and by_columns
        else found.rows
    )
    return found if rows is found.rows else _looked_at(frame, names, rows, masked)


def glimpse_of(frame: Any, masked: Mapping[str, np.ndarray]) -> Clear | None:
    """Look for nothing but columns in clear that may name persons; None where `clear_of` gives
    None."""
    frame = frame_rows.with_index(frame)
    names = [name for name in frames.column_names(frame) if name not in masked]
    if not names and len(masked) == 1:
        return None
    rows = in_stretches(next(iter(masked.values())).size, MAX_EXAMINED_ROWS)
    return Clear(
        rows, identifiers=_identifiers({name: in_rows(frame, name, rows) for name in names}, rows)
    )


def _identifiers(columns: Columns, rows: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, column in columns.items() if may_identify(column, rows))


def _looked_at(
    frame: Any, names: Sequence[str], rows: np.ndarray, masked: Mapping[str, np.ndarray]
) -> Clear:
    columns = {name: in_rows(frame, name, rows) for name in names}
    numbers, labels = numbers_and_labels(columns)
    units = units_of(numbers, labels, {name: x[rows] for name, x in masked.items()}, rows)
    identifiers = _identifiers(columns, rows)
    dates = tuple(name for name, column in columns.items() if is_date(column))
    return Clear(rows, numbers, labels, units, identifiers, dates)


def _whole_units(
    frame: Any, names: Sequence[str], unit: str, rows: np.ndarray, n: int
) -> np.ndarray:
    """All rows of some of the units that a column (or two) tell, about as many as `ROWS`; the same
    rows where it tells none in all rows, as a number that stands twice names nobody."""
    told = {name: in_rows(frame, name, np.arange(n)) for name in names if name in unit}
    code = candidates(*numbers_and_labels(told)).get(unit)
    if code is None:
        return rows
    size = np.bincount(code[code >= 0])
    chosen = np.unique(code[rows])
    chosen = chosen[chosen >= 0]
    kept = evenly_spaced(
        chosen.size, max(1, int(MAX_EXAMINED_ROWS / max(size[chosen].mean(), 1.0)))
    )
    return np.flatnonzero(np.isin(code, chosen[kept]))


def in_rows(frame: Any, name: str, rows: np.ndarray) -> np.ndarray:
    """A column in some rows."""
    values = frames.table_column(frame, name)
    series = frames.wrapped(values, series_only=True)
    if series is None:
        column = np.asarray(frames.labels(values, name)[rows])
        return column if column.ndim == 1 else _texts(column)
    # of pandas and Arrow, of which old narwhals takes no rows
    by_place = getattr(values, "take", None)
    try:
        return frames.labels(by_place(rows) if by_place else series[rows].to_native(), name)
    except NotImplementedError:  # views and runs of Arrow, which it takes one by one
        return frames.objects([series.item(row) for row in rows.tolist()])


def numbers_and_labels(columns: Columns) -> tuple[Columns, Columns]:
    """Columns as numbers and as labels, or as both: texts that hold numbers, and the first parts
    of texts."""
    numbers = {}
    labels = {}
    for name, values in columns.items():
        kind = values.dtype.kind
        if kind in "iu" and (np.abs(values.astype(np.float64)) > EXACT).any():
            labels[name] = np.unique(values, return_inverse=True)[1]
        elif kind in "fiub":
            numbers[name] = np.where(np.isfinite(values), values, np.nan).astype(np.float64)
        elif kind in "mM":
            times = values.astype(f"{kind}8[us]")
            numbers[name] = np.where(np.isnat(times), np.nan, times.astype(np.int64) / DAY)
        else:
            try:
                code, distinct = groups(values, name, values.size)
            except (TypeError, ValueError):  # lists, records and other values that are no labels
                code, distinct = groups(_texts(values), name, values.size)
            _add_text(numbers, labels, name, code, [str(label).strip() for label in distinct])
        if name in numbers and is_date(values) and (numbers[name] % 1.0 > 0.0).any():
            numbers[f"{name}{PART_OF}day)"] = np.floor(numbers[name])
    return numbers, labels


def _texts(values: np.ndarray) -> np.ndarray:
    """What records hold that is no label, as texts."""
    return frames.objects([str(value) for value in values.tolist()])


def _add_text(
    numbers: Columns, labels: Columns, name: str, code: np.ndarray, distinct: list[str]
) -> None:
    read = np.append(numbers_in(distinct), np.nan)[code]
    share = np.mean(np.isfinite(read[code >= 0])) if (code >= 0).any() else 0.0
    if share >= SOME_NUMBERS:
        numbers[name] = read
    plain = (
        NUMBER_TEXT.fullmatch(text) or DATE_TEXT.match(text)
        for text in distinct[:MAX_VALUES_UNIQUE_BY_CHANCE]
    )
    if share < IN_NUMBERS or not all(plain):
        labels[name] = code
        split = [TEXT_PART.findall(text) or [text] for text in distinct]
        for k in EXAMINED_PARTS[: max(map(len, split), default=1)]:
            part = [parts[k] if k < len(parts) else "" for parts in split]
            named = f"{name}{PART_OF}{k + 1 or 'at the end'})"
            if 1 < len(set(part)) < len(distinct):
                labels[named] = np.append(np.unique(part, return_inverse=True)[1], -1)[code]
            if sum(map(str.isdecimal, part)) > IN_NUMBERS * len(part):
                numbers[named] = np.append(numbers_in(part), np.nan)[code]


def numbers_in(texts: Sequence[str]) -> np.ndarray:
    """The date in each text (days since 1970), or its one number; NaN where there is none, or
    several.

    A comma is the decimal mark where it is the last of two marks, or alone before other than three
    digits.
    """
    with suppress(ValueError):  # plain numbers, at once
        read = np.array(texts, dtype=np.float64)
        return np.where(np.isfinite(read), read, np.nan)
    read = np.full(len(texts), np.nan)
    for k, text in enumerate(texts):
        found = NUMBER_TEXT.findall(text)
        with suppress(ValueError):  # the 31st of February, 1.2.3
            if date := DATE_TEXT.match(text):
                read[k] = np.datetime64(date.group(), "us").astype(np.int64) / DAY
            elif len(found) == 1:
                read[k] = float(_plain(found[0]))
    return read


def _plain(number: str) -> str:
    """A number as Python writes it."""
    text = re.sub("['\u00a0\u202f\u2019]", "", number).replace("\u2212", "-").rstrip(".,")
    comma = text.rfind(",")
    point = text.rfind(".")
    whole, _, places = text.rpartition(",")
    if comma > point and ("." in whole or (text.count(",") == 1 and len(places) != 3)):
        return whole.replace(".", "") + "." + places
    return text.replace(",", "")


def is_date(values: np.ndarray) -> bool:
    """Whether a column holds dates, also in text, times, or yes and no."""
    return values.dtype.kind in "bm" or any(
        map(DATE_TEXT.match, map(str, values[:MAX_VALUES_UNIQUE_BY_CHANCE]))
    )


def may_identify(values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a column has another text, or another whole number, in each of these rows of a
    table.

    Numbers of the rows themselves identify nobody. Dates and fractional numbers are measured, not
    assigned.
    """
    numeric = values.dtype.kind in "fiu"
    present = (
        np.isfinite(values) if numeric else np.array([isinstance(v, str) for v in values.tolist()])
    )
    found = values[present].tolist()
    if (
        len(found) <= MAX_VALUES_UNIQUE_BY_CHANCE
        or len(set(found)) < len(found)
        or (not numeric and all(map(DATE_TEXT.match, found)))
    ):
        return False
    numbers = values[present].astype(np.float64) if numeric else numbers_in(found)
    measured = np.isfinite(numbers).all() and (numbers != np.rint(numbers)).any()
    return not (
        measured or any(np.array_equal(numbers, rows[present] + first) for first in (0, 1))
    )
