"""Read and write CSV with every cell as text, so that cells that are not masked stay as they were.

The format is read from the first line alone; `CsvFormat` names the rest. Kept are the words for
missing values, 007, dates, the encoding, a byte order mark, ``sep=;`` above the header, the
decimal mark and line breaks. Not kept are quotes that were not needed, and empty lines where there
are several columns; text behind a closing quote is joined to it.
"""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.files.arrow import ArrowArray, ArrowTable, arrow_csv, pa, pc

DELIMITERS = ",;\t|"
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
MAX_HEADER_BYTES = 1 << 20  # in which the header must end
ROWS_AT_ONCE = 1 << 16  # that are written
NUMBER = r"^(nan|[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)$"


@dataclass(frozen=True)
class CsvFormat:
    r"""How a CSV file is written, if that is not clear from its first line.

    Parameters
    ----------
    delimiter : str, optional
        One character between fields. By default what ``sep=`` above the header says, a tab in .tsv
        files, else the one of ``, ; | tab`` that is most often in the header.
    decimal : {".", ","}, optional
        The decimal mark; by default a comma if the delimiter is a semicolon, else a point.
    encoding : str, optional
        "latin-1", "cp1252", "utf-16" or another; by default that of a byte order mark, else UTF-8.
    na : str or sequence of str
        Fields that stand for a missing value, besides empty ones, NA, N/A, NaN, nan, null and
        NULL.

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
    na: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            one = (
                isinstance(self.delimiter, str)
                and len(self.delimiter) == 1
                and self.delimiter.isascii()
            )
            known = one and not self.delimiter.isalnum() and self.delimiter not in '"\r\n\0.+-'
            rule = (
                "delimiter must be one character other than a letter, digit, quote or line break"
            )
            _checks.require(known, rule, self.delimiter)
        if self.decimal is not None:
            _checks.choice(self.decimal, "decimal", (".", ","))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        words = _checks.names([self.na] if isinstance(self.na, str) else self.na, "na")
        object.__setattr__(self, "na", words)

    @property
    def missing(self) -> Any:
        """Words for a missing value, as an array of Arrow."""
        return pa.array([*MISSING_WORDS, *self.na], pa.large_string())


class Layout(NamedTuple):
    """The format of one file, and all that stands before its first record."""

    form: CsvFormat  # complete
    mark: bytes  # of the order of bytes
    head: str
    names: tuple[str, ...]

    @property
    def delimiter(self) -> str:
        """The character between fields."""
        return str(self.form.delimiter)

    @property
    def encoding(self) -> str:
        """The encoding of the text."""
        return str(self.form.encoding)


def layout_of(path: Path, form: CsvFormat) -> Layout:
    """Return the layout of a file; the first line shows all that the format leaves open."""
    with pa.input_stream(str(path)) as file:
        start = file.read(MAX_HEADER_BYTES)
    encoding, mark = next(
        ((name, mark) for name, mark in MARKS.items() if start.startswith(mark)), ("", b"")
    )
    encoding = encoding or ("utf-16-le" if form.encoding == "utf-16" else form.encoding) or "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)()  # the end may cut a character in two
    text = io.StringIO(decoder.decode(start).removeprefix("\ufeff"), newline="")
    header = text.readline()
    above = header if header.lower().startswith("sep=") else ""
    header = text.readline() if above else header
    if not header.strip():
        raise ArgumentError(f"{path} is empty: it has no header")
    delimiter = form.delimiter or above[4:5] or ("\t" if ".tsv" in path.suffixes else "")
    if not delimiter:  # the one that is most often in the header, outside of quotes
        delimiter = max(DELIMITERS, key="".join(header.split('"')[::2]).count)
    if header.count('"') % 2 or (
        len(start) == MAX_HEADER_BYTES and not header.endswith(("\n", "\r"))
    ):
        raise ArgumentError(
            f"{path} must have a header of one line in which every quote is closed"
        )
    names = next(csv.reader([header], delimiter=delimiter, skipinitialspace=True))
    whole = CsvFormat(
        delimiter, form.decimal or ("," if delimiter == ";" else "."), encoding, form.na
    )
    head = above + header + ("" if header.endswith(("\n", "\r")) else "\n")
    return Layout(whole, mark, head, tuple(name.strip() for name in names))


def new_layout(path: Path, names: Sequence[str]) -> Layout:
    """Return the layout of a new file; refused if `layout_of` would read other names from it."""
    unfit = [name for name in names if name != name.strip() or len(name.splitlines()) > 1]
    _checks.require(
        not unfit, f"{path} must have names without line breaks and blanks around them", unfit
    )
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(names)
    return Layout(CsvFormat(delimiter, ".", "utf-8"), b"", text.getvalue(), tuple(names))


def without(layout: Layout, names: Collection[str]) -> Layout:
    """Return the layout of a file that lacks some columns, with a header of the others."""
    if not names:
        return layout
    left = tuple(name for name in layout.names if name not in names)
    lines = layout.head.splitlines(keepends=True)
    end = "\r\n" if layout.head.endswith("\r\n") else "\n"
    text = io.StringIO()
    csv.writer(text, delimiter=layout.delimiter, lineterminator=end).writerow(left)
    return layout._replace(head="".join([*lines[:-1], text.getvalue()]), names=left)


def batches(path: Path, layout: Layout, names: Iterable[str]) -> Any:
    """Return a reader of record batches in which every cell is text."""
    form = layout.form
    skipped = 1 + layout.head.lower().startswith("sep=")
    read = arrow_csv.ReadOptions(
        encoding=form.encoding, skip_rows=skipped, column_names=layout.names
    )
    parse = arrow_csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True)
    parse.ignore_empty_lines = len(layout.names) > 1  # in one column an empty line is a record
    cells = dict.fromkeys(layout.names, pa.large_string())
    convert = arrow_csv.ConvertOptions(column_types=cells, include_columns=list(names))
    return arrow_csv.open_csv(str(path), read, parse, convert)


def numbers(
    texts: ArrowArray, layout: Layout, name: str, row: int = 1, *, plain: bool = False
) -> np.ndarray:
    """Return cells as numbers, NaN where a value is missing.

    Parameters
    ----------
    texts : pyarrow Array or ChunkedArray of text
    layout : Layout
    name : str
        Of the column, for messages.
    row : int
        The number of the first cell, for messages.
    plain : bool
        Whether numbers beyond 2^53, and marks between thousands, are refused: for schemes that
        compute values.
    """
    bare, gaps = plain_texts(texts, layout, thousands=not plain)
    largest = _checks.LARGEST_EXACT_INTEGER if plain else _checks.MAX_MAGNITUDE
    try:
        values = bare.cast(pa.float64()).to_numpy()
        right = np.abs(values) <= largest
    except pa.ArrowInvalid:  # whose message holds a cell
        right = pc.match_substring_regex(bare, NUMBER).to_numpy()
    at = np.flatnonzero(~(right | gaps.to_numpy()))
    if at.size:
        bound = "of at most 2^53 " if plain else ""
        rule = f"{name} must hold numbers {bound}with the decimal mark {layout.form.decimal!r}"
        got = f"got another text in row {row + int(at[0])} ({at.size} cells)"
        raise ArgumentError(
            f"{rule}, {got}; pass csv=CsvFormat(decimal=..., na=...) to say how they are written"
        )
    return np.asarray(values)


def plain_texts(
    texts: ArrowArray, layout: Layout, *, thousands: bool
) -> tuple[ArrowArray, ArrowArray]:
    """Return cells as Arrow reads numbers, "nan" for missing ones; and where these are.

    Marks between thousands are taken out where a cell shows that they are no decimal marks, as
    1,200.50 or 1,200,000 does and 1,200 does not.
    """
    bare = pc.ascii_trim_whitespace(texts)
    gaps = pc.is_in(bare, value_set=layout.form.missing)
    bare = pc.if_else(gaps, pa.scalar("nan", pa.large_string()), bare)
    mark = layout.form.decimal or "."
    if thousands and has_thousands(bare, mark):
        between = "," if mark == "." else "."
        without = pc.replace_substring(bare, between, "")
        grouped = pc.match_substring_regex(bare, _grouped(mark, at_least=1))
        bare = pc.if_else(grouped, without, bare)
    if mark == ",":  # where a point makes no number
        bare = pc.replace_substring(pc.replace_substring(bare, ".", ";"), ",", ".")
    return bare, gaps


def has_thousands(bare: ArrowArray, mark: str) -> bool:
    """Return whether some cells have marks between thousands that are no decimal marks."""
    between = "," if mark == "." else "."
    if not pc.any(pc.match_substring(bare, between)).as_py():
        return False
    point = re.escape(mark)
    sure = f"{_grouped(mark, at_least=2)}|^[+-]?[0-9]{{1,3}}({re.escape(between)}[0-9]{{3}})+{point}[0-9]"
    return bool(pc.any(pc.match_substring_regex(bare, sure)).as_py())


def _grouped(mark: str, *, at_least: int) -> str:
    """Return a pattern of numbers with marks between so many thousands, or more."""
    between = re.escape("," if mark == "." else ".")
    groups = f"({between}[0-9]{{3}}){{{at_least},}}"
    return f"^[+-]?[0-9]{{1,3}}{groups}({re.escape(mark)}[0-9]*)?$"


def as_written(
    masked: ArrowArray, cells: ArrowArray, layout: Layout, places: int | None
) -> ArrowArray:
    """Return masked numbers, an Arrow array, as text with `places` decimals; None for as few as
    each needs.

    In place of a missing number the cell of the original is kept if it is a word for a missing
    value, and emptied otherwise.
    """
    kind = pa.large_string()
    text = masked.cast(pa.string())
    # of polars and NumPy
    text = pc.if_else(pc.equal(text, "nan"), pa.scalar(None, pa.string()), text)
    if places is not None:
        text = text.cast(pa.decimal128(38, places)).cast(pa.string())
    elif pc.any(pc.match_substring(text, "e")).as_py():  # exponents, which not every reader knows
        plain = [
            z if z is None else np.format_float_positional(z, trim="-") for z in masked.to_pylist()
        ]
        text = pa.chunked_array([pa.array(plain, pa.string())])
    if layout.form.decimal == ",":
        text = pc.replace_substring(text, ".", ",")
    gaps = pc.is_in(pc.ascii_trim_whitespace(cells), value_set=layout.form.missing)
    return pc.coalesce(text.cast(kind), pc.if_else(gaps, cells, pa.scalar("", kind)))


def lines(table: ArrowTable, layout: Layout) -> Iterator[bytes]:
    """Yield rows of text as encoded lines, many at once; cells are quoted where needed."""
    end = "\r\n" if layout.head.endswith("\r\n") else layout.head[-1]
    special = f'[{re.escape(layout.delimiter)}"\r\n]'
    mark, none, between = (
        pa.scalar(word, pa.large_string()) for word in ('"', "", layout.delimiter)
    )
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        cells = []
        for texts in batch.columns:
            needed = pc.match_substring_regex(texts, special)
            if pc.any(needed).as_py():
                quoted = pc.binary_join_element_wise(
                    mark, pc.replace_substring(texts, '"', '""'), mark, none
                )
                texts = pc.if_else(needed, quoted, texts)
            cells.append(texts)
        rows = pc.binary_join_element_wise(*cells, between)
        yield end.join([*rows.to_pylist(), ""]).encode(layout.encoding)


def _encoding(name: str) -> str:
    """Return the canonical name of an encoding; refuse names that are none."""
    try:
        codec = codecs.lookup(name).name
        "a,b".encode(codec)
    except (LookupError, TypeError, ValueError):
        codec = ""
    _checks.require(bool(codec), "encoding must be the name of an encoding of text", name)
    return {"ascii": "utf-8", "utf-8-sig": "utf-8"}.get(codec, codec)
