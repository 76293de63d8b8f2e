"""Columns in clear as an audit examines them: as numbers, as labels, and as units.

All columns are examined, in the same rows whether they are in a frame or in a file. Columns that name units
(the number of a firm or of a household) are examined in all rows of some units, since a mean over part of a
unit says less than one over all of it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
HELD = 1 << 22  # rows of units held in memory to choose among units; if there are more, they are read again
LARGEST_UNIT = 1_000  # records; larger ones show no more than a column of categories
ALIKE, CERTAINTY = 0.1, 1.5  # of the variance between units, at least, and times its standard error
IN_NUMBERS, SOME_NUMBERS = 0.9, 0.1  # of the texts of a column that holds only numbers, or also labels
NUMBER = re.compile(r"[-+\u2212]?\d[\d.,'\u2019\u00a0\u202f]*(?:[eE][-+]?\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?(?=Z|[-+]\d{2}:?\d{2}|$)")
MICROSECONDS = 86_400e6  # of a day
FEW = 100  # values up to which a column may have each once by chance

Columns = dict[str, np.ndarray]
Coded = Iterable[tuple[np.ndarray, list[Any]]]  # parts of a column: codes, and the labels they stand for


class Clear(NamedTuple):
    """Columns in clear; the fields are named as those of `AuditInput`."""

    rows: np.ndarray
    clear: Columns
    labels: Columns
    units: dict[str, Unit]
    identifiers: tuple[str, ...] = ()
    sampled: bool = False


def columns_in_clear(names: Sequence[str], left: Collection[str]) -> list[str]:
    """The columns of a table except some, and except those that share a name."""
    count = Counter(names)
    return [name for name in names if name not in left and count[name] == 1]


def clear_columns(
    n: int,
    masked: Sequence[np.ndarray],
    sample: Callable[[np.ndarray], tuple[np.ndarray, Columns]],
    coded: Callable[[str], Coded],
) -> Clear:
    """Columns in clear beside masked ones of n rows.

    Parameters
    ----------
    n : int
    masked : sequence of ndarray of shape (n,)
        Originals of the columns to be masked.
    sample : callable
        Takes rows; returns these, or about as many from all over the table, with the columns in them.
    coded : callable
        Takes the name of a column; returns the whole column, part by part.
    """
    rows, columns = sample(in_stretches(n, ROWS))
    clear, labels = numbers_and_labels(columns)
    some, units = [x[rows] for x in masked], {}
    whole = {name: x for name, x in clear.items() if (x[~np.isnan(x)] % 1.0 == 0.0).all()}
    for name, values in {**whole, **labels}.items():
        if units_alike(_codes(values), some, n):
            units[name] = whole_units(lambda name=name: coded(name), rows)  # type: ignore[misc]
    identifiers = tuple(name for name, values in columns.items() if may_identify(values, rows))
    return Clear(rows, clear, labels, units, identifiers)


def clear_of_frame(frame: Any, names: Sequence[str], masked: Sequence[np.ndarray]) -> Clear:
    """Columns in clear of a data frame or a dict of columns."""

    def coded(name: str) -> Coded:
        code, labels = frames.groups(frames.table_column(frame, name), name, n)
        return [(code, [*labels, None])]

    n = masked[0].size
    return clear_columns(n, masked, lambda rows: (rows, some_rows(frame, names, rows)), coded)


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
        if values.dtype.kind in "fiub":
            if values.dtype.kind in "iu" and (np.abs(values.astype(np.float64)) > EXACT).any():
                labels[name] = np.unique(values, return_inverse=True)[1]
            else:
                numbers[name] = values.astype(np.float64)
        elif values.dtype.kind in "mM":
            times = values.astype(f"{values.dtype.kind}8[us]")
            numbers[name] = np.where(np.isnat(times), np.nan, times.astype(np.int64) / MICROSECONDS)
        else:
            try:
                code, distinct = frames.groups(values, name, values.size)
            except (TypeError, ValueError):  # lists, arrays and other values that are not labels
                continue
            in_numbers = _in_numbers(distinct)
            share = _share(in_numbers, np.bincount(code[code >= 0], minlength=len(distinct)))
            if share < IN_NUMBERS:
                labels[name] = code
            if share >= SOME_NUMBERS:
                numbers[name] = np.append(in_numbers, np.nan)[code]
    finite = {name: np.where(np.isfinite(x), x, np.nan) for name, x in numbers.items()}
    return finite, labels


def may_identify(values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a column has another text, or another whole number, in each of these rows of a table.

    Numbers of the rows themselves identify nobody. Dates and fractional numbers are measured, not assigned.
    """
    if values.dtype.kind in "fiu":
        present = np.isfinite(values)
        x = values[present]
        if x.size <= FEW or (x != np.rint(x)).any() or np.unique(x).size < x.size:
            return False
        return not _are_rows(x, rows[present])
    is_text = np.array([isinstance(value, str) for value in values.tolist()], dtype=bool)
    texts = values[is_text].tolist()
    if len(texts) <= FEW or len(set(texts)) < len(texts) or all(map(DATE.match, texts)):
        return False
    numbers = _numbers(texts)
    if np.isnan(numbers).any():
        return True
    return bool((numbers == np.rint(numbers)).all()) and not _are_rows(numbers, rows[is_text])


def _are_rows(numbers: np.ndarray, rows: np.ndarray) -> bool:
    return any(np.array_equal(numbers, rows + first) for first in (0, 1))


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


def whole_units(coded: Callable[[], Coded], rows: np.ndarray, most: int = ROWS) -> Unit:
    """All rows of the units that some rows belong to; only evenly spaced units if all have more than `most`
    rows. The column is read twice, or three times."""
    chosen: dict[Any, int] = {}
    for first, code, labels in _parts(coded()):
        here = rows[(rows >= first) & (rows < first + code.size)] - first
        for k in dict.fromkeys(code[here].tolist()):
            if k >= 0 and not _missing(labels[k]):
                chosen.setdefault(labels[k], len(chosen))
    size, numbers, places = 0, [], []
    for number, place in _rows_of(coded(), chosen):
        size += place.size
        if size <= HELD:
            numbers.append(number)
            places.append(place)
    if size > most:
        kept = evenly_spaced(len(chosen), max(1, int(len(chosen) * most / size)))
        again = zip(numbers, places, strict=True) if size <= HELD else _rows_of(coded(), chosen)
        inside = ((number, place, np.isin(number, kept)) for number, place in again)
        numbers, places = zip(*((number[some], place[some]) for number, place, some in inside), strict=True)
    return Unit(np.concatenate(places), np.unique(np.concatenate(numbers), return_inverse=True)[1])


def _rows_of(coded: Coded, units: dict[Any, int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The numbers of units, part by part, and the rows that belong to them."""
    for first, code, labels in _parts(coded):
        number = np.array([-1 if _missing(label) else units.get(label, -1) for label in labels])[code]
        here = np.flatnonzero(number >= 0)
        yield number[here], first + here


def _parts(coded: Coded) -> Iterator[tuple[int, np.ndarray, list[Any]]]:
    first = 0
    for code, labels in coded:
        yield first, code, labels
        first += code.size


def _codes(values: np.ndarray) -> np.ndarray:
    """Labels, or equal numbers, as numbers from 0; -1 for missing ones."""
    if values.dtype.kind == "i":
        return values
    code = np.full(values.size, -1)
    present = ~np.isnan(values)
    code[present] = np.unique(values[present], return_inverse=True)[1]
    return code


def _missing(label: Any) -> bool:
    return label is None or label != label


def _in_numbers(distinct: list[Any]) -> np.ndarray:
    """Labels as dates if most are, else as numbers; NaN if a label holds no number, or several."""
    if all(isinstance(label, int | float | Decimal) for label in distinct):
        return np.array([_number(label) for label in distinct])
    texts = [str(label).strip() for label in distinct]
    dates = _dates(texts)
    return dates if np.isnan(dates).mean() < 0.5 else _numbers(texts)


def _number(label: Any) -> float:
    try:
        return float(label)
    except OverflowError:  # a whole number of more than 308 digits
        return np.inf if label > 0 else -np.inf


def _share(in_numbers: np.ndarray, counts: np.ndarray) -> float:
    """The share of the records with a label whose label is a number; `counts` is by label."""
    return float(counts[~np.isnan(in_numbers)].sum() / counts.sum()) if counts.sum() else 1.0


def _dates(texts: list[str]) -> np.ndarray:
    """Days since 1970 for dates in ISO 8601 format; NaN for other texts."""
    days = np.full(len(texts), np.nan)
    for k, text in enumerate(texts):
        if date := DATE.match(text):
            try:
                days[k] = np.datetime64(date.group(), "us").astype(np.int64) / MICROSECONDS
            except ValueError:  # the 31st of February
                continue
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
    comma = sum(map(_decimal_comma, alone)) > sum(map(_decimal_point, alone))
    mark, other = (",", ".") if comma else (".", ",")
    values = np.full(len(texts), np.nan)
    for k, text in enumerate(alone):
        plain = re.sub(r"['\u2019\u00a0\u202f]", "", text.replace(other, "")).replace("\u2212", "-")
        if plain.count(mark) <= 1 and text:
            values[k] = float(plain.replace(mark, "."))
    return values


def _decimal_comma(text: str) -> bool:
    return bool(re.search(r",\d+$", text)) and text.count(",") == 1 and not re.search(r",\d{3}$", text)


def _decimal_point(text: str) -> bool:
    return bool(re.search(r"\.\d+$", text)) and text.count(".") == 1 and not re.search(r"\.\d{3}$", text)
