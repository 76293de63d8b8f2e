"""Formats of files, and what a file of any format provides."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.atomic import FileError, Fingerprint, Output, reason
from condmask.files.recoding import is_packed
from condmask.files.streams import OPENED

FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".txt": "CSV",
    ".tsv": "TSV",
    ".csv.gz": "CSV in gzip",
    ".txt.gz": "CSV in gzip",
    ".tsv.gz": "TSV in gzip",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
ROOMY = ("Parquet", "Arrow")  # with room for what is published with the data
PACKED = " in gzip"
FILENAME = "__filename"  # the name of a file among many, as a column


class Rows(Protocol):
    """Masked rows to be written to a file."""

    workers: int  # threads that a writer may use
    done: int  # rows that were taken

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Kind and, for text formats, decimals of each column; None for as many as needed."""

    @property
    def nulls(self) -> set[str]:
        """The columns in which a masked NaN becomes a null; in others the original stays."""

    def take(self, count: int) -> dict[str, np.ndarray]:
        """The next rows of every column; NaN for a missing value, or a code for one."""


class Part(NamedTuple):
    """Some rows of a table: numbers as float64, NaN where missing, with their kind; labels as codes with the
    distinct values that these stand for."""

    numbers: dict[str, tuple[np.ndarray, str]]
    labels: dict[str, tuple[np.ndarray, list[Any]]]


class Sample(NamedTuple):
    """Some rows of a table, by number, and their values by column: float64 and NaN for missing where these
    are numbers, yes and no, or times in days, else objects and None for missing."""

    rows: np.ndarray
    columns: dict[str, np.ndarray]


class Writable(Protocol):
    """A table to be written to a file."""

    path: Path

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """The files of the table, with fingerprints that change when somebody writes to one."""

    @property
    def description(self) -> dict[str, Any]:
        """What is needed to read a copy again and is not in the copy, as JSON."""

    def rewrite(self, output: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the table with the masked rows in place; missing values stay unchanged."""


class Table(Writable, Protocol):
    """A file with columns, read part by part."""

    names: list[str]

    @property
    def rows(self) -> int | None:
        """The number of rows; None if only reading all of it tells."""

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking published with the file."""

    def notes(self) -> list[str]:
        """The names of notes on the file and its columns that a copy leaves out."""

    def keep(self, notes: Collection[str]) -> None:
        """Keep notes of these names, on the file and its unmasked columns, in a copy, and no others."""

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """All rows in one pass: columns of numbers, and others, of any plain type, as labels."""

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """These rows, or about as many from all over the file if that is cheaper; call after a pass of
        `parts`. Columns that cannot be decoded, or contain lists and the like, are left out."""


def format_of(path: Path) -> str:
    """The format of a file, by its suffix; a stream is text."""
    if path in OPENED:
        return "CSV" + PACKED * is_packed(path)
    suffix = suffix_of(path)
    if suffix not in FORMATS:
        raise ArgumentError(
            f"{path} must end in one of {', '.join(FORMATS)}, got {path.suffix or 'no suffix'}"
        )
    return FORMATS[suffix]


def suffix_of(path: Path) -> str:
    """The suffix of a file, together with the one before if it is compressed."""
    suffix = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if suffix == ".gz" else suffix


def columns_exist(table: Table, names: Sequence[str]) -> None:
    """Refuse names that a table does not have, or has several times."""
    for name in names:
        if name == FILENAME and name not in table.names:
            raise ArgumentError(
                f"{table.path} is one file, and strata by file (--strata-by-file) need several"
            )
        if table.names.count(name) != 1:
            number = "no column" if name not in table.names else "several columns"
            within = any(name.startswith(f"{column}.") for column in table.names)
            hint = "; what is within a column must become one of its own first" if within else ""
            raise ArgumentError(
                f"{table.path} has {number} {name!r}, it has {_checks.listed(table.names)}{hint}"
            )


def in_the_files(table: Table, names: Collection[str]) -> None:
    """Refuse columns to mask whose values are in the names of folders or files, which do not change."""
    for name in names:
        if name in getattr(table, "virtual", ()):
            raise ArgumentError(
                f"{name} cannot be masked: the names of files of {table.path} contain it, and these are "
                "released"
            )


def without_names(table: Table, text: str) -> list[str]:
    """How to leave out columns of a text that names of files reveal; nothing if it names none of them."""
    told = [name for name in getattr(table, "virtual", ()) if repr(name) in text]
    if not told:
        return []
    return [
        f"names of files and folders reveal {_checks.listed(told)}, and are released: to avoid that, mask "
        "one file of all rows instead"
    ]


def named_once(table: Table) -> None:
    """Refuse columns that share a name: an audit looks at columns by name, and would leave them out."""
    for name in table.names:
        if table.names.count(name) > 1:
            raise ArgumentError(
                f"{table.path} must have one column of each name to be audited, got {name!r} "
                f"{table.names.count(name)} times: rename them"
            )


@contextmanager
def in_lines(table: Table) -> Iterator[None]:
    """Let errors about a row name the line of a text file, as editors count, and the file."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        position = re.search(r"at position (\d+)", str(error))
        place_of = getattr(table, "place_of", None)
        if position is None or place_of is None:
            raise
        text = str(error).replace(position[0], place_of(int(position[1])))
        raise type(error)(text) from None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Errors of the operating system, as one sentence that names the file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        where = path if error.filename is None else error.filename
        raise FileError(f"{where}: {reason(error)}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise FileError(f"{path}: not readable: {error}") from error
