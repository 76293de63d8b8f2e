"""Encode columns in clear once, by no knowledge of their meaning: as numbers, codes and words.

A number is itself, a code if it takes few values, and digits and leading or trailing parts if it
may be an identifier. A text is a code, its tokens, the numbers in it, and the words and pairs of
words; one that is a date in most rows counts as a date. A date is a number of days and its parts,
a list its elements and their sum. Nothing depends on the order of the rows.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from condmask.disclosure.table.texts import NUMBER, TOKEN, as_dates, as_numbers

ORDER = "the order of the rows"  # the name of its numbers
PART_OF = " (part "  # of a column, in the name of what is read from it
DAY = 86_400.0  # seconds
MAX_LEVELS = 2_000  # of a text that are indicators
MAX_NUMBER_LEVELS = 64  # of a number that are indicators
MAX_GROUPS_SHARE = 0.9  # of the records, up to which labels put some side by side
MIN_IDENTIFIER = 1_000
MIN_IDENTIFIER_VALUES = 300
MAX_DIGITS = 12
MIN_SHARE = 0.2  # of the records that have a number in a text
MAX_KEY_TOKENS = 4  # of a text that may be an identifier
MAX_TOKENS = 6  # of a text, each by its place
MAX_NUMBERS = 4  # of a text, each by its place
MAX_ELEMENTS = 40  # of a list
MAX_WORDS = 1_500
MIN_WORD_RECORDS = 5
MIN_WORD_TEXTS = 30  # distinct texts, below which words say no more than the texts
LARGEST_EXACT = 2.0**53

Columns = dict[str, np.ndarray]
Part = TypeVar("Part")


@dataclass(eq=False)
class Encoded:
    """Columns in clear of n records, as learners take them.

    Attributes
    ----------
    n : int
    numbers : dict of str to ndarray of float
        NaN where one is missing.
    codes : dict of str to ndarray of int
        Few levels, which may be indicators; -1 where one is missing.
    keys : dict of str to ndarray of int
        More levels, or parts of identifiers, which only put records side by side.
    words : dict of str to sparse array
        How often each word and pair of words occurs.
    labels : dict of str to sequence
        The texts or numbers that codes stand for.
    dates : set of str
        Columns of dates, of times or of yes and no.
    attacks : list
        The attacks that were prepared from these columns, for those who ask again.
    """

    n: int
    numbers: Columns = field(default_factory=dict)
    codes: Columns = field(default_factory=dict)
    keys: Columns = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Sequence[object]] = field(default_factory=dict)
    dates: set[str] = field(default_factory=set)
    attacks: list[object] = field(default_factory=list, repr=False)

    @property
    def empty(self) -> bool:
        """Return whether nothing can be learned from these columns."""
        return not (self.numbers or self.codes or self.keys or self.words)

    def without(self, names: Collection[str]) -> "Encoded":
        """Return all but some columns."""
        return Encoded(
            self.n,
            _without(self.numbers, names),
            _without(self.codes, names),
            _without(self.keys, names),
            _without(self.words, names),
            _without(self.labels, names),
            self.dates - {*names},
        )

    def add_number(self, name: str, x: np.ndarray, *, measured: bool = False) -> None:
        """Add a column of numbers: itself, its levels, and, unless it is ``measured``, parts of
        it as of an identifier."""
        present = x[~np.isnan(x)]
        if not present.size:
            return
        missing = np.isnan(x)
        if missing.any():
            self.add_codes(f"{name}{PART_OF}missing)", missing.astype(np.int64))
        levels, place = np.unique(present, return_inverse=True)
        if levels.size < 2:
            return
        self.numbers[name] = x
        code = np.full(x.size, -1)
        code[~missing] = place
        self.add_codes(name, code, MAX_NUMBER_LEVELS)
        self.labels[name] = levels.tolist()
        top = float(np.abs(levels).max())
        is_identifier = MIN_IDENTIFIER <= top < 10.0**MAX_DIGITS and (levels % 1.0 == 0.0).all()
        if is_identifier and not measured and levels.size > MIN_IDENTIFIER_VALUES:
            self._add_digits(name, np.nan_to_num(x, nan=-1.0).astype(np.int64))

    def _add_digits(self, name: str, whole: np.ndarray) -> None:
        for place in range(len(str(int(whole.max())))):
            digit = whole // 10**place % 10
            self.add_codes(f"{name}{PART_OF}digit {place})", digit)
        for size in (10, 100, 1_000):
            self.keys[f"{name}{PART_OF}by {size})"] = _codes_of(whole // size)
            self.keys[f"{name}{PART_OF}modulo {size})"] = _codes_of(whole % size)

    def add_codes(self, name: str, codes: np.ndarray, most: int = MAX_LEVELS) -> None:
        """Add levels, as indicators if they are few, unless nearly all are different."""
        sizes = np.bincount(codes[codes >= 0])
        levels = int(np.count_nonzero(sizes))
        records = int(sizes.sum())
        if levels < 2 or levels > MAX_GROUPS_SHARE * records:
            return
        few = levels <= min(most, records // 3)
        (self.codes if few else self.keys)[name] = codes

    def add_date(self, name: str, seconds: np.ndarray) -> None:
        """Add dates, in seconds since 1970: the number of days, and parts that may return."""
        days = seconds / DAY
        present = ~np.isnan(days)
        if np.unique(days[present]).size < 2:
            return
        self.dates.add(name)
        self.numbers[name] = days
        moments = np.where(present, seconds, 0.0).astype("M8[s]")
        whole = moments.astype("M8[D]").astype(np.int64)
        hour = (moments - moments.astype("M8[D]")).astype(np.int64) // 3600
        month = moments.astype("M8[M]")
        parts = {
            "year": moments.astype("M8[Y]").astype(np.int64),
            "month": month.astype(np.int64) % 12,
            "day of the month": (moments.astype("M8[D]") - month).astype(np.int64),
            "weekday": (whole + 3) % 7,
            "hour": hour,
            "hour of the week": (whole + 3) % 7 * 24 + hour,
            "day": whole,
        }
        for part, values in parts.items():
            codes = np.where(present, _codes_of(values), -1)
            self.add_codes(f"{name}{PART_OF}{part})", codes)
            if part in ("month", "weekday", "hour") and np.unique(values[present]).size > 1:
                self.numbers[f"{name}{PART_OF}{part})"] = np.where(present, values, np.nan)

    def add_text(self, name: str, values: np.ndarray) -> None:
        """Add texts: their levels, tokens, numbers and words; or the dates that they are."""
        texts = ["" if value is None or value != value else str(value).strip() for value in values]
        levels, place = np.unique(np.array(texts, dtype=object), return_inverse=True)
        distinct = levels.tolist()
        seconds = as_dates(distinct)
        if seconds is not None:
            self.add_date(name, seconds[place])
            return
        code = np.where(levels == "", -1, np.arange(levels.size))[place]
        self.add_codes(name, code)
        self.labels[name] = distinct
        if levels.size > 2:
            self._add_parts(name, distinct, place)

    def _add_parts(self, name: str, distinct: list[str], place: np.ndarray) -> None:
        tokens = [TOKEN.findall(text) for text in distinct]
        longest = max(map(len, tokens))
        numbers = [as_numbers(text) for text in distinct]
        for k in range(MAX_NUMBERS):
            values = [found[k] if len(found) > k else np.nan for found in numbers]
            measured = longest > MAX_KEY_TOKENS
            self._add_some(f"{name}{PART_OF}number {k + 1})", values, place, measured)
        largest = [max(found, default=np.nan) for found in numbers]
        self._add_some(f"{name}{PART_OF}largest number)", largest, place, True)
        together = ["".join(NUMBER.findall(text)) for text in distinct]
        digits = ["".join(filter(str.isdecimal, text))[:MAX_DIGITS] for text in together]
        joined = [float(text or "nan") for text in digits]
        self._add_some(f"{name}{PART_OF}digits)", joined, place, longest > MAX_KEY_TOKENS)
        if longest > 1:
            for k in range(min(MAX_TOKENS, longest)):
                part = [found[k] if len(found) > k else "" for found in tokens]
                codes = np.unique(part, return_inverse=True)[1][place]
                self.add_codes(f"{name}{PART_OF}{k + 1})", codes)
            if len(distinct) > MIN_WORD_TEXTS:
                self._add_words(name, distinct, place)

    def _add_some(
        self, name: str, values: Sequence[float], place: np.ndarray, measured: bool
    ) -> None:
        x = np.array(values, dtype=np.float64)[place]
        known = [each for each in self.numbers if column_of(each) == column_of(name)]
        repeats = any(np.array_equal(x, self.numbers[each], equal_nan=True) for each in known)
        if np.mean(~np.isnan(x)) > MIN_SHARE and not repeats:
            self.add_number(name, x, measured=measured)

    def _add_words(self, name: str, distinct: list[str], place: np.ndarray) -> None:
        from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

        counter = CountVectorizer(
            ngram_range=(1, 2),
            token_pattern=r"\w+",
            max_features=MAX_WORDS,
            min_df=MIN_WORD_RECORDS,
            dtype=np.float64,
        )
        try:
            self.words[f"{name}{PART_OF}words)"] = counter.fit_transform(distinct)[place]
        except ValueError:  # no word is in several texts
            return


def encoded(columns: Mapping[str, np.ndarray], n: int) -> Encoded:
    """Return columns in clear, arrays of n entries of any kind, as learners take them."""
    result = Encoded(n)
    for name, values in columns.items():
        kind = values.dtype.kind
        if kind == "b":
            result.dates.add(name)
        if kind in "iu" and (np.abs(values.astype(np.float64)) > LARGEST_EXACT).any():
            result.add_text(name, values.astype(str).astype(object))
        elif kind in "fiub":
            x = values.astype(np.float64)
            result.add_number(name, np.where(np.isfinite(x), x, np.nan))
        elif kind in "mM":
            result.add_date(name, _seconds(values))
        else:
            _add_objects(result, name, values)
    return result


def _add_objects(result: Encoded, name: str, values: np.ndarray) -> None:
    """Add a column of objects: lists of numbers by element, dates, numbers, and all else as
    text."""
    present = [value for value in values.tolist() if value is not None]
    first = present[0] if present else None
    if isinstance(first, list | tuple | np.ndarray):
        _add_lists(result, name, values)
        return
    if present and all(isinstance(value, int | float | np.number) for value in present):
        result.add_number(name, _floats(values))
        return
    result.add_text(name, values)


def _add_lists(result: Encoded, name: str, values: np.ndarray) -> None:
    """Add lists of numbers as their elements and sums, others as texts."""
    rows = [[] if value is None else list(np.ravel(value)) for value in values.tolist()]
    width = min(max(map(len, rows)), MAX_ELEMENTS)
    try:
        table = [[*map(float, row[:width])] + [np.nan] * (width - len(row)) for row in rows]
    except (TypeError, ValueError):
        result.add_text(name, np.array([" ".join(map(str, row)) for row in rows], dtype=object))
        return
    elements = np.array(table, dtype=np.float64)
    for k in range(width):
        result.add_number(f"{name}{PART_OF}element {k + 1})", elements[:, k])
    total = np.array([float(np.nansum(np.array(row, dtype=np.float64))) for row in rows])
    result.add_number(f"{name}{PART_OF}sum)", total)


def _floats(values: np.ndarray) -> np.ndarray:
    x = np.array(
        [np.nan if value is None else value for value in values.tolist()], dtype=np.float64
    )
    return np.where(np.isfinite(x), x, np.nan)


def _seconds(values: np.ndarray) -> np.ndarray:
    """Return dates or lengths of time in seconds, NaN where one is missing."""
    fine = values.astype(f"{values.dtype.kind}8[ms]")
    return np.where(np.isnat(fine), np.nan, fine.astype(np.int64) / 1_000.0)


def column_of(name: str) -> str:
    """Return the column that a part is read from."""
    return name.partition(PART_OF)[0]


def _without(parts: Mapping[str, Part], names: Collection[str]) -> dict[str, Part]:
    """Return the parts of all but some columns."""
    return {name: part for name, part in parts.items() if column_of(name) not in names}


def _codes_of(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1]
