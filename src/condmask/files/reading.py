"""What a file tells: the schemes it carries, a column, the estimate of a masked one."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import Workers
from condmask.estimates.estimate import Estimate
from condmask.estimates.summary import Summary
from condmask.files.csv import CsvFile
from condmask.files.dialect import CsvFormat
from condmask.files.spooled import coded
from condmask.files.table import (
    Table,
    columns_exist,
    format_of,
    published_schemes,
    reading,
)
from condmask.schemes.scheme import Scheme
from condmask.strata import names_of


def read_schemes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The schemes of the masked columns of a file.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.

    Returns
    -------
    dict of str to scheme

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme.
    """
    path = Path(path)
    with reading(path):
        schemes = published_schemes(open_table(path))
    if not schemes:
        raise ValueError(f"{path} holds no scheme: it was not masked by condmask, or its metadata is lost")
    return schemes


def read_column(path: str | os.PathLike[str], name: str, *, csv: CsvFormat | None = None) -> np.ndarray:
    """One column of a file: float32 or float64, NaN for missing, where it is numeric, else as it is.

    Parameters
    ----------
    path : path
    name : str
    csv : CsvFormat, optional
        How a CSV file is written, where that cannot be told from it.

    Returns
    -------
    ndarray of shape (n,)
    """
    with reading(Path(path)):
        table = open_table(Path(path), csv)
        columns_exist(table, [name])
        return column_of(table, name)


def column_of(table: Table, name: str) -> np.ndarray:
    """One column of an open file, as `read_column` has it."""
    try:
        parts = [part[name] for part in _numbers(table, [name])]
    except TypeError:
        parts = [np.array(values, dtype=object)[code] for code, values in table.labels(name)]
    return np.concatenate(parts) if parts else np.empty(0)


def read_labels(path: str | os.PathLike[str], name: str) -> np.ndarray:
    """One column of a file as labels: what its records have in common, whatever its type; None for missing.

    Parameters
    ----------
    path : path
    name : str

    Returns
    -------
    ndarray of shape (n,), of objects
    """
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, [name])
        parts = [np.array([*values, None], dtype=object)[code] for code, values in table.labels(name)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def read_release(
    path: str | os.PathLike[str], column: str | None = None, *, workers: Workers = 1
) -> Estimate:
    """The estimate of a masked column, from the file alone.

    Parameters
    ----------
    path : path
        A file that `mask_file` wrote.
    column : str, optional
        May be left out where one column is masked.
    workers : int or map-like callable
        Results do not depend on it.

    Returns
    -------
    Estimate
        Its scheme is the one in the file, and donor pools are told from the columns that this names.

    Raises
    ------
    FileError
        If the file cannot be read.
    ValueError
        If it holds no scheme, or not of this column, or lacks a column that tells the donor pools.
    """
    name, scheme = _masked_column(path, column)
    pools: dict[str, Any] = {}
    if scheme.strata is not None:
        with reading(Path(path)):
            table, groups = open_table(Path(path)), names_of(scheme.strata)
            columns_exist(table, groups)
            pools["strata"] = {each: np.concatenate(list(coded(table, each, {}))) for each in groups}
    if scheme.patterns:
        pools["patterns"] = {each: read_column(path, each) for each in scheme.patterns}
    found: Estimate = scheme.estimate(read_column(path, name), workers=workers, **pools)
    return found


def read_summary(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    other: str | None = None,
) -> Summary:
    """The summary of a masked column in one pass, for files larger than memory.

    Parameters
    ----------
    path, column
        As for `read_release`.
    other : str, optional
        A column that was not masked, for their covariance.

    Returns
    -------
    Summary
        The scheme's ``estimate(summary)`` has the estimates; `read_schemes` gives the scheme.
    """
    name, scheme = _masked_column(path, column)
    if scheme.law is None:
        raise TypeError(f"{name} must be masked by a scheme with estimates for a Summary, got {scheme!r}")
    summary = Summary(scheme)  # type: ignore[arg-type]
    names = [name] if other is None else [name, other]
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, names)
        for part in _numbers(table, names):
            summary.update(*(part[each] for each in names))
    return summary


def open_table(path: Path, csv: CsvFormat | None = None, workers: Workers = 1) -> Table:
    """The reader of a file, by its suffix."""
    if format_of(path) not in ("Parquet", "Arrow"):
        return CsvFile(path, csv, workers)
    if csv is not None:
        raise ValueError(f"csv must be left out for {path.name}, which is no text, got {csv!r}")
    try:
        from condmask.files.arrow import ArrowFile
    except ImportError as error:
        raise ImportError(f"{path.name} needs pyarrow: pip install 'condmask[cli]'") from error
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return ArrowFile(path)


def _masked_column(path: str | os.PathLike[str], column: str | None) -> tuple[str, Scheme]:
    schemes = read_schemes(path)
    masked = ", ".join(map(repr, schemes))
    if column is None and len(schemes) > 1:
        raise ValueError(f"column must be one of the masked columns {masked}, got None")
    name = next(iter(schemes)) if column is None else column
    if name not in schemes:
        raise ValueError(f"column must be one of the masked columns {masked}, got {name!r}")
    return name, schemes[name]


def _numbers(table: Table, names: list[str]) -> Iterator[dict[str, np.ndarray]]:
    """Numbers part by part, float32 as such: on a decimal grid they are other numbers than float64."""
    for chunk in table.chunks(names):
        yield {
            name: values.astype(np.float32) if kind == "float32" else values
            for name, (values, kind) in chunk.items()
        }
