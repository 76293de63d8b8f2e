"""Columns of a file, of the files of a folder, or of a pattern of files."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from condmask import _checks
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
    return opened(path, csv).numbers_or_objects(_checks.text(name, "name"))


def read_table(path: Path, numeric: Iterable[str], *, csv: CsvFormat | None = None) -> Any:
    """A whole file as a table of Arrow, these columns as numbers."""
    import pyarrow as pa

    source = opened(path, csv)
    source.require(list(numeric))
    return source.numeric(pa.concat_tables(source.parts()), numeric)


def opened(path: Path, csv: CsvFormat | None = None) -> Source:
    """A file as a source of columns."""
    return Source(_checks.path(path, "path"), csv)
