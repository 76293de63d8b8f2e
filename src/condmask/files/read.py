"""Columns of a file of any format."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, joined
from condmask._log import logger
from condmask._optional import optional
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.csv_format import CsvFormat
from condmask.files.folder import FolderTable
from condmask.files.formats import (
    FORMATS,
    ROOMY,
    Table,
    columns_exist,
    format_of,
    reading,
    suffix_of,
)
from condmask.files.metadata import read_list
from condmask.files.part_files import is_folder, part_files, unchanged
from condmask.files.source_file import SourceFile
from condmask.files.spool import CODE, coded
from condmask.files.streams import OPENED
from condmask.frames import Labels

if TYPE_CHECKING:
    from condmask.files.arrow import ArrowFile

LOG = logger(__name__)


def read_column(path: str | os.PathLike[str], name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file: float32 or float64, NaN for missing, where it is numeric, else as it is.

    Parameters
    ----------
    path : path
        Of a file, a folder of files, or a glob.
    name : str
    csv : CsvFormat, optional
        How a CSV file is written, where that cannot be told from it.

    Returns
    -------
    ndarray of shape (n,)
    """
    place, name = _checks.path(path, "path"), _checks.text(name, "name")
    with reading(place), unchanged(place):
        table = open_table(place, csv)
        columns_exist(table, [name])
        return column_of(table, name)


def read_numbers(path: str | os.PathLike[str], name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file, as `read_column` has it, that must be numeric; the line says where it is not."""
    with reading(Path(path)), unchanged(Path(path)):
        table = open_table(Path(path), csv)
        columns_exist(table, [name])
        LOG.info("reading a column of %s", table.path)
        return joined(part[name] for part in numbers_of(table, [name]))


def column_of(table: Table, name: str) -> np.ndarray:
    """One column of an open file, as `read_column` has it."""
    LOG.info("reading a column of %s", table.path)
    try:
        return joined(part[name] for part in numbers_of(table, [name]))
    except TypeError:
        return labels_of_column(table, name)


def read_labels(path: str | os.PathLike[str], name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file as labels: what its records have in common, whatever its type; None for missing.

    Parameters
    ----------
    path : path
    name : str
    csv : CsvFormat, optional
        As for `mask_file`.

    Returns
    -------
    ndarray of shape (n,), of objects
    """
    with reading(Path(path)), unchanged(Path(path)):
        table = open_table(Path(path), csv)
        columns_exist(table, [name])
        return labels_of_column(table, name)


def open_table(path: Path, csv: CsvFormat | None = None, workers: Workers = 1) -> Table:
    """The reader of a file, by its suffix, or of all files in a folder or of a glob."""
    if csv is not None and not isinstance(csv, CsvFormat):
        raise ArgumentTypeError(f"csv must be None or a CsvFormat, got {_checks.shown(csv)}")
    if is_folder(path):
        return _open_folder(path, csv, workers)
    if suffix_of(path) not in FORMATS and path not in OPENED:
        path.stat()  # a folder, most likely: that it is not there says more than what its suffix should be
    is_text = format_of(path) not in ROOMY
    if csv is not None and not is_text:
        raise ArgumentError(f"csv must be left out for {path.name}, which is no text, got {csv!r}")
    with optional(path.name, "cli"):
        if not is_text:
            return _open_with_arrow(path)
        from condmask.files.csv import CsvFile

        return CsvFile(path, csv, workers)


def _open_with_arrow(path: Path) -> "ArrowFile":
    from condmask.files.arrow import ArrowFile
    from condmask.files.parquet import ParquetFile

    with SourceFile(path) as file:
        if file.seek(0, os.SEEK_END) == 0:
            raise ArgumentError(f"{path} is empty")
    return ParquetFile(path) if format_of(path) == "Parquet" else ArrowFile(path)


def _open_folder(path: Path, csv: CsvFormat | None, workers: Workers) -> Table:
    files = part_files(path)
    is_text = format_of(files.paths[0]) not in ROOMY
    if csv is not None and not is_text:
        raise ArgumentError(f"csv must be left out for {path}, which holds no text, got {csv!r}")
    with optional(str(path), "cli"):
        if not is_text:
            from condmask.files.arrow_folder import ArrowFiles

            return FolderTable(path, files, ArrowFiles(path, files, _open_with_arrow))
        from condmask.files.csv_folder import CsvFiles

        published = (read_list(files.base) or {}).get("csv", {})
        form = (csv or CsvFormat()).or_else(published)
        return FolderTable(path, files, CsvFiles(path, files, form, workers))


def converted(table: Table) -> Table:
    """A table on its way into a file of another format."""
    from condmask.files.convert import Converted

    return Converted(table)


def labels_of_column(table: Table, name: str) -> np.ndarray:
    """A column as objects."""
    LOG.info("reading labels of %s", table.path)
    labels = [part.labels[name] for part in table.parts([], [name])]
    parts = [np.array([*distinct, None], dtype=object)[code] for code, distinct in labels]
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def coded_column(table: Table, name: str) -> Labels:
    """A column as labels, numbered as they come."""
    LOG.info("reading labels of %s", table.path)
    numbers: dict[Any, int] = {}
    code = joined(part.astype(CODE) for part in coded(table, name, numbers))
    return Labels(code.astype(CODE, copy=False), list(numbers))


def numbers_of(table: Table, names: list[str]) -> Iterator[dict[str, np.ndarray]]:
    """Numbers part by part, float32 as such: on a decimal grid they are other numbers than float64."""
    for part in table.parts(names):
        yield {
            name: values.astype(np.float32) if kind == "float32" else values
            for name, (values, kind) in part.numbers.items()
        }
