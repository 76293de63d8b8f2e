"""Columns of a file, of the files of a folder, or of a pattern of files."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError, optional
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Source

Path = str | os.PathLike[str]


def read_column(path: Path, name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file: float32 or float64, NaN for missing, where it is numeric, else as it is.

    Parameters
    ----------
    path : path
        Of a file, a folder of files, or a pattern of files.
    name : str
    csv : CsvFormat, optional
        How a CSV file is written, where that cannot be told from its first line.

    Returns
    -------
    ndarray of shape (n,)
    """
    return numbers_or_objects(opened(path, csv), _checks.text(name, "name"))


def read_numbers(path: Path, name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file, as `read_column` has it, that must be numeric; the row says where it is not."""
    return opened(path, csv).column(name)


def read_table(path: Path, numeric: Iterable[str], *, csv: CsvFormat | None = None) -> Any:
    """A whole file as a table of Arrow, these columns as numbers."""
    import pyarrow as pa

    source = opened(path, csv)
    source.require(list(numeric))
    return source.numeric(pa.concat_tables(source.parts()), numeric)


def read_labels(path: Path, name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file as labels: what its records have in common; None for missing."""
    return _objects(opened(path, csv), name)


def opened(path: Path, csv: CsvFormat | None = None) -> Source:
    """A file as a source of columns."""
    place = _checks.path(path, "path")
    with optional(place.name, "files"):
        import pyarrow  # noqa: F401
    return Source(place, csv)


def _objects(source: Source, name: str) -> np.ndarray:
    labels = source.labels(name)
    return np.asarray(np.array(list(labels.distinct), dtype=object)[labels.code])


def numbers_or_objects(source: Source, name: str) -> np.ndarray:
    """A column as numbers, where it holds these."""
    source.require([name])
    try:
        return source.column(name)
    except (ArgumentTypeError, ArgumentError):
        return _objects(source, name)
