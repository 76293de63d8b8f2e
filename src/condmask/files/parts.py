"""A file, a long file and the files of a folder, as one table read in parts.

A part is the next ``part_rows`` rows over all files, whatever their row groups; the last one has half to one
and a half as many, so that no rest of five rows is left. Folders called ``key=value`` are columns, as Hive
has them. Names that begin with ``.`` or ``_`` are left out.
"""

import glob
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from condmask import _checks, frames
from condmask._blocks import evenly_spaced
from condmask.errors import ArgumentError, ArgumentTypeError, FileError
from condmask.files import csv_text, tables
from condmask.files.csv_text import CsvFormat, Layout
from condmask.frames import Labels

CELLS = 1 << 24  # of a part
SIDECAR = ".condmask.json"
FILENAME = "__filename"  # the name of a file among many, as a column
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
PIECES, PIECE = 64, 256  # of a sample, and rows of each

Pieces = list[tuple[int, Any]]  # numbers of files, and tables of Arrow


class Source:
    """One table in one file, or in several.

    Parameters
    ----------
    path : Path
        A file, a folder, or a pattern of files (``data/*.parquet``).
    csv : CsvFormat, optional
        How CSV files are written.
    part_rows : int, optional
        Rows of a part; by default 2^24 divided by the number of columns.

    Attributes
    ----------
    base : Path
        The folder below which the names of the files begin.
    files : list of Path
    names : list of str
        The columns.
    """

    def __init__(self, path: Path, csv: CsvFormat | None = None, part_rows: int | None = None) -> None:
        if csv is not None and not isinstance(csv, CsvFormat):
            raise ArgumentTypeError(f"csv must be None or a CsvFormat, got {_checks.shown(csv)}")
        self.path = path
        self.is_folder = is_folder(path)
        self.base = _base(path) if self.is_folder else path.parent
        self.files = _files(path) if self.is_folder else [path]
        for file in self.files:
            tables.check_regular(file)
        self.format = _one_format(path, self.files)
        if csv is not None and self.format != "CSV":
            raise ArgumentError(f"csv must be left out for {path}, which is no text, got {csv!r}")
        with tables.reading(path):
            self.layouts = [self._layout(file, csv or CsvFormat()) for file in self.files]
            self.schemas = [tables.schema_of(*pair) for pair in zip(self.files, self.layouts, strict=True)]
        self.rows = [0] * len(self.files)  # as far as they were read
        self.keys = _keys([self.name(k) for k in range(len(self.files))], path) if self.is_folder else {}
        self.schema = self._unified()
        self.names: list[str] = self.schema.names
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise ArgumentError(
                f"{path} must have one column of each name, got several {_checks.listed(twice)}"
            )
        given = None if part_rows is None else _checks.whole(part_rows, "part_rows", least=2)
        self.part_rows = given or max(2, CELLS // max(len(self.names), 1))

    def name(self, number: int) -> str:
        """The path of a file from the folder."""
        return self.files[number].relative_to(self.base).as_posix()

    @cached_property
    def layout(self) -> Layout | None:
        """How text is written, in the first file."""
        return self.layouts[0]

    def require(self, names: Sequence[str]) -> None:
        """Refuse names of columns that there are not."""
        for name in names:
            if name == FILENAME and name not in self.names:
                raise ArgumentError(f"{self.path} is one file, and strata by file need several")
            if name not in self.names:
                raise ArgumentError(
                    f"{self.path} has no column {name!r}; it has {_checks.listed(self.names)}"
                )

    def in_the_files(self, names: Sequence[str]) -> None:
        """Refuse to mask what stands in the names of folders, which are released."""
        for name in names:
            if name in self.keys:
                raise ArgumentError(
                    f"{name} cannot be masked: the names of the folders below {self.path} contain it, and "
                    "these are released"
                )

    @property
    def is_long(self) -> bool:
        """Whether there are several parts, as far as the files say."""
        rows = [tables.rows_of(file) for file in self.files]
        return 2 * sum(filter(None, rows)) >= 3 * self.part_rows

    def parts(self, names: Sequence[str] | None = None, sizes: Sequence[int] = ()) -> Iterator[Pieces]:
        """The rows in parts, of these sizes where they are known: tables with the numbers of their files."""
        held: Pieces = []
        count, given = 0, iter(sizes)
        size = next(given, self.part_rows)
        with tables.reading(self.path):
            for number, batch in self._batches(names):
                held.append((number, batch))
                count += batch.num_rows
                while count >= size if sizes else 2 * count >= 3 * size:
                    part, held = _cut(held, size)
                    count -= size
                    yield part
                    size = next(given, self.part_rows)
        if count:
            yield held

    def numbers(self, table: Any, name: str, row: int = 1) -> tuple[np.ndarray, str]:
        """A column of a part as numbers, with NaN for missing ones, and their kind."""
        if self.layout is not None:
            return csv_text.numbers(table[name], self.layout, name, row), "float64"
        column = frames.column_of(table, name, least=0, finite=False)
        return column.array, column.kind

    def numeric(self, table: Any, names: Sequence[str], row: int = 1) -> Any:
        """A part in which columns of text hold numbers."""
        import pyarrow as pa

        if self.layout is None:
            return table
        for name in names:
            values = csv_text.numbers(table[name], self.layout, name, row)
            numbers = pa.chunked_array([pa.array(values, mask=np.isnan(values))])
            table = table.set_column(table.schema.get_field_index(name), name, numbers)
        return table

    def column(self, name: str) -> np.ndarray:
        """A whole column as numbers, float32 as such: on a decimal grid they are other numbers."""
        self.require([name])
        values, row = [np.empty(0)], 1
        for part in self.parts([name]):
            found, kind = self.numbers(joined(part), name, row)
            values.append(found.astype(np.float32) if kind == "float32" else found)
            row += found.size
        return np.concatenate(values[1:] or values)

    def labels(self, name: str) -> Labels:
        """A column as labels; words for missing values in text are none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self.require([name])
        table = pa.concat_tables([joined(part) for part in self.parts([name])])
        if self.layout is not None:
            missing = pa.array([*csv_text.MISSING, *self.layout.na], pa.large_string())
            texts = pc.if_else(pc.is_in(table[name], value_set=missing), None, table[name])
            table = table.set_column(0, name, texts)
        return frames.coded(table, name)

    def stamp(self) -> list[tuple[int, int]]:
        """What changes when somebody writes to a file."""
        with tables.reading(self.path):
            return [(status.st_size, status.st_mtime_ns) for status in map(Path.stat, self.files)]

    def sample(self) -> tuple[Any, np.ndarray]:
        """Some rows from all over the files, and their numbers in the whole table; after a pass through
        all."""
        import pyarrow as pa

        chosen = evenly_spaced(len(self.files), PIECES).tolist()
        pieces, rows, start = [], [], 0
        with tables.reading(self.path):
            for number, file in enumerate(self.files):
                if number in chosen:
                    each = -(-PIECES // len(chosen))
                    for row, batch in tables.beginnings(file, self.layouts[number], each, PIECE):
                        pieces.append(self._whole(number, batch, None))
                        rows.append(start + row + np.arange(batch.num_rows))
                start += self.rows[number]
        return pa.concat_tables(pieces), np.concatenate(rows)

    def _batches(self, names: Sequence[str] | None) -> Iterator[tuple[int, Any]]:
        stored = None if names is None else [name for name in names if name not in self.keys]
        for number, (file, layout) in enumerate(zip(self.files, self.layouts, strict=True)):
            own = stored if stored or stored is None else self.schemas[number].names[:1]
            self.rows[number] = 0
            for batch in tables.batches(file, layout, own, max(1, self.part_rows // 4)):
                self.rows[number] += batch.num_rows
                yield number, self._whole(number, batch, names)

    def _whole(self, number: int, batch: Any, names: Sequence[str] | None) -> Any:
        """A batch as a table of the common schema, with what stands in the names of its folders."""
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        columns = {name: table[name] for name in table.schema.names}
        for key, values in self.keys.items():
            columns[key] = pa.repeat(pa.scalar(values[number], self.schema.field(key).type), batch.num_rows)
        chosen = self.names if names is None else list(dict.fromkeys(names))
        types = {name: self.schema.field(name).type for name in chosen}
        arrays = [columns[name].cast(types[name]) for name in chosen]
        return pa.table(arrays, schema=pa.schema([self.schema.field(name) for name in chosen]))

    def _layout(self, file: Path, csv: CsvFormat) -> Layout | None:
        return csv_text.layout_of(file, csv) if self.format == "CSV" else None

    def _unified(self) -> Any:
        """The one schema of all files, with a column for each key of the folders."""
        import pyarrow as pa

        first = self.schemas[0]
        for k, schema in enumerate(self.schemas):
            if sorted(schema.names) != sorted(first.names):
                other = sorted(set(schema.names) ^ set(first.names))
                raise ArgumentError(
                    f"{self.path} must have files of the same columns, but {self.name(0)} and {self.name(k)} "
                    f"differ in {_checks.listed(other)}"
                )
        try:
            unified = pa.unify_schemas(self.schemas, promote_options="default")
        except pa.ArrowException:
            wrong = [
                name for name in first.names if len({str(one.field(name).type) for one in self.schemas}) > 1
            ]
            raise ArgumentError(
                f"{self.path} must have files whose columns have the same types, got several of "
                f"{_checks.listed(wrong)}"
            ) from None
        for key, values in self.keys.items():
            if key in unified.names:
                raise ArgumentError(f"{self.path} must not have {key!r} both as a folder and as a column")
            unified = unified.append(pa.field(key, pa.array(values).type))
        return unified


def is_folder(path: Path) -> bool:
    """Whether a path means many files: a folder, or a pattern that is not itself a file."""
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def joined(part: Pieces) -> Any:
    """A part as one table."""
    import pyarrow as pa

    return pa.concat_tables([table for _, table in part])


def _cut(pieces: Pieces, rows: int) -> tuple[Pieces, Pieces]:
    """The first rows, and the rest."""
    first: Pieces = []
    rest: Pieces = []
    for number, table in pieces:
        if rows:
            first.append((number, table.slice(0, rows)))
        if table.num_rows > rows:
            rest.append((number, table.slice(rows)))
        rows = max(0, rows - table.num_rows)
    return first, rest


def _base(path: Path) -> Path:
    """The folder, or that in which a pattern searches."""
    if path.is_dir():
        return path
    first = next(k for k, part in enumerate(path.parts) if glob.has_magic(part))
    return Path(*path.parts[:first])


def _files(path: Path) -> list[Path]:
    """The files of data of a folder or a pattern, in the order of their paths."""
    base = _base(path)
    found = path.rglob("*") if path.is_dir() else map(Path, glob.glob(str(path), recursive=True))
    names = {one.relative_to(base).as_posix() for one in found if one.is_file()}
    names = {name for name in names if not any(part.startswith((".", "_")) for part in name.split("/"))}
    files = [base / name for name in sorted(names) if not name.endswith((SIDECAR, "README.md"))]
    if not files:
        raise FileError(f"{path}: no file of data in it")
    return files


def _one_format(path: Path, files: list[Path]) -> str:
    formats = {tables.format_of(file): file.name for file in files}
    if len(formats) > 1:
        raise ArgumentError(
            f"{path} must contain files of one format, got {' and '.join(formats.values())}: select some by "
            "a pattern in quotes ('folder/**/*.parquet'), or begin the names of others with _"
        )
    return next(iter(formats))


def _keys(names: list[str], path: Path) -> dict[str, list[Any]]:
    """The values in the names of folders, by key and file, whole numbers where all are; and the names of the
    files."""
    rows = [dict(part.split("=", 1) for part in name.split("/")[:-1] if "=" in part) for name in names]
    for name, row in zip(names, rows, strict=True):
        if list(row) != list(rows[0]):
            raise ArgumentError(
                f"{path} must have folders of the same keys above all its files, got "
                f"{_checks.listed(list(rows[0]))} for {names[0]} and {_checks.listed(list(row))} for {name}"
            )
    keys: dict[str, list[Any]] = {unquote(key): [_value(row[key]) for row in rows] for key in rows[0]}
    for key, values in keys.items():
        plain = [value for value in values if value is not None]
        if all(value.isdecimal() and str(int(value)) == value for value in plain):
            keys[key] = [None if value is None else int(value) for value in values]
    return {**keys, FILENAME: names}


def _value(text: str) -> str | None:
    return None if text == NO_VALUE else unquote(text)
