"""How a CSV file is written: delimiter, decimal mark, encoding, words for missing values.

What is not given is found from the file where that is safe. Where two answers are possible, neither is taken,
and the error names the option that decides.
"""

import codecs
import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.files.recoding import open_bytes, open_utf8, read_bytes, working
from condmask.kernels.csv_scan import QUOTE, find_fields

DELIMITERS = ",;\t|"
NAMES = {"\t": "a tab"}
BOM = b"\xef\xbb\xbf"
MARKS = {  # at the beginning of a file; the longer first
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    BOM: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
SAMPLE = 1 << 16  # bytes from which a dialect is told
LONGEST = 1 << 22  # bytes of a header; a quote left open must not make a header of the records
ASCII = bytes(range(128))
QUOTE_OR_BREAK = re.compile(rb'["\n]')
SEPARATOR = re.compile(rb"sep=([^\r\n])\r?\n", re.IGNORECASE)


@dataclass(frozen=True)
class CsvFormat:
    r"""How a CSV file is written, if that is not clear from its text.

    Parameters
    ----------
    delimiter : str, optional
        One character between fields. By default a tab in .tsv files, else the one of ``, ; | tab`` that is in
        the header and fits all first records.
    decimal : {".", ","}, optional
        The decimal mark. By default a point if the delimiter is a comma, else the one used by the numbers in
        the file.
    encoding : str, optional
        "latin-1", "cp1252", "utf-16" or another; by default UTF-8, or that of a byte order mark.
    na : str or sequence of str
        Fields that stand for a missing value, besides empty ones, NA, N/A, NaN, nan, null and NULL.

    Raises
    ------
    ValueError
        If an argument is not one of these.

    Examples
    --------
    >>> import condmask as cm
    >>> cm.CsvFormat(delimiter=";", decimal=",", encoding="cp1252", na=[".", "*"])
    CsvFormat(delimiter=';', decimal=',', encoding='cp1252', na=('.', '*'))
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: Any = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and not _can_delimit(self.delimiter):
            raise ArgumentError(
                "delimiter must be one character other than a letter, digit, quote or line break, got "
                f"{_checks.shown(self.delimiter)}"
            )
        if self.decimal is not None:
            _checks.choice(self.decimal, "decimal", (".", ","))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding_name(self.encoding))
        words = _checks.names([self.na] if isinstance(self.na, str) else self.na, "na")
        for word in words:
            if _checks.listed([word]) != repr(word):  # a number
                raise ArgumentError(
                    f"na must contain words, got {word!r}; a number that stands for missing values belongs "
                    "to the scheme (missing, --missing)"
                )
        object.__setattr__(self, "na", words)

    def or_else(self, published: dict[str, Any]) -> "CsvFormat":
        """The format, completed from what was published with the file."""
        missing = [name for name in self.__dataclass_fields__ if not getattr(self, name)]
        return replace(self, **{name: published[name] for name in missing if name in published})


class Dialect(NamedTuple):
    """How a file is written, and the bytes before its first record.

    If ``encoding`` does not extend ASCII, the file is read as if it were UTF-8.
    """

    delimiter: str
    decimal: str | None  # None: found from the numbers
    encoding: str
    na: tuple[str, ...]
    blank: bool  # whether one blank belongs to the delimiter
    header: bytes
    names: list[str]

    @classmethod
    def of(cls, path: Path, form: CsvFormat) -> Self:
        """How a file is written, found from its beginning where the format does not say."""
        with open_bytes(path) as file:
            start = read_bytes(path, file, SAMPLE)
            encoding = _encoding_of(path, start, form.encoding)
            inner = working(encoding)
            if inner == encoding:
                preamble, header, rest = _header(path, file, start, form.delimiter)
        if inner != encoding:
            with open_utf8(path, encoding) as recoded:
                start = read_bytes(path, recoded, SAMPLE)
                preamble, header, rest = _header(path, recoded, start, form.delimiter)
        try:
            text = header.removeprefix(BOM).decode(inner).rstrip("\r\n")
        except UnicodeDecodeError:
            raise not_encoded(path, encoding, 1) from None
        if not text.strip():
            raise ArgumentError(f"{path} is empty: it has no header")
        delimiter = form.delimiter or _given_above(preamble)
        outside = _unquoted(text, delimiter or DELIMITERS)  # quoted names may hold delimiters
        if delimiter is None and ".tsv" in path.suffixes[-2:]:
            delimiter = "\t"
        if delimiter is None:
            delimiter = _delimiter_of(path, outside, rest, form.decimal)
        blank = 0 < outside.count(delimiter) == outside.count(delimiter + " ")
        try:
            names, *more = csv.reader(
                io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=blank, strict=True
            )
        except csv.Error as error:
            raise ArgumentError(f"{path} has a header that is not a line of CSV: {error}") from None
        if more:  # which would be copied, as what stands before the records is
            raise ArgumentError(
                f"{path} must have a header of one line that a line feed ends, got {1 + len(more)} lines"
            )
        decimal = form.decimal or ("." if delimiter == "," else None)
        return cls(delimiter, decimal, encoding, form.na, blank, preamble + header, names)

    @property
    def is_plain(self) -> bool:
        """Whether it is the usual one, which need not be mentioned."""
        return (self.delimiter, self.decimal, self.encoding, self.na) == (",", ".", "utf-8", ())

    def __str__(self) -> str:
        delimiter = NAMES.get(self.delimiter, repr(self.delimiter))
        parts = [
            f"delimiter {delimiter}",
            f"decimal mark {self.decimal or '.'!r}",
            f"encoding {self.encoding}",
        ]
        if self.na:
            parts.append(f"missing values {', '.join(map(repr, self.na))}")
        return ", ".join(parts)

    def decode(self, field: bytes) -> str:
        """The bytes of a field as text; what stood in quotes has its own quotes twice, still."""
        return field.decode(working(self.encoding))

    def encode(self, text: str) -> bytes:
        """A text as it would stand in a field."""
        return text.encode(working(self.encoding), "replace")


def not_encoded(path: Path, encoding: str, line: int) -> ArgumentError:
    """The error about text that is not in this encoding."""
    return ArgumentError(
        f"{path} must be written in {encoding}, got other bytes in line {line}; "
        'encoding="latin-1", "cp1252", "utf-16", ... (--encoding) sets it'
    )


def _encoding_name(name: Any) -> str:
    """The name of an encoding, where bytes can be told apart by ASCII; UTF-8 and its wider brothers too."""
    rule = "encoding must be UTF-8, UTF-16, UTF-32 or one that has a byte for each character, got"
    try:
        codec = codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        raise ArgumentError(f"{rule} {_checks.shown(name)}") from None
    if codec.startswith(("utf-16", "utf-32")):
        return codec
    if codec in ("utf-8", "utf-8-sig", "ascii"):
        return "utf-8"
    try:
        same = ASCII.decode(codec) == ASCII.decode("ascii")
        single = all(len(bytes([byte, 65]).decode(codec, "replace")) == 2 for byte in range(128, 256))
    except (UnicodeError, LookupError):
        same = single = False
    if not (same and single):
        raise ArgumentError(f"{rule} {name!r}")
    return codec


def _encoding_of(path: Path, start: bytes, given: str | None) -> str:
    """The encoding, with the order of its bytes."""
    marked = next((encoding for mark, encoding in MARKS.items() if start.startswith(mark)), None)
    if given in ("utf-16", "utf-32"):
        if marked is None or not marked.startswith(given):
            raise ArgumentError(
                f"{path} must begin with a byte order mark if encoding={given!r}; {given}-le or {given}-be "
                "sets the order"
            )
        return marked
    if given is not None or marked is not None:
        return given or marked or "utf-8"
    if b"\0" in start:
        raise ArgumentError(
            f'{path} must contain no null bytes unless its encoding is given; encoding="utf-16-le" or '
            '"utf-16-be" (--encoding) sets it'
        )
    return "utf-8"


def _header(path: Path, file: Any, text: bytes, delimiter: str | None) -> tuple[bytes, bytes, bytes]:
    """The text before the header (``sep=;``, as Excel writes), the header, and some text after it.

    ``text`` was read from the file, which is read further if the header is longer; a header may have line
    breaks within quotes.
    """
    first = text.removeprefix(BOM)
    begin = len(text) - len(first)
    separator = SEPARATOR.match(first)
    above = begin + separator.end() if separator else 0
    begin = max(begin, above)
    marks = (delimiter or _given_above(text[:above]) or DELIMITERS).encode()
    end, quoted = _end_of_header(text, begin, marks)
    if end == 0 and (more := read_bytes(path, file, LONGEST)):
        text += more
        end, quoted = _end_of_header(text, begin, marks)
    if end == 0 and (quoted or len(text) > LONGEST):
        raise ArgumentError(
            f"{path} must have a header of at most {LONGEST >> 20} MB in which every quote is closed"
        )
    end = end or len(text)
    return text[:above], text[above:end], text[end:]


def _given_above(preamble: bytes) -> str | None:
    """The delimiter that stands above the header."""
    return preamble.removeprefix(BOM)[4:5].decode("latin-1") or None


def _end_of_header(text: bytes, begin: int, marks: bytes) -> tuple[int, bool]:
    """Where the header ends, or 0 if the text ends before, and then whether within quotes."""
    quoted, closed = False, -1
    for found in QUOTE_OR_BREAK.finditer(text, begin):
        at = found.start()
        if quoted and text[at] == QUOTE:
            quoted, closed = False, at
        elif text[at] == QUOTE:  # begins a quoted name, goes on with it if doubled, or is part of a bare one
            before = text[max(begin, at - 2) : at]
            quoted = closed == at - 1 or before.removesuffix(b" ")[-1:] in marks
        elif not quoted:
            return at + 1, False
    return 0, quoted


def _unquoted(header: str, marks: str) -> str:
    """A header without its quoted names."""
    return re.sub(rf'(^|[{re.escape(marks)}])( ?)"(?:[^"]|"")*"', r"\1\2", header)


def _delimiter_of(path: Path, header: str, sample: bytes, decimal: str | None) -> str:
    """The delimiter that is in the header and fits the records after it."""
    candidates = [mark for mark in DELIMITERS if mark in header]
    if decimal == "," and len(candidates) > 1:
        candidates = [mark for mark in candidates if mark != ","]
    if not candidates:
        return ";" if decimal == "," else ","
    first, *others = candidates
    if others:
        first, *others = [mark for mark in candidates if _fits(sample, mark, header)] or candidates
    if others:
        names = " and ".join(NAMES.get(mark, repr(mark)) for mark in (first, *others))
        raise ArgumentError(
            f"delimiter must be given for {path}, whose first lines may be separated by {names} "
            f'(delimiter="{first}", --delimiter "{first}")'.replace("\t", "\\t")
        )
    return first


def _fits(sample: bytes, delimiter: str, header: str) -> bool:
    """Whether all whole records of a sample have as many fields as the header."""
    buffer = np.frombuffer(sample, dtype=np.uint8)
    none = np.empty(0, dtype=np.int64)
    bounds = np.empty((2, sample.count(b"\n"), 0), dtype=np.int64)
    blank = header.count(delimiter) == header.count(delimiter + " ")
    count, _, fault = find_fields(buffer, ord(delimiter), blank, header.count(delimiter) + 1, none, *bounds)
    return bool(count and not fault)


def _can_delimit(text: Any) -> bool:
    if not (isinstance(text, str) and len(text) == 1 and text.isascii()):
        return False
    return not text.isalnum() and text not in '"\r\n\0.+-'
