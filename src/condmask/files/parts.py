"""Read a file, a long file, or the files of a folder as one table in parts.

A part is the next ``part_rows`` rows over all files, whatever their row groups; the last one has
half to one and a half times as many, so that no tiny part is left. Folders called ``key=value``
are columns, as Hive has them. Names that begin with ``.`` or ``_`` are left out.
"""

import glob
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import numpy as np

from condmask import _checks, frames
from condmask._blocks import in_stretches
from condmask.errors import ArgumentError, ArgumentTypeError, FileError
from condmask.files import csv_text, stat, tables
from condmask.files.arrow import ArrowSchema, ArrowTable, pa, pc
from condmask.files.csv_text import CsvFormat, Layout
from condmask.files.csv_values import with_cells
from condmask.files.names import padded
from condmask.files.schemas import KeyValue, unified, without_dask_index, without_views
from condmask.labels import Labels, coded
from condmask.marks import Mark, mark_in
from condmask.row_labels import NUMBERED, Known, RowLabels

CELLS_OF_PART = 1 << 24
SIDECAR = ".condmask.json"
MANIFEST = "_condmask.json"  # in the folder of a release
FILENAME = "__filename"  # the name of a file among many, as a column
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
Place = str | os.PathLike[str]
SharedT = TypeVar("SharedT")
SAMPLE_ROWS = 1 << 14  # from all over the files


class Source:
    """Reads one table in one file, or in several.

    Parameters
    ----------
    place : path
        A file, a folder, or a pattern of files (``data/*.parquet``).
    csv : CsvFormat, optional
        The format of CSV files; ignored for others.
    part_rows : int, optional
        Rows of a part; by default 2^24 divided by the number of columns.

    Attributes
    ----------
    base : Path
        The folder below which the names of the files begin; one file itself, whose name is "."
        then.
    files : list of Path
    rows : list of int
        The rows of each file, once it was read to its end; -1 before.
    keys : dict of str to list
        By key, the values in the names of the folders above each file; and the files' names.
    schema : Schema
        Of the table, with a column for each key.
    left_out : frozenset of str
        Columns of the files that are not read.
    marks : list of Mark
        In files of a release.
    """

    def __init__(
        self, place: Place, csv: CsvFormat | None = None, part_rows: int | None = None
    ) -> None:
        path = _checks.path(place, "path")
        known = csv is None or isinstance(csv, CsvFormat)
        _checks.require(known, "csv must be None or a CsvFormat", csv, ArgumentTypeError)
        self.path = path
        self.is_folder: bool = path.is_dir() or (glob.has_magic(str(path)) and not path.exists())
        self.base: Path = path
        self.files: list[Path] = [path]
        if self.is_folder:
            self.base, self.files = files_of(path)
        formats = {tables.format_of(file): file.name for file in self.files}
        self.format: str = _shared(
            path, formats, "contain files of one format, selected by a pattern in quotes"
        )
        self.layout: Layout | None = None
        self.stat: stat.StatFile | None = None
        with tables.reading(path):
            self._stamp = self._stamped()
            if self.format == "CSV":
                layouts = {
                    csv_text.layout_of(file, csv or CsvFormat()): file.name for file in self.files
                }
                self.layout = _shared(
                    path, layouts, "have files with one header, written in one way"
                )
                schemas = [pa.schema([(name, pa.large_string()) for name in self.layout.names])]
            elif self.format in ("SPSS", "Stata"):
                _checks.require(
                    not self.is_folder, f"{path} must be one file of {self.format}", str(path)
                )
                self.stat = stat.read(path)
                schemas = [self.stat.table.schema]
            else:
                schemas = [tables.described(file)[0] for file in self.files]
            schemas = [without_dask_index(schema) for schema in schemas]
        found = [mark_in(schema.metadata) for schema in schemas]
        self.marks: list[Mark] = [mark for mark in found if mark is not None]
        self.rows: list[int] = [-1] * len(self.files)
        self.file_names: list[str] = [
            file.relative_to(self.base).as_posix() for file in self.files
        ]
        self.keys: dict[str, list[KeyValue]] = (
            _folder_keys(self.file_names) if self.is_folder else {}
        )
        self.schema: ArrowSchema = unified(path, schemas, self.keys)
        self.names: list[str] = self.schema.names
        self.left_out: frozenset[str] = frozenset()
        most = CELLS_OF_PART // max(len(self.names), 1)
        self.part_rows: int = (
            most if part_rows is None else _checks.integer(part_rows, "part_rows", least=2)
        )

    def leave_out(self, names: Collection[str]) -> None:
        """Leave columns out of all that is read from now on, and of a release."""
        if not names:
            return
        self.require(names)
        kept = [field for field in self.schema if field.name not in names]
        if not kept:
            raise ArgumentError(f"{self.path} must keep a column, got all of them in drop")
        self.schema = pa.schema(kept, self.schema.metadata)
        self.names = self.schema.names
        self.left_out = frozenset(names)

    def require(self, names: Iterable[str], masked: Iterable[str] = ()) -> None:
        """Refuse names of columns that do not exist, and masked columns that stand in the names
        of folders, which are released."""
        for name in [*masked, *names]:
            if name not in self.names:
                there = _checks.listed(self.names)
                raise ArgumentError(f"{self.path} has no column {name!r}; it has {there}")
            if name in masked and name in self.keys:
                raise ArgumentError(
                    f"{name} cannot be masked: it stands in the names below {self.path}"
                )

    def parts(
        self, names: Iterable[str] | None = None, sizes: Sequence[int] = ()
    ) -> Iterator[ArrowTable]:
        """Yield the rows in parts, at least one, as tables of Arrow.

        Parameters
        ----------
        names : iterable of str, optional
            The columns; None for all.
        sizes : sequence of int
            The rows of each part, where they are known.

        Raises
        ------
        FileError
            If a file was written to since the source was opened.
        """
        held: list[ArrowTable] = []
        count = 0
        given = iter(sizes)
        size = next(given, self.part_rows)
        with tables.reading(self.path):
            self._refuse_changed()
            for table in self._tables(names):
                held.append(table)
                count += table.num_rows
                while count > size if sizes else 2 * count >= 3 * size:
                    whole = pa.concat_tables(held)
                    part = whole.slice(0, size)
                    held = [whole.slice(size)]
                    count = count - size
                    whole = table = None  # only one part is held
                    yield part
                    del part
                    size = next(given, self.part_rows)
            self._refuse_changed()
        yield pa.concat_tables(held)

    def numeric(
        self, table: ArrowTable, names: Iterable[str], row: int = 1, *, plain: bool = False
    ) -> ArrowTable:
        """Return a part, which begins at this row, with these columns of text as numbers; `plain`
        as for `csv_text.numbers`."""
        self.require(names)
        table = self.without_letters(table, besides={*table.column_names} - {*names})
        for name in names:
            if self.layout is not None and name not in self.keys:
                values = csv_text.numbers(table[name], self.layout, name, row, plain=plain)
                numbers = pa.chunked_array([pa.array(values, mask=np.isnan(values))])
                table = table.set_column(table.schema.get_field_index(name), name, numbers)
        return table

    def numbers(self, table: ArrowTable, name: str) -> frames.Column:
        """Return a column of a part as numbers."""
        return frames.column_of(self.numeric(table, [name]), name, least=0, finite=False)

    def without_letters(self, table: ArrowTable, *, besides: Collection[str]) -> ArrowTable:
        """Return a part with nulls for Stata's .a to .z, besides in some columns."""
        if self.format != "Stata":
            return table
        columns = [
            table[name] if name in besides else stat.without_letters(table[name])
            for name in table.column_names
        ]
        return pa.table(columns, names=table.column_names)

    def original(
        self, table: ArrowTable, name: str, *, gathers: bool, row: int = 1
    ) -> frames.Column:
        """Return a column of a part to be masked, which begins at this row; with the cells of
        text where a scheme `gathers` them."""
        if self.stat is not None:  # letters stand for missing values, and are codes
            return frames.column_of(table, name)
        numeric = self.numeric(table, [name] if name in self.names else (), row, plain=not gathers)
        column = frames.column_of(numeric, name)
        if not gathers or self.layout is None or name in self.keys:
            return column
        return with_cells(column, table[name], self.layout)

    def table(
        self, names: Iterable[str] | None = None, *, numeric: Iterable[str] = ()
    ) -> ArrowTable:
        """Return all rows as one table, with the columns `numeric` of text as numbers."""
        return self.numeric(pa.concat_tables(self.parts(names)), numeric)

    def column(self, name: str) -> np.ndarray:
        """Return a whole column as numbers, float32 or float64 as it is stored; a column without
        numbers as objects, None for missing."""
        table = self.table([name])
        try:
            column = self.numbers(table, name)
        except (ArgumentTypeError, ArgumentError):
            labels = self.labels(name)
            return np.asarray(frames.objects(labels.distinct)[labels.code])
        # on a decimal grid values in single precision are others
        return np.asarray(column.array, np.float32 if column.kind == "float32" else np.float64)

    def labels(self, name: str) -> Labels:
        """Return a whole column as labels; words for missing values in text are missing labels."""
        table = self.table([name], numeric=() if self.stat is None else [name])
        if self.layout is not None and name not in self.keys:
            gaps = pc.is_in(table[name], value_set=self.layout.form.missing)
            table = table.set_column(0, name, pc.if_else(gaps, None, table[name]))
        return coded(table, name)

    @cached_property
    def row_labels(self) -> Known:
        """The labels of the rows, if the files describe an index of pandas, as pandas reads it."""
        noted = json.loads((self.schema.metadata or {}).get(b"pandas", b"{}")).get(
            "index_columns", []
        )
        names = [name for name in noted if isinstance(name, str)]
        if not names or not {*names} <= {*self.names}:
            return NUMBERED
        reader = "read_parquet" if self.format == "Parquet" else "read_feather"
        index = self.table(names).to_pandas().set_index(names).index
        return (RowLabels(index, f"pd.{reader}({str(self.path)!r}).index"),)

    def sample(self) -> ArrowTable:
        """Return rows from all over the files, which must have been read to their ends."""
        rows = in_stretches(sum(self.rows), SAMPLE_ROWS)
        first = 0
        pieces = []
        for table in self.parts():
            here = rows[slice(*np.searchsorted(rows, (first, first + table.num_rows)))]
            pieces.append(table.take(here - first))
            first += table.num_rows
        return pa.concat_tables(pieces)

    def _tables(self, names: Iterable[str] | None) -> Iterator[ArrowTable]:
        """Yield the batches of all files as tables of one schema, with columns for the keys in
        the names of their folders."""
        chosen = self.names if names is None else list(dict.fromkeys(names))
        self.require(chosen)
        stored = [name for name in chosen if name not in self.keys] or self.names[:1]
        schema = pa.schema(
            [(name, without_views(self.schema.field(name).type)) for name in chosen]
        )
        for number, file in enumerate(self.files):
            rows = 0
            for batch in self._batches(file, stored, max(1, self.part_rows // 8)):
                rows += batch.num_rows
                arrays = [
                    pa.repeat(pa.scalar(self.keys[field.name][number], field.type), batch.num_rows)
                    if field.name in self.keys
                    else batch.column(field.name).cast(field.type)
                    for field in schema
                ]
                yield pa.table(arrays, schema=schema)
            self.rows[number] = rows
        if not sum(self.rows):
            yield schema.empty_table()

    def _batches(self, file: Path, names: Sequence[str], rows: int) -> Iterator[ArrowTable]:
        if self.stat is not None:
            return stat.batches(self.stat.table, names, rows)
        return tables.batches(file, self.layout, names, rows)

    def _stamped(self) -> list[tuple[int, int]]:
        """Return by file its size and time of change, which differ after writing."""
        return [(status.st_size, status.st_mtime_ns) for status in map(Path.stat, self.files)]

    def _refuse_changed(self) -> None:
        if self._stamped() != self._stamp:
            raise FileError(
                f"{self.path} was changed since it was opened: begin again with what it is now"
            )


class LaterSource(Source):
    """Reads a file when something of it is first needed: one of SPSS or Stata is read whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __getattr__(self, name: str) -> object:
        # reached only for an attribute that is not there
        if name.startswith("__") or "files" in self.__dict__:
            raise AttributeError(name)
        Source.__init__(self, self.path)
        return getattr(self, name)


def files_of(path: Path) -> tuple[Path, list[Path]]:
    """Return the folder above all data files of a folder or a pattern, and these files.

    They are in the order of their paths; names that differ by their last number, in its order.
    """
    base = path
    while glob.has_magic(str(base)) and not base.is_dir():
        base = base.parent
    found = path.rglob("*") if path.is_dir() else map(Path, glob.glob(str(path), recursive=True))
    names = {one.relative_to(base).as_posix() for one in found if one.is_file()}
    names = {
        name for name in names if not any(part.startswith((".", "_")) for part in name.split("/"))
    }
    ordered = sorted(name for name in names if not name.endswith((SIDECAR, "README.md")))
    # a release has the order of its names, whose zeros old ones lack
    if not (base / MANIFEST).exists():
        ordered = [name for _, name in sorted(zip(padded(ordered), ordered, strict=True))]
    files = [base / name for name in ordered]
    if not files:
        raise FileError(f"{path}: no file of data in it")
    return base, files


def _shared(path: Path, values: Mapping[SharedT, str], rule: str) -> SharedT:
    """Return the one value that all files share; refuse files that differ, by their names."""
    _checks.require(len(values) == 1, f"{path} must {rule}", " and ".join(values.values()))
    return next(iter(values))


def _folder_keys(names: list[str]) -> dict[str, list[KeyValue]]:
    """Return the columns that names of folders and files hold, with one value for each file.

    Values of a key are integers if all of them are.
    """
    rows = [
        dict(part.split("=", 1) for part in name.split("/")[:-1] if "=" in part) for name in names
    ]
    keys: dict[str, list[KeyValue]] = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        texts = [None if row.get(key) in (None, NO_VALUE) else unquote(row[key]) for row in rows]
        whole = all(
            text is None or (text.isdecimal() and str(int(text)) == text) for text in texts
        )
        keys[unquote(key)] = [int(text) if whole and text is not None else text for text in texts]
    return {**keys, FILENAME: [*names]}
