"""What a file of any format gives and takes, and which format it has."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from condmask import _checks
from condmask.files.atomic import FileError, Output, reason

FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}


class Rows(Protocol):
    """Masked rows on their way into a file."""

    nulls: bool  # whether a missing value is written as null (in text as nothing), and not as it was
    workers: int  # threads that a writer may use

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Kind and, for formats of text, decimals of each column; None is as many as they need."""

    def take(self, count: int) -> dict[str, np.ndarray]:
        """The next rows of every column."""


class Table(Protocol):
    """A file with columns, read part by part."""

    path: Path
    names: list[str]

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left with the file."""

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers as float64, NaN where missing, and their kind."""

    def labels(self, name: str) -> Iterator[tuple[np.ndarray, list[Any]]]:
        """A column of any plain type, in codes and the distinct values they stand for."""

    def rewrite(self, output: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in place; missing values stay as they are."""


def format_of(path: Path) -> str:
    """The format of a file, by its suffix."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path} must end in one of {', '.join(FORMATS)}, got {path.suffix or 'no suffix'}")
    return FORMATS[suffix]


def columns_exist(table: Table, names: Sequence[str]) -> None:
    """Refuse names that a table has not, or has several times."""
    for name in names:
        if table.names.count(name) != 1:
            number = "no column" if name not in table.names else "several columns"
            raise ValueError(f"{table.path} has {number} {name!r}, it has {_checks.listed(table.names)}")


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
