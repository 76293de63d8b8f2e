"""The table before it is masked: columns to be masked together, and columns left in clear.

Columns in clear are looked at in some rows from all over the table, chosen by their content, so
that the same table in another order gives the same verdict. Where columns tell units, the firms,
households or persons that repeat, whole ones are looked at, since what a unit tells is told by all
of its records together. Where the order of the rows tells of values, stretches of rows are.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from condmask import frame_rows, frames
from condmask._blocks import in_stretches
from condmask.disclosure.table.encode import Encoded, column_of, encoded
from condmask.disclosure.table.groups import groups_of, ranked
from condmask.disclosure.table.neighbours import standard
from condmask.disclosure.table.order import order_tells

MAX_EXAMINED_ROWS = 16_384  # in which columns in clear are looked at
MAX_VALUES_UNIQUE_BY_CHANCE = 100  # values up to which a column may have each once by chance
DATE_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)  # of the mixing function of splitmix64
SHIFT = np.uint64(31)


class Clear(NamedTuple):
    """Columns left in clear, in some rows.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Numbers of the rows, in the order of their content.
    content : ndarray of uint64 of shape (m,)
        A hash of the content of each.
    encoded : Encoded
        The columns, as attackers take them.
    names : tuple of str
    identifiers : tuple of str
        Columns with another text or whole number in each record, which may be names.
    """

    rows: np.ndarray
    content: np.ndarray = np.empty(0, np.uint64)
    encoded: Encoded = Encoded(0)
    names: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()

    @property
    def dates(self) -> set[str]:
        """Return the columns of dates, of times or of yes and no, which cannot be masked."""
        return self.encoded.dates

    def without(self, names: Collection[str]) -> "Clear":
        """Return all but some columns."""
        rest = tuple(name for name in self.names if name not in names)
        return self._replace(encoded=self.encoded.without(names), names=rest)

    def unit_columns(self, masked: Mapping[str, np.ndarray]) -> list[str]:
        """Return the columns that tell units by themselves, the most alike first."""
        names = []
        for x in masked.values():
            z = standard(x[self.rows])
            units = ranked(groups_of(self.encoded), z, self.encoded).units
            names += [unit.name for unit in units if unit.name in self.names]
        return list(dict.fromkeys(names))


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

    values: dict[str, np.ndarray]
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


def clear_of(frame: Any, masked: Mapping[str, np.ndarray]) -> Clear | None:
    """Return the columns in clear of a data frame or a dict of columns, beside those that are
    masked; None where there is one masked column alone."""
    frame = frame_rows.with_index(frame)
    names = [name for name in frames.column_names(frame) if name not in masked]
    if not names and len(masked) == 1:
        return None
    n = next(iter(masked.values())).size
    columns = {name: _array(frames.table_column(frame, name), name) for name in names}
    content = _content({**columns, **masked}, n)
    rows = np.argsort(content, kind="stable")[:MAX_EXAMINED_ROWS]
    clear = _in_rows(columns, rows, content)
    if n <= MAX_EXAMINED_ROWS:
        return clear
    return _in_rows(columns, _whole_units(columns, clear, masked, content), content)


def glimpse_of(frame: Any, masked: Mapping[str, np.ndarray]) -> Clear | None:
    """Look for nothing but columns in clear that may name persons; None where `clear_of` gives
    None."""
    frame = frame_rows.with_index(frame)
    names = [name for name in frames.column_names(frame) if name not in masked]
    if not names and len(masked) == 1:
        return None
    rows = in_stretches(next(iter(masked.values())).size, MAX_EXAMINED_ROWS)
    columns = {name: _without_text(in_rows(frame, name, rows)) for name in names}
    return Clear(rows, names=tuple(names), identifiers=_identifiers(columns, rows))


def _in_rows(columns: Mapping[str, np.ndarray], rows: np.ndarray, content: np.ndarray) -> Clear:
    some = {name: values[rows] for name, values in columns.items()}
    identifiers = _identifiers(some, rows)
    return Clear(rows, content[rows], encoded(some, rows.size), tuple(columns), identifiers)


def _identifiers(columns: Mapping[str, np.ndarray], rows: np.ndarray) -> tuple[str, ...]:
    return tuple(name for name, column in columns.items() if may_identify(column, rows))


def _array(values: Any, name: str) -> np.ndarray:
    """Return a column as an array of one dimension."""
    column = np.asarray(frames.labels(values, name))
    return _without_text(column) if column.ndim == 1 else frames.objects(list(column))


def _without_text(column: np.ndarray) -> np.ndarray:
    """Return a column of texts that are all numbers, as CSV has them, as numbers, so that the
    format of a file does not change its audit; others, and codes like 007, as they are."""
    first = next((value for value in column.tolist() if value), None)
    if column.dtype.kind not in "OUT" or not isinstance(first, str) or not first[-1].isdecimal():
        return column
    missing = np.array([value is None or value in ("", np.nan) for value in column.tolist()])
    texts = column[~missing].astype(str)
    if any(text[:1] == "0" and text[1:2].isdecimal() for text in texts.tolist()):
        return column
    numbers = np.full(column.size, np.nan)
    try:
        numbers[~missing] = texts.astype(np.float64)
    except ValueError:
        return column
    return numbers


def _content(columns: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Return a hash of each row, which neither the order of the rows nor that of the columns
    changes."""
    total = np.zeros(n, dtype=np.uint64)
    for name, values in columns.items():
        total += _mixed(_bits(values) ^ np.uint64(crc32(str(name).encode())))
    return _mixed(total)


def _bits(values: np.ndarray) -> np.ndarray:
    """Return 64 bits by which equal values of a column agree."""
    if values.dtype.kind in "fiub":
        return (values.astype(np.float64) + 0.0).view(np.uint64)
    if values.dtype.kind in "mM":
        return values.astype(np.int64).view(np.uint64)
    of_text: dict[str, int] = {}
    texts = map(str, values.tolist())
    codes = [of_text.setdefault(text, crc32(text.encode())) for text in texts]
    return np.array(codes, dtype=np.uint64)


def _mixed(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> SHIFT)) * MULTIPLIER
    bits = (bits ^ (bits >> SHIFT)) * MULTIPLIER
    return np.asarray(bits ^ (bits >> SHIFT))


def _whole_units(
    columns: Mapping[str, np.ndarray],
    clear: Clear,
    masked: Mapping[str, np.ndarray],
    content: np.ndarray,
) -> np.ndarray:
    """Return all rows of some of the units that columns tell, or stretches of rows where their
    order tells of values; else the rows as they are."""
    n = content.size
    stretches = in_stretches(n, MAX_EXAMINED_ROWS)
    some = Clear(
        stretches, encoded=encoded({k: v[stretches] for k, v in columns.items()}, stretches.size)
    )
    for x in masked.values():
        z = standard(x[stretches])
        if order_tells(z, np.arange(stretches.size), some.encoded):
            return stretches
    for x in masked.values():
        groups = groups_of(clear.encoded)
        for unit in ranked(groups, standard(x[clear.rows]), clear.encoded).units:
            sources = [column_of(part) for part in re.split(r" x | -> | and |, chain", unit.name)]
            needed = {name: columns[name] for name in sources if name in columns}
            everywhere = groups_of(encoded(needed, n))
            code = next((each.codes for each in everywhere if each.name == unit.name), None)
            if code is not None:
                least = np.full(code.max() + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
                np.minimum.at(least, code, content)
                order = np.lexsort((content, least[code]))
                return order[:MAX_EXAMINED_ROWS]
    return clear.rows


def in_rows(frame: Any, name: str, rows: np.ndarray) -> np.ndarray:
    """Return a column in some rows."""
    values = frames.table_column(frame, name)
    series = frames.wrapped(values, series_only=True)
    if series is None:
        column = np.asarray(frames.labels(values, name)[rows])
        return column if column.ndim == 1 else frames.objects(list(column))
    # of pandas and Arrow, of which old narwhals takes no rows
    by_place = getattr(values, "take", None)
    try:
        return frames.labels(by_place(rows) if by_place else series[rows].to_native(), name)
    except NotImplementedError:  # views and runs of Arrow, which it takes one by one
        return frames.objects([series.item(row) for row in rows.tolist()])


def may_identify(values: np.ndarray, rows: np.ndarray) -> bool:
    """Return whether a column has another text, or another whole number, in each of these rows of
    a table.

    Numbers of the rows themselves identify nobody. Dates and fractional numbers are measured, not
    assigned.
    """
    numeric = values.dtype.kind in "fiu"
    present = (
        np.isfinite(values) if numeric else np.array([isinstance(v, str) for v in values.tolist()])
    )
    found: Sequence[Any] = values[present].tolist()
    if len(found) <= MAX_VALUES_UNIQUE_BY_CHANCE or len(set(found)) < len(found):
        return False
    if not numeric:
        return not all(map(DATE_TEXT.match, found)) and not _measured(found)
    numbers = values[present].astype(np.float64)
    if (numbers != np.rint(numbers)).any():
        return False
    return not any(np.array_equal(numbers, rows[present] + first) for first in (0, 1))


def _measured(texts: Sequence[str]) -> bool:
    """Return whether texts are fractional numbers."""
    try:
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return False
    return bool((numbers != np.rint(numbers)).any())
