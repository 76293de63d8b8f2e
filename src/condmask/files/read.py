"""What a file tells: the schemes it carries, a column, the estimate of a masked one."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import Workers
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimate
from condmask.files.csv import CsvFile
from condmask.files.csv_format import CsvFormat
from condmask.files.formats import Table, columns_exist, format_of, reading
from condmask.files.metadata import published, published_schemes, sidecar
from condmask.files.spool import coded
from condmask.scheme import Scheme
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
        beside = sidecar(path)
        where = "in the metadata of its schema" if beside is None else f"in {beside.name} beside it"
        raise ValueError(
            f"{path} holds no scheme: it was not masked by condmask, or what was published {where} is lost"
        )
    return schemes


def describe(path: str | os.PathLike[str]) -> tuple[int, list[str], dict[str, Any]]:
    """Rows, columns, and schemes of the masked ones."""
    schemes = read_schemes(path)
    with reading(Path(path)):
        table = open_table(Path(path))
        rows = published(table).get("rows")
        if rows is None:  # an older release
            name = next(iter(schemes))
            rows = sum(part[name].size for part in _numbers(table, [name]))
    return rows, list(table.names), schemes


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
        return _labels(table, name)
    return np.concatenate(parts) if parts else np.empty(0)


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
    with reading(Path(path)):
        table = open_table(Path(path), csv)
        columns_exist(table, [name])
        return _labels(table, name)


def read_release(path: str | os.PathLike[str], column: str | None = None, *, workers: Workers = 1) -> Any:
    """The estimate of a masked column, or of all of them, from the file alone.

    Parameters
    ----------
    path : path
        A file that `mask_file` or `write_release` wrote.
    column : str, optional
        The masked column; None is all.
    workers : int or map-like callable
        Results do not depend on it.

    Returns
    -------
    Estimate or ReleasedFile
        The estimate, or a mapping of estimates by column, each read when it is asked for. Schemes are those
        in the file, donor pools are told from the columns that they name, and other columns of the file are
        known by name: ``read_release(path, "income").correlation("age")``.

    Raises
    ------
    FileError
        If the file cannot be read, or is not the one that was released.
    ValueError
        If it holds no scheme, or not of this column, or lacks a column that tells the donor pools.
    """
    schemes = read_schemes(path)
    found = ReleasedFile(Path(path), schemes, workers)
    return found if column is None else found[masked_column(schemes, column)]


class ReleasedFile(Mapping[str, Estimate]):
    """The masked columns of a file: a mapping of their estimates.

    Attributes
    ----------
    path : Path
    schemes : dict of str to scheme
        How each column was masked.
    """

    def __init__(self, path: Path, schemes: dict[str, Any], workers: Workers = 1) -> None:
        self.path, self.schemes = path, schemes
        self._workers = workers
        self._read: dict[str, Estimate] = {}

    def __getitem__(self, column: str) -> Estimate:
        if column not in self.schemes:
            raise KeyError(column)
        if column not in self._read:
            self._read[column] = self._estimate(column).knowing(self._column)
        return self._read[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.schemes)

    def __len__(self) -> int:
        return len(self.schemes)

    def __repr__(self) -> str:
        return f"ReleasedFile({str(self.path)!r}, {self.schemes!r})"

    def _estimate(self, column: str) -> Estimate:
        scheme = self.schemes[column]
        pools: dict[str, Any] = {}
        if scheme.strata is not None:
            with reading(self.path):
                table, groups = open_table(self.path), names_of(scheme.strata)
                columns_exist(table, groups)
                pools["strata"] = {each: np.concatenate(list(coded(table, each, {}))) for each in groups}
        if scheme.patterns:
            pools["patterns"] = {each: read_column(self.path, each) for each in scheme.patterns}
        made: Estimate = scheme.estimate(read_column(self.path, column), workers=self._workers, **pools)
        return made

    def _column(self, name: str, labels: bool) -> Any:
        """Another column of the file, or the estimate of a masked one."""
        if name in self.schemes:
            return self[name]
        return (read_labels if labels else read_column)(self.path, name)


def read_counts(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    other: str | None = None,
) -> Counts:
    """Counts of a masked column in one pass, for files larger than memory.

    Parameters
    ----------
    path, column
        As for `read_release`.
    other : str, optional
        A column that was not masked, for their covariance.

    Returns
    -------
    Counts
        The scheme's ``estimate(counts)`` has the estimates; `read_schemes` gives the scheme.
    """
    schemes = read_schemes(path)
    name = masked_column(schemes, column)
    scheme = schemes[name]
    if not scheme.estimators:
        raise TypeError(f"{name} must be masked by a scheme with estimates for Counts, got {scheme!r}")
    counts = Counts(scheme)
    names = [name] if other is None else [name, other]
    with reading(Path(path)):
        table = open_table(Path(path))
        columns_exist(table, names)
        for part in _numbers(table, names):
            counts.update(*(part[each] for each in names))
    return counts


def open_table(path: Path, csv: CsvFormat | None = None, workers: Workers = 1) -> Table:
    """The reader of a file, by its suffix."""
    if format_of(path) not in ("Parquet", "Arrow"):
        return CsvFile(path, csv, workers)
    if csv is not None:
        raise ValueError(f"csv must be left out for {path.name}, which is no text, got {csv!r}")
    try:
        from condmask.files.arrow import ArrowFile
        from condmask.files.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(f"{path.name} needs pyarrow: pip install 'condmask[cli]'") from error
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return ParquetFile(path) if format_of(path) == "Parquet" else ArrowFile(path)


def converted(table: Table) -> Table:
    """The same table, on its way into a file of another format."""
    try:
        from condmask.files.convert import Converted
    except ImportError as error:
        raise ImportError("another format needs pyarrow: pip install 'condmask[cli]'") from error
    return Converted(table)


def masked_column(schemes: Mapping[str, Scheme], column: str | None) -> str:
    """The name of a masked column; None stands for the only one."""
    masked = ", ".join(map(repr, schemes))
    if column is None and len(schemes) > 1:
        raise ValueError(f"column must be one of the masked columns {masked}, got None")
    name = next(iter(schemes)) if column is None else column
    if name not in schemes:
        raise ValueError(f"column must be one of the masked columns {masked}, got {name!r}")
    return name


def _labels(table: Table, name: str) -> np.ndarray:
    """A column as objects."""
    labels = [part.labels[name] for part in table.parts([], [name])]
    parts = [np.array([*distinct, None], dtype=object)[code] for code, distinct in labels]
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def _numbers(table: Table, names: list[str]) -> Iterator[dict[str, np.ndarray]]:
    """Numbers part by part, float32 as such: on a decimal grid they are other numbers than float64."""
    for part in table.parts(names):
        yield {
            name: values.astype(np.float32) if kind == "float32" else values
            for name, (values, kind) in part.numbers.items()
        }
