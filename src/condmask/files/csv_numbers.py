"""Numbers between the text of a CSV file and arrays: exactly as Python reads and writes them."""

import math
import re

import numpy as np

from condmask import _checks
from condmask.files.csv_scan import Fields
from condmask.kernels import csv_numbers as kernels

BUILT_IN = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
MANY = 1_000  # fields; so many numbers of many digits pay for importing pyarrow
POINT, COMMA = b".", b","
PLAIN = re.compile(rb"[+-]?\d*\.?\d+")
# by points, commas, apostrophes and blanks, those that do not break among them
GROUPED = re.compile(rb"[+-]?\d{1,3}((\.|,|'| |\xa0|\xc2\xa0|\xe2\x80\xaf|\xe2\x80\x99)\d{3})+([.,]\d+)?")


class NumberError(TypeError):
    """A field is no number; `at` is its place among the fields."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why, self.at = why, at


class Words:
    """What stands for a missing value, in bytes of the file."""

    def __init__(self, words: list[bytes]) -> None:
        self._words = {word.encode() for word in BUILT_IN} | set(words)

    def __contains__(self, field: bytes) -> bool:
        return field.strip() in self._words


def read(fields: Fields, decimal: str | None, words: Words) -> tuple[np.ndarray, int]:
    """The numbers of fields, NaN where one is missing, and their decimal marks (of `kernels.csv_numbers`).

    Without ``decimal`` either mark is read, where there is no other in the field.
    """
    values = np.empty(fields.starts.size)
    state = np.empty(fields.starts.size, dtype=np.uint8)
    mark = 0 if decimal is None else ord(decimal)
    starts, stops = np.ascontiguousarray(fields.starts), np.ascontiguousarray(fields.stops)
    marks = kernels.parse_numbers(fields.buffer, starts, stops, mark, values, state)
    long = np.flatnonzero(state == kernels.EXACTLY)
    if long.size:
        values[long] = exactly(fields.buffer, starts[long], stops[long], mark)
    words_at = np.flatnonzero(state == kernels.WORD)
    value_of: dict[bytes, float] = {}
    for start in range(0, words_at.size, MANY):  # a column of text is refused at its first field
        some = words_at[start : start + MANY]
        for at, field in zip(some.tolist(), fields.at(some), strict=True):
            if field not in value_of:
                value_of[field] = _word(field, decimal, words, at)
            values[at] = value_of[field]
    size = np.abs(values)
    large = np.flatnonzero((size >= _checks.LARGEST_EXACT_INTEGER) & np.isfinite(size))
    for at, field in zip(large.tolist(), fields.at(large), strict=True):
        bare = field.strip().lstrip(b"+-")
        if bare.isdigit() and int(bare) > _checks.LARGEST_EXACT_INTEGER:
            raise NumberError("must hold integers of at most 2^53, got a larger one", at)
    return values, marks


def exactly(buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray, mark: int) -> np.ndarray:
    """Numbers of many digits, rounded once."""
    ends = np.empty(starts.size, dtype=np.int64)
    out = np.empty(int((stops - starts).sum()), dtype=np.uint8)
    kernels.gather(buffer, starts, stops, mark, out, ends)
    if starts.size >= MANY:
        try:
            import pyarrow as pa

            offsets = np.concatenate(([0], ends)).astype(np.int32)
            texts = pa.Array.from_buffers(
                pa.string(), starts.size, [None, pa.py_buffer(offsets), pa.py_buffer(out)]
            )
            # Arrow's to_numpy would import pandas
            return np.frombuffer(texts.cast(pa.float64()).buffers()[1], np.float64)[: starts.size]
        except ImportError:
            pass
    text, begin = out.tobytes(), 0
    values = np.empty(starts.size)
    for i, end in enumerate(ends.tolist()):
        values[i] = float(text[begin:end])
        begin = end
    return values


def _word(field: bytes, decimal: str | None, words: Words, at: int) -> float:
    """NaN where a value is missing, what only Python calls a number, or a refusal."""
    if field in words:
        return math.nan
    try:
        if b"_" not in field and not (decimal == "," and POINT in field):
            return float(field.replace(COMMA, POINT) if decimal == "," else field)
    except ValueError:
        pass
    raise NumberError(_why(field.strip(), decimal), at)


def _why(field: bytes, decimal: str | None) -> str:
    """What is wrong with a field; of the field itself nothing, since it may be an original."""
    one = field.count(COMMA) + field.count(POINT) == 1 and field.translate(None, b"+-.,").isdigit()
    if GROUPED.fullmatch(field) and not one:
        return "must be numeric without thousands separators, got some"
    if decimal == "." and PLAIN.fullmatch(field.replace(COMMA, POINT, 1)):
        return 'must be numeric with decimal points, got a comma (decimal=",", --decimal ,)'
    if decimal == "," and PLAIN.fullmatch(field):
        return 'must be numeric with decimal commas, got a point (decimal=".", --decimal .)'
    return "must be numeric, got text"


def write(values: np.ndarray, places: np.ndarray, decimal: str) -> tuple[np.ndarray, np.ndarray]:
    """The text of rows of numbers, one after the other, and their ends; NaN has none.

    ``places`` are fixed decimals by column, `kernels.SHORTEST` for the fewest digits that read back the same.
    """
    out = np.empty(values.size * kernels.WIDEST, dtype=np.uint8)
    ends = np.empty(values.size, dtype=np.int64)
    left = kernels.format_numbers(values, places, ord(decimal), out, ends)
    if not left:
        return out, ends
    flat = values.ravel()
    wanting = (np.diff(ends, prepend=0) == 0) & ~np.isnan(flat)
    which = np.flatnonzero(wanting)
    texts = [
        _text(value, place)
        for value, place in zip(flat[which].tolist(), places[which % places.size].tolist(), strict=True)
    ]
    more = np.frombuffer("".join(texts).replace(".", decimal).encode(), dtype=np.uint8)
    more_ends = np.cumsum([len(text) for text in texts])
    filled = np.empty((int(ends[-1]) if ends.size else 0) + more.size, dtype=np.uint8)
    filled_ends = np.empty_like(ends)
    kernels.fill_in(out, ends, wanting, more, more_ends, filled, filled_ends)
    return filled, filled_ends


def _text(value: float, places: int) -> str:
    if places == kernels.SHORTEST:
        return repr(value)
    return f"{value:.{places}f}" if places > 0 else str(int(value))
