"""CSV as it was written: every cell is text, so that whatever is not masked comes back as it was.

The first line alone is looked at; what it leaves open, `CsvFormat` says. Kept are the words for missing
values, 007, dates, the encoding, a byte order mark, ``sep=;`` above the header, the decimal mark and line
breaks. Let go are quotes that were not needed, and empty lines where there are several columns; text behind
a closing quote is joined to it.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, FileError

DELIMITERS = ",;\t|"
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
MARKS = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
FIRST = 1 << 20  # bytes in which the header ends
ROWS = 1 << 16  # that are written at once
EXACT = 2.0**50


@dataclass(frozen=True)
class CsvFormat:
    r"""How a CSV file is written, if that is not clear from its first line.

    Parameters
    ----------
    delimiter : str, optional
        One character between fields. By default what ``sep=`` above the header says, a tab in .tsv files,
        else the one of ``, ; | tab`` that is most often in the header.
    decimal : {".", ","}, optional
        The decimal mark; by default a comma if the delimiter is a semicolon, else a point.
    encoding : str, optional
        "latin-1", "cp1252", "utf-16" or another; by default that of a byte order mark, else UTF-8.
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
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        object.__setattr__(
            self, "na", _checks.names([self.na] if isinstance(self.na, str) else self.na, "na")
        )


class Layout(NamedTuple):
    """How one file is written, and all that stands before its first record."""

    delimiter: str
    decimal: str
    encoding: str
    na: tuple[str, ...]
    mark: bytes  # of the order of bytes
    head: str
    names: list[str]

    @property
    def form(self) -> CsvFormat:
        """What a reader must be told."""
        return CsvFormat(self.delimiter, self.decimal, self.encoding, self.na)

    @property
    def end(self) -> str:
        """What ends a line."""
        return "\r\n" if self.head.endswith("\r\n") else self.head[-1]

    def __str__(self) -> str:
        words = f", missing values {', '.join(map(repr, self.na))}" if self.na else ""
        return f"delimiter {self.delimiter!r}, decimal mark {self.decimal!r}, encoding {self.encoding}{words}"


def layout_of(path: Path, form: CsvFormat) -> Layout:
    """How a file is written: what its first line shows, where the format does not say."""
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as file:
        start = file.read(FIRST)
    encoding, mark = next(((name, mark) for name, mark in MARKS.items() if start.startswith(mark)), ("", b""))
    encoding = encoding or {"utf-16": "utf-16-le"}.get(form.encoding or "", form.encoding) or "utf-8"
    text = io.StringIO(_decoded(path, start, form.encoding or encoding).removeprefix("\ufeff"), newline="")
    header = text.readline()
    above = header if header.lower().startswith("sep=") else ""
    header = text.readline() if above else header
    if not header.strip():
        raise ArgumentError(f"{path} is empty: it has no header")
    delimiter = form.delimiter or above[4:5] or ("\t" if ".tsv" in path.suffixes[-2:] else _delimiter(header))
    names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True))
    if header.count('"') % 2 or (len(start) == FIRST and not header.endswith(("\n", "\r"))):
        raise ArgumentError(f"{path} must have a header of one line in which every quote is closed")
    return Layout(
        delimiter,
        form.decimal or ("," if delimiter == ";" else "."),
        encoding,
        form.na,
        mark,
        above + header + ("" if header.endswith(("\n", "\r")) else "\n"),
        [name.strip() for name in names],
    )


def header(names: Sequence[str], delimiter: str) -> str:
    """The line of the names of columns."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(names)
    return text.getvalue()


def batches(path: Path, layout: Layout, names: Iterable[str] | None = None) -> Any:
    """A reader of record batches in which every cell is text."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    read = arrow_csv.ReadOptions(
        encoding=layout.encoding, skip_rows=1 + layout.head.lower().startswith("sep=")
    )
    read.column_names = layout.names
    parse = arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    parse.ignore_empty_lines = len(layout.names) > 1  # in one column an empty line is a record
    cells = dict.fromkeys(layout.names, pa.large_string())
    convert = arrow_csv.ConvertOptions(column_types=cells, strings_can_be_null=False)
    convert.include_columns = list(layout.names if names is None else names)
    return arrow_csv.open_csv(str(path), read, parse, convert)


def numbers(texts: Any, layout: Layout, name: str, row: int = 1) -> np.ndarray:
    """Cells as numbers, NaN where a value is missing; ``row`` is that of the first one, for errors."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.ascii_trim_whitespace(texts)
    gaps = pc.is_in(bare, value_set=pa.array([*MISSING, *layout.na], pa.large_string()))
    bare = pc.if_else(gaps, pa.scalar("nan", pa.large_string()), bare)
    wrong = pc.match_substring(bare, "." if layout.decimal == "," else ",")
    if not pc.any(wrong).as_py():
        plain = pc.replace_substring(bare, ",", ".")
        try:
            values = plain.cast(pa.float64()).to_numpy()
            wrong = ~np.isfinite(values) & ~gaps.to_numpy()
        except pa.ArrowInvalid:  # whose message holds a cell
            pattern = r"^(nan|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)$"
            wrong = pc.invert(pc.match_substring_regex(plain, pattern))
    at = np.flatnonzero(np.asarray(wrong))
    if at.size:
        raise ArgumentError(
            f"{name} must hold numbers with the decimal mark {layout.decimal!r}, finite, got another text "
            f"in row {row + int(at[0])} ({at.size} cells); --decimal and --na (CsvFormat) say how they are "
            "written"
        )
    most = _checks.LARGEST_EXACT_INTEGER
    large = np.flatnonzero(np.abs(values) > most)
    if large.size:
        raise ArgumentError(
            f"{name} must hold numbers of at most 2^53, got a larger one in row {row + int(large[0])}"
        )
    return np.asarray(values)


def as_written(masked: Any, cells: Any, layout: Layout, places: int | None) -> Any:
    """Masked numbers, an Arrow array, as text with so many decimals, or as few as each needs; where there is
    none, the cell of the original stays if it stands for a missing value, and is emptied otherwise."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    if places is not None:
        most = pc.max(pc.abs(masked)).as_py() or 0.0
        exact = most * 10.0**places < EXACT  # else numbers are not rounded as they are printed
        decimals = masked if exact else masked.cast(pa.string())
        text = decimals.cast(pa.decimal128(38, places)).cast(pa.string())
    else:
        text = masked.cast(pa.string())
        if pc.any(pc.match_substring(text, "e")).as_py():  # exponents, which not every reader knows
            text = pa.chunked_array([pa.array(map(_positional, masked.to_pylist()), pa.string())])
    if layout.decimal == ",":
        text = pc.replace_substring(text, ".", ",")
    missing = pa.array([*MISSING, *layout.na], kind)
    gaps = pc.is_in(pc.ascii_trim_whitespace(cells), value_set=missing)
    return pc.coalesce(text.cast(kind), pc.if_else(gaps, cells, pa.scalar("", kind)))


def lines(table: Any, layout: Layout) -> bytes:
    """Rows of text as lines; quoted are the cells that need it."""
    parts = [_lines(batch, layout) for batch in table.to_batches(max_chunksize=ROWS)]
    text = b"".join(parts)
    return text if layout.encoding == "utf-8" else text.decode().encode(layout.encoding)


def _lines(batch: Any, layout: Layout) -> bytes:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    sink = pa.BufferOutputStream()
    options = arrow_csv.WriteOptions(include_header=False, delimiter=layout.delimiter, batch_size=ROWS)
    options.quoting_style = "none"
    try:  # "needed" quotes every cell of a column of text
        arrow_csv.write_csv(batch, sink, options)
        text: bytes = sink.getvalue().to_pybytes()
        return text.replace(b"\n", layout.end.encode()) if layout.end != "\n" else text
    except pa.ArrowInvalid:
        return _joined(batch, layout)


def _joined(batch: Any, layout: Layout) -> bytes:
    """Lines of which some cells need quotes."""
    import re

    import pyarrow as pa
    import pyarrow.compute as pc

    special = f'[{re.escape(layout.delimiter)}"\r\n]'
    mark, none, between = (pa.scalar(word, pa.large_string()) for word in ('"', "", layout.delimiter))

    def cell(texts: Any) -> Any:
        quoted = pc.binary_join_element_wise(mark, pc.replace_substring(texts, '"', '""'), mark, none)
        return pc.if_else(pc.match_substring_regex(texts, special), quoted, texts)

    rows = pc.binary_join_element_wise(*map(cell, batch.columns), between)
    return "".join(row + layout.end for row in rows.to_pylist()).encode()


def _positional(value: float | None) -> str | None:
    return None if value is None else np.format_float_positional(value, trim="-")


def _delimiter(header: str) -> str:
    """The one that is most often in a header, outside of quotes."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _decoded(path: Path, start: bytes, encoding: str) -> str:
    """The beginning of a file as text; a character that the end cuts in two is left out."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        raise FileError(
            f"{path} must be written in {encoding}, got other bytes; "
            'encoding="latin-1", "cp1252", "utf-16", ... (--encoding) sets it'
        ) from None


def _encoding(name: Any) -> str:
    try:
        codec = codecs.lookup(name).name
        "a,b".encode(codec)
    except (LookupError, TypeError, ValueError):
        raise ArgumentError(
            f"encoding must be the name of an encoding of text, got {_checks.shown(name)}"
        ) from None
    return {"ascii": "utf-8", "utf-8-sig": "utf-8"}.get(codec, codec)


def _can_delimit(text: Any) -> bool:
    if not (isinstance(text, str) and len(text) == 1 and text.isascii()):
        return False
    return not text.isalnum() and text not in '"\r\n\0.+-'
