"""CSV files with one header, read one after the other as one; how they are written is found from all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from condmask._blocks import Workers
from condmask.errors import ArgumentError
from condmask.files.csv import CsvFile
from condmask.files.csv_format import CsvFormat, Dialect
from condmask.files.csv_scan import Records, line_at, scan
from condmask.files.metadata import read_beside
from condmask.files.part_files import PartFiles

WRITTEN = {  # what has to be one for all, and how to say it
    "delimiter": ("delimiter", "; --delimiter sets it for all of them"),
    "encoding": ("encoding", ": recode one of them"),
    "blank": ("blanks after delimiters", ": write one of them anew"),
}


class CsvFiles(CsvFile):
    """CSV files.

    Parameters
    ----------
    path : Path
        As messages call all of them.
    parts : PartFiles
    form : CsvFormat
        How they are written, where that cannot be told.
    workers : int
    """

    def __init__(self, path: Path, parts: PartFiles, form: CsvFormat, workers: Workers = 1) -> None:
        self._parts, self._form = parts, form
        self._dialects = [Dialect.of(file, form) for file in parts.paths]
        self.starts: list[int] = []  # the row of all at which each file begins, as far as they were read
        self._rows: int | None = None
        super().__init__(parts.paths[0], form, workers)
        self.path = path
        for name, dialect in zip(parts.names, self._dialects, strict=True):
            self._check_header(name, dialect)

    def metadata(self) -> dict[str, Any] | None:
        """None: the folder's metadata are read elsewhere."""
        return None

    @property
    def rows(self) -> int | None:
        """The number of rows, once all were read."""
        return self._rows

    def metadata_of(self, k: int) -> dict[str, Any] | None:
        """What was published beside a file, or above it."""
        return read_beside(self._parts.paths[k])

    def part(self, k: int) -> CsvFile:
        """A file to copy, written in the same way as all."""
        file = CsvFile(self._parts.paths[k], self._form, self._workers)
        file._decimal, file._styles, file._stretches = self._decimal, self._styles, self._stretches
        return file

    def _check_header(self, name: str, dialect: Dialect) -> None:
        first, of_first = self.dialect, self._parts.names[0]
        for field, (what, remedy) in WRITTEN.items():
            a, b = getattr(first, field), getattr(dialect, field)
            if a != b:
                raise ArgumentError(
                    f"{self.path} must hold files with one {what}, got {a!r} in {of_first} and {b!r} in "
                    f"{name}{remedy}"
                )
        for k in range(max(len(first.names), len(dialect.names))):
            a, b = (names[k : k + 1] for names in (first.names, dialect.names))
            if a != b:
                raise ArgumentError(
                    f"{self.path} must hold files with the same columns, got as column {k + 1} "
                    f"{repr(a[0]) if a else 'none'} in {of_first} and {repr(b[0]) if b else 'none'} in {name}"
                )

    def _scan(self, wanted: list[int], *, tail: bool = False) -> Iterator[Records]:
        first, starts = 0, []
        for file, dialect in zip(self._parts.paths, self._dialects, strict=True):
            starts.append(first)
            if len(starts) > len(self.starts):
                self.starts.append(first)
            row = first
            for part in scan(file, dialect, wanted, tail=tail):
                first = row + part.row + len(part.starts)
                yield part._replace(row=row + part.row)
        self._rows = first

    def _line(self, part: Records, at: int) -> str:
        name = part.path.relative_to(self._parts.base).as_posix()
        return f"line {line_at(part.path, self.dialect, part.offset + at)} of {name}"
