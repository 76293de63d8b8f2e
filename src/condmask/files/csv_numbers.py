"""Numbers between the text of a CSV file and arrays: exactly as Python reads and writes them.

Arrow reads and writes them, each rounded once. Left to Python is what Arrow does otherwise: words that may
mean a number (inf, nan), and texts that would get an exponent, which not every reader knows.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from condmask import _checks
from condmask._grid import INEXACT, LARGEST_UNITS
from condmask.files.arrow_types import WIDEST, values_of, with_decimals
from condmask.files.csv_scan import Fields
from condmask.files.csv_texts import as_bytes, as_texts, content_of, some, texts_of, where

BUILT_IN = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
DOT, COMMA, CLEAR_DOT, CLEAR_COMMA = 1, 2, 4, 8  # marks seen, and seen where no thousands could stand
SHORTEST = -1  # places: as many as it needs
HEAD = 1_000  # texts that tell a column of words at once, since an error of Arrow takes its time for each
POINT, COMMA_BYTE = b".", b","
NUMBER = r"^-?([0-9]+{0}?[0-9]*|{0}[0-9]+)([eE][+-]?[0-9]+)?$"
MARKS = {".": r"\.", ",": ",", None: "[.,]"}
THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"  # or decimals
PLAIN = re.compile(rb"[+-]?\d*\.?\d+")
# by points, commas, apostrophes and blanks, those that do not break among them
GROUPED = re.compile(rb"[+-]?\d{1,3}((\.|,|'| |\xa0|\xc2\xa0|\xe2\x80\xaf|\xe2\x80\x99)\d{3})+([.,]\d+)?")


class NumberError(TypeError):
    """A field is not a number; `at` is its place among the fields."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why, self.at = why, at


class Words:
    """The words for a missing value, in bytes of the file."""

    def __init__(self, words: list[bytes]) -> None:
        self._words = {word.encode() for word in BUILT_IN} | set(words)
        self.texts = as_texts(sorted(self._words))

    def __contains__(self, field: object) -> bool:
        return isinstance(field, bytes) and field.strip() in self._words


class _Present(NamedTuple):
    """Texts that are not missing, without blanks around them, and their places among all fields."""

    texts: pa.LargeStringArray
    at: np.ndarray


def read(fields: Fields, decimal: str | None, words: Words) -> tuple[np.ndarray, int]:
    """The numbers of fields, NaN where one is missing, and the decimal marks that they have.

    Without ``decimal`` either mark is read, where there is no other in the field, and marks are told.
    """
    texts, at = _present(fields, words)
    found = parse(texts, decimal)
    _fill_in(found, texts, at, decimal)
    large = np.flatnonzero((np.abs(found) >= _checks.LARGEST_EXACT_INTEGER) & np.isfinite(found))
    for place, text in zip(at[large].tolist(), as_bytes(some(texts, large)), strict=True):
        bare = text.lstrip(b"+-")
        if bare.isdigit() and int(bare) > _checks.LARGEST_EXACT_INTEGER:
            raise NumberError("must hold integers of at most 2^53, got a larger one", place)
    marks = _marks(texts) if decimal is None else 0
    if at.size == fields.starts.size:
        return found, marks
    values = np.full(fields.starts.size, np.nan)
    values[at] = found
    return values, marks


def parse(texts: pa.LargeStringArray, decimal: str | None) -> np.ndarray:
    """Texts without blanks around them as numbers; NaN for others, infinity, and those of Python alone."""
    points = texts if decimal == "." else pc.replace_substring(texts, ",", ".")
    values = None
    if decimal != "," or not pc.any(pc.match_substring(texts, ".")).as_py():
        with suppress(pa.ArrowInvalid):
            points[:HEAD].cast(pa.float64())
            values = values_of(points.cast(pa.float64()), np.float64)
    if values is None:
        pattern = NUMBER.format(MARKS[decimal])
        numbers = where(pc.match_substring_regex(texts.view(pa.large_binary()), pattern))
        values = np.full(len(texts), np.nan)
        values[numbers] = values_of(some(points, np.flatnonzero(numbers)).cast(pa.float64()), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def first_mark(columns: Sequence[Fields], words: Words) -> str | None:
    """The decimal mark of the first number, record by record, that has one."""
    found = []
    for k, fields in enumerate(columns):
        texts, at = _present(fields, words)
        marked = np.flatnonzero(where(pc.match_substring_regex(texts.view(pa.large_binary()), "[.,]")))
        for text in as_bytes(some(texts, marked[:1])):
            found.append((at[marked[0]], k, "," if COMMA_BYTE in text else "."))
    return min(found)[2] if found else None


def _present(fields: Fields, words: Words) -> _Present:
    texts = pc.ascii_trim_whitespace(texts_of(fields))
    at = np.flatnonzero(~where(pc.is_in(texts, value_set=words.texts)))
    return _Present(texts if at.size == len(texts) else some(texts, at), at)


def _fill_in(values: np.ndarray, texts: pa.LargeStringArray, at: np.ndarray, decimal: str | None) -> None:
    """Numbers that only Python reads; refuse what is not a number at all."""
    unread = np.flatnonzero(np.isnan(values))
    coded = some(texts, unread).dictionary_encode()
    code = values_of(coded.indices, np.int32)
    numbers: list[float] = []
    for word in as_bytes(coded.dictionary):
        number = _number(word, decimal)
        if number is None:
            raise NumberError(_why(word, decimal), int(at[unread[np.argmax(code == len(numbers))]]))
        numbers.append(number)
    values[unread] = np.array(numbers, dtype=np.float64)[code]


def _number(word: bytes, decimal: str | None) -> float | None:
    """The number that Python reads; None if it is not one for a table."""
    if b"_" in word or (decimal == "," and POINT in word):
        return None
    try:
        return float(word if decimal == "." else word.replace(COMMA_BYTE, POINT))
    except ValueError:
        return None


def _why(field: bytes, decimal: str | None) -> str:
    """What is wrong with a field, without quoting it, since it may be an original."""
    one = field.count(COMMA_BYTE) + field.count(POINT) == 1 and field.translate(None, b"+-.,").isdigit()
    if GROUPED.fullmatch(field) and not one:
        return "must be numeric without thousands separators, got some"
    if decimal == "." and PLAIN.fullmatch(field.replace(COMMA_BYTE, POINT, 1)):
        return 'must be numeric with decimal points, got a comma (decimal=",", --decimal ,)'
    if decimal == "," and PLAIN.fullmatch(field):
        return 'must be numeric with decimal commas, got a point (decimal=".", --decimal .)'
    return "must be numeric, got text"


def _marks(texts: pa.LargeStringArray) -> int:
    """The decimal marks of numbers, and whether each is certain."""
    seen = 0
    for mark, told, clear in ((".", DOT, CLEAR_DOT), (",", COMMA, CLEAR_COMMA)):
        marked = texts.filter(pc.match_substring(texts, mark))
        if len(marked):
            doubtful = pc.all(pc.match_substring_regex(marked, THOUSANDS)).as_py()
            seen |= told | (0 if doubtful else clear)
    return seen


def write(values: np.ndarray, places: np.ndarray, decimal: str) -> tuple[bytes, np.ndarray, np.ndarray]:
    """The texts of rows of numbers, and where in them that of each number begins and ends; NaN has none.

    ``places`` are fixed decimals by column, `SHORTEST` for the fewest digits that read back the same.
    """
    contents, size, gaps = [], 0, np.isnan(values)
    plain = np.where(gaps, 0.0, values)
    begins, ends = np.empty((2, *values.shape), dtype=np.int64)
    for k, place in enumerate(places.tolist()):
        content, bounds = content_of(formatted(plain[:, k], place))
        begins[:, k], ends[:, k] = bounds[:-1] + size, bounds[1:] + size
        contents.append(content)
        size += len(content)
    text = b"".join(contents)
    return text if decimal == "." else text.replace(b".", b","), begins, np.where(gaps, begins, ends)


def formatted(values: np.ndarray, places: int) -> pa.LargeStringArray:
    """Finite numbers as text, without exponents, in the fewest digits that read back or with these places."""
    if places == SHORTEST:
        values = values + 0.0  # zero has no sign
        texts = pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(values)])
        left = np.zeros(values.size, dtype=bool)
    else:
        left = np.abs(values) * 10.0**places >= INEXACT
        texts = with_decimals(np.where(left, 0.0, values), pa.decimal128(WIDEST[0], places), places, "")
    texts = texts.cast(pa.large_string())
    if np.frombuffer(content_of(texts)[0], np.uint8).max(initial=0) > ord("9"):
        left |= where(pc.match_substring(texts, "e", ignore_case=True))
    if not left.any():
        return texts
    words = as_texts(_positional(value, places).encode() for value in values[left].tolist())
    which = pa.py_buffer(np.packbits(left, bitorder="little"))
    return pc.replace_with_mask(texts, pa.Array.from_buffers(pa.bool_(), left.size, [None, which]), words)


def _positional(value: float, places: int) -> str:
    if abs(value) > LARGEST_UNITS:  # none of the whole numbers that are refused when they are read
        return f"{value:.{max(places, 1)}f}"
    return np.format_float_positional(value, trim="-") if places == SHORTEST else f"{value:.{places}f}"
