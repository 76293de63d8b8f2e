"""Read and write files of SPSS (.sav, .zsav) and Stata (.dta) by pyreadstat.

Such a file is read whole. Numbers come as they are stored, dates too: seconds since 14 October
1582 in SPSS, days and the like since 1960 in Stata. Stata's missing values .a to .z become numbers
that no data have, and letters again when they are written. Everything else that pyreadstat knows
of the file is written back: labels, formats, measures, widths, declared missing values and
compression.
"""

import os
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask.errors import FileError, optional
from condmask.files.arrow import ArrowTable, pa, pc
from condmask.grid import decimals_of
from condmask.missing_codes import Code

SUFFIXES = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata"}
LETTERS = {chr(ord("a") + k): -(2.0**900) * (k + 1) for k in range(26)}  # .a to .z as numbers
STORAGE = {"int8": "int8", "int16": "int16", "int32": "int32", "float": "float32"}
TIMES_IN_MEMORY = 4  # of the numbers of a file, while it is read and written
MIN_COMPRESSED_COLUMNS = 8  # rows of fewer columns are not shorter when they are compressed
WEIGHT_AT = 76  # bytes from the start of a .sav file: which variable has the weights
COMPRESSION_AT = 72
VARIABLES_AT = 176
OPEN = 1.79e308  # ends of ranges beyond it are open


class StatFile(NamedTuple):
    """A file of SPSS or Stata in memory.

    Attributes
    ----------
    table : pyarrow Table
    about : pyreadstat metadata
        Labels, formats and the like.
    form : {"SPSS", "Stata"}
    weight : str or None
        The variable with sampling weights, which only SPSS knows.
    compressed : bool
        Whether rows are compressed.
    """

    table: ArrowTable
    about: Any
    form: str
    weight: str | None = None
    compressed: bool = False

    def codes(self, name: str) -> list[Code]:
        """Return the codes and ranges that the file declares for a column, and those that stand
        for .a to .z in it."""
        if self.form == "Stata":
            used = pc.unique(self.table[name]).to_pylist() if self._has_numbers(name) else []
            return sorted(code for code in used if code in LETTERS.values())
        codes: list[Code] = []
        for entry in self.about.missing_ranges.get(name, ()):
            low, high = entry["lo"], entry["hi"]
            if isinstance(low, float) and low == high:
                codes.append(low)
            elif isinstance(low, float):
                codes.append((None if low < -OPEN else low, None if high > OPEN else high))
        return codes

    def _has_numbers(self, name: str) -> bool:
        return bool(pa.types.is_floating(self.table.schema.field(name).type))

    def labelled_values(self, name: str) -> list[float]:
        """Return the values of a column that have labels."""
        labels = self.about.variable_value_labels.get(name, {})
        return [LETTERS.get(value, value) for value in labels]

    def losses(self, form: str) -> list[str]:
        """Return what is not written into a file of a format, as sentences."""
        if form != self.form:
            return [
                "labels, formats, measures, declared missing values and the weight variable are "
                f"left out of a file of {form}; dates are numbers"
            ]
        lost = ["documents, notes and custom attributes are left out: they may hold anything"]
        if self.form == "SPSS" and self.about.mr_sets:
            lost.append("multiple response sets are left out")
        narrow = [
            name
            for name, kind in self.about.readstat_variable_types.items()
            if kind in ("int8", "int16", "float")
        ]
        if self.form == "Stata" and narrow:
            lost.append(
                f"{len(narrow)} variables of type byte, int or float become long or double, with "
                "the same values"
            )
        return lost


def form_of(path: Path) -> str | None:
    """Return the format of a file of SPSS or Stata by its suffix; None for other files."""
    return SUFFIXES.get(path.suffix.lower())


def read(path: Path) -> StatFile:
    """Read a file of SPSS or Stata."""
    with optional(f"{path}, a file of SPSS or Stata,", "stat"):
        import pyreadstat
    form = SUFFIXES[path.suffix.lower()]
    os.stat(path)  # refuses a file that is not there
    reader = pyreadstat.read_sav if form == "SPSS" else pyreadstat.read_dta
    try:
        _, about = reader(str(path), metadataonly=True)
        _refuse_too_large(path, about)
        frame, about = reader(str(path), user_missing=True, disable_datetime_conversion=True)
    except (MemoryError, FileError):
        raise
    except Exception:  # of a class of its own, or of others; its text may hold values
        raise FileError(
            f"{path} cannot be read: it is damaged, or of a version of {form} that pyreadstat "
            "does not know"
        ) from None
    kinds = about.readstat_variable_types
    for name in [name for name in about.missing_user_values if "int" in kinds[name]]:
        # beside letters, pyreadstat has any number for an integer that is missing
        plain = reader(str(path), usecols=[name], disable_datetime_conversion=True)[0][name]
        is_letter = frame[name].map(lambda value: isinstance(value, str))
        frame[name] = frame[name].mask(plain.isna() & ~is_letter, None)
    columns = {name: _in_arrow(frame[name], kinds[name], form) for name in frame.columns}
    table = pa.table(columns)
    if form == "Stata":
        return StatFile(table, about, form)
    with path.open("rb") as file:
        header = file.read(VARIABLES_AT)
    compressed = struct.unpack_from(f"{_order_of(header)}i", header, COMPRESSION_AT)[0] == 1
    return StatFile(table, about, form, weight_of(path, about), compressed)


def _refuse_too_large(path: Path, about: Any) -> None:
    """Refuse a file that does not fit into memory."""
    cells = max(about.number_rows or 0, 0) * max(about.number_columns or 0, 0)
    needed = 8 * TIMES_IN_MEMORY * cells
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # systems that do not say
        return
    if needed > there:
        raise FileError(
            f"{path} needs {needed / 2**30:,.0f} GiB of memory, of which there are "
            f"{there / 2**30:,.0f}: write it as Parquet, in parts"
        )


def _in_arrow(values: Any, kind: str, form: str) -> Any:
    """Return a column of pyreadstat as an array of Arrow, with nulls for missing values."""
    if kind == "string":
        return pa.array(values, pa.large_string(), from_pandas=True)
    array = values.to_numpy()
    if array.dtype == object:  # integers with gaps, or letters
        array = np.array(
            [np.nan if value is None else LETTERS.get(value, value) for value in array.tolist()],
            dtype=np.float64,
        )
        if np.isin(array, list(LETTERS.values())).any():
            return pa.array(array, mask=np.isnan(array))
    stored = pa.array(array, from_pandas=True)  # nulls for NaN
    if form == "Stata" and kind == "double" and _is_single(array[~np.isnan(array)]):
        kind = "float"
    return stored.cast(STORAGE[kind]) if kind in STORAGE else stored


def _is_single(values: np.ndarray) -> bool:
    """Return whether numbers were written in single precision, as 12.300000190734863 was."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    return np.array_equal(single, values) and decimals_of(values) is None


def without_letters(column: Any) -> Any:
    """Return a column of Arrow with nulls for the numbers that stand for .a to .z."""
    if not pa.types.is_float64(column.type):
        return column
    letters = pc.is_in(column, value_set=pa.array(list(LETTERS.values())))
    return pc.if_else(letters, pa.scalar(None, column.type), column)


def table_without_letters(table: ArrowTable) -> ArrowTable:
    """Return a table with nulls for the numbers that stand for .a to .z."""
    columns = [without_letters(column) for column in table.columns]
    return pa.table(columns, names=table.schema.names)


def batches(table: ArrowTable, names: Iterable[str], rows: int) -> Iterator[Any]:
    """Yield columns of a file in record batches of so many rows."""
    yield from table.select(list(names)).to_batches(max_chunksize=rows)


# --- writing ---


def write(
    path: Path, table: ArrowTable, source: StatFile | None, undeclared: Iterable[str] = ()
) -> list[str]:
    """Write a table as a file of SPSS or Stata, with the labels and the like of its source.

    Columns `undeclared` have no codes any more, and so no values that are declared as missing.

    Returns
    -------
    list of str
        What could not be kept of the source, as sentences.
    """
    with optional(f"{path.name}, a file of SPSS or Stata,", "stat"):
        import pyreadstat
    form = SUFFIXES[path.suffix.lower()]
    about = source.about if source is not None and source.form == form else None
    whole = {} if about is None else about.readstat_variable_types
    integers = {name for name, kind in whole.items() if "int" in kind}
    frame, letters = _frame(table, integers, lettered=form == "Stata")
    options: dict[str, Any] = {}
    if about is not None:
        options = _kept(about, table.schema.names)
        for name in undeclared:
            options["missing_ranges"].pop(name, None)
    if form == "Stata":
        for name in ("missing_ranges", "variable_display_width", "variable_measure"):
            options.pop(name, None)
        pyreadstat.write_dta(frame, str(path), missing_user_values=letters or None, **options)
        return []
    rows = source is not None and source.compressed and len(table.schema) >= MIN_COMPRESSED_COLUMNS
    zipped = path.suffix.lower() == ".zsav"
    pyreadstat.write_sav(
        frame, str(path), compress=zipped, row_compress=rows and not zipped, **options
    )
    weight = None if source is None else source.weight
    if weight is not None and not set_weight(path, table.schema, weight):
        return [f"{weight} is no longer marked as the weight variable"]
    return []


def _kept(about: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return what pyreadstat writes of labels, formats and the like, of some columns."""

    def of_columns(entries: Mapping[str, Any] | None) -> dict[str, Any]:
        return {name: entries[name] for name in names if entries and entries.get(name) is not None}

    measures = of_columns(about.variable_measure)
    return {
        "file_label": about.file_label or "",
        "column_labels": of_columns(about.column_names_to_labels),
        "variable_value_labels": of_columns(about.variable_value_labels),
        "missing_ranges": of_columns(about.missing_ranges),
        "variable_display_width": of_columns(about.variable_display_width),
        "variable_measure": {k: kind for k, kind in measures.items() if kind != "unknown"},
        "variable_format": of_columns(about.original_variable_types),
    }


def _frame(
    table: ArrowTable, whole: Collection[str], *, lettered: bool
) -> tuple[Any, dict[str, list[str]]]:
    """Return a table as pandas has it, with the letters of missing values; and those by column.

    Numbers beside letters are integers in the columns that are `whole`.
    """
    frame = table.to_pandas(integer_object_nulls=True)
    letter_of = {number: letter for letter, number in LETTERS.items()}
    letters = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if not lettered or not pa.types.is_float64(column.type):
            continue
        used = [number for number in pc.unique(column).to_pylist() if number in letter_of]
        if used:
            letters[name] = sorted(letter_of[number] for number in used)
            number = int if name in whole else float
            frame[name] = [
                letter_of.get(value, value if value is None else number(value))
                for value in column.to_pylist()
            ]
    return frame, letters


# --- the weight variable of SPSS, which pyreadstat does not know ---


def _order_of(header: bytes) -> str:
    """Return the order of bytes in a .sav file, as `struct` names it."""
    (layout,) = struct.unpack_from("<i", header, 64)
    return "<" if layout in (2, 3) else ">"


def _numeric_places(path: Path) -> tuple[str, list[int]]:
    """Return the order of bytes in a .sav file, and the numbers by which its header names its
    numeric variables, from 1 on; a string takes a number for each 8 letters."""
    content = path.read_bytes()
    order = _order_of(content)
    places = []
    at = VARIABLES_AT
    number = 0
    while struct.unpack_from(f"{order}i", content, at)[0] == 2:
        width, has_label, missing = struct.unpack_from(f"{order}3i", content, at + 4)
        number += 1
        if width == 0:
            places.append(number)
        at += 32
        if has_label:
            (length,) = struct.unpack_from(f"{order}i", content, at)
            at += 4 + -(-length // 4) * 4
        at += 8 * abs(missing)
    return order, places


def weight_of(path: Path, about: Any) -> str | None:
    """Return the weight variable of a .sav file; None if there is none."""
    order, places = _numeric_places(path)
    (index,) = struct.unpack_from(f"{order}i", path.read_bytes()[:VARIABLES_AT], WEIGHT_AT)
    kinds = about.readstat_variable_types
    names = [name for name in about.column_names if kinds[name] != "string"]
    if index not in places or len(names) != len(places):
        return None
    return str(names[places.index(index)])


def set_weight(path: Path, schema: Any, name: str) -> bool:
    """Mark a variable of a .sav file as its weight variable; return whether that was possible."""
    order, places = _numeric_places(path)
    names = [field.name for field in schema if not _is_text(field.type)]
    if name not in names or len(names) != len(places):
        return False
    with path.open("r+b") as file:
        file.seek(WEIGHT_AT)
        file.write(struct.pack(f"{order}i", places[names.index(name)]))
    return True


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string(kind))
