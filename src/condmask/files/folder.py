"""Many files as one table: the rows of one after those of the other, with columns from their names.

Such columns, the keys of Hive's folders and the name of the file, are read as any other is: as strata, as
groups, by audits, since a release keeps both. They are never written.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from condmask._blocks import BLOCK
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.atomic import Fingerprint
from condmask.files.formats import FILENAME, Part, Rows, Sample
from condmask.files.metadata import part_entry, read_list
from condmask.files.part_files import PartFiles, fingerprints_of, partitions
from condmask.files.part_list import check_parts, refuse_release


class FolderTable:
    """The columns of the files of a folder, or of a glob.

    Attributes
    ----------
    original : ArrowFiles or CsvFiles
        What stands in the files.
    names : list of str
        Of columns, those that the names of files and folders tell included.
    virtual : dict of str to list
        The values of these, file by file.
    """

    def __init__(self, path: Path, files: PartFiles, original: Any) -> None:
        self.path, self.files, self.original = path, files, original
        self.virtual = {**partitions(files.names, path), FILENAME: files.names}
        for name in self.virtual:
            if name in original.names:
                self._check_told(name)
        self.names: list[str] = [
            *(name for name in original.names if name not in self.virtual),
            *self.virtual,
        ]

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking published in the folder, if all files are those that it wrote."""
        listed = read_list(self.files.base)
        if listed is None:
            for k, path in enumerate(self.files.paths):
                refuse_release(path, self.original.metadata_of(k))
        else:
            check_parts(self.files, listed)
        return listed

    @property
    def rows(self) -> int | None:
        """The number of rows of all files, if it is known."""
        rows: int | None = self.original.rows
        return rows

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """Those of the files that exist now."""
        return fingerprints_of(self.path)

    @property
    def description(self) -> dict[str, Any]:
        """What is needed to read a copy again."""
        description: dict[str, Any] = self.original.description
        return description

    def notes(self) -> list[str]:
        """The names of notes on any of the files that a copy leaves out."""
        notes: list[str] = self.original.notes()
        return notes

    def keep(self, notes: Collection[str]) -> None:
        """Keep notes of these names in a copy."""
        self.original.keep(notes)

    def place_of(self, row: int) -> str:
        """The file of a row, and its place there."""
        place: str = self.original.place_of(row)
        return place

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """All rows in one pass, with columns from the names of files."""
        virtual = [name for name in (*names, *labels) if name in self.virtual]
        values = {name: self._values(name) for name in names if name in virtual}
        for name in values:
            if values[name].dtype == object:
                raise ArgumentTypeError(f"{name} must be numeric, got text, in the names of the files")
        kinds = {name: self._kind(name) for name in values}
        if not virtual:
            yield from self.original.parts(names, labels)
            return
        inside = [[name for name in some if name not in virtual] for some in (names, labels)]
        for start, size, part in self._runs(*inside):
            k = bisect_right(self.original.starts, start) - 1
            yield Part(
                {
                    name: (np.full(size, values[name][k]), kinds[name])
                    if name in values
                    else part.numbers[name]
                    for name in names
                },
                {
                    name: self._labels(name, k, size) if name in virtual else part.labels[name]
                    for name in labels
                },
            )

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the files."""
        sample = self.original.sample([name for name in names if name not in self.virtual], rows)
        number = np.searchsorted(self.original.starts, sample.rows, side="right") - 1
        columns = {
            name: self._values(name)[number] if name in self.virtual else sample.columns[name]
            for name in names
            if name in self.virtual or name in sample.columns
        }
        return Sample(sample.rows, columns)

    def rewrite(self, target: Any, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the files with the masked rows in place, each as a part of the release."""
        for k, name in enumerate(self.files.names):
            before = rows.done
            with target.part(name) as output:
                self.original.part(k).rewrite(output, rows, part_entry(metadata, k + 1))
            target.wrote(name, rows.done - before)

    def _check_told(self, name: str) -> None:
        """Refuse a column in the files that does not agree with the names of their folders; it does where a
        writer keeps the keys of its folders."""
        if name == FILENAME:
            raise ArgumentError(
                f"{self.path} must hold files without a column {name!r}, which their names tell: rename one"
            )
        for start, _, part in self._runs([], [name]):
            k = bisect_right(self.original.starts, start) - 1
            code, distinct = part.labels[name]
            if {str(distinct[one]) for one in np.unique(code).tolist()} - {str(self.virtual[name][k])}:
                raise ArgumentError(
                    f"{self.path} must hold files whose column {name!r} agrees with the names of their "
                    f"folders, got another value in {self.files.names[k]}: rename one"
                )

    def _runs(self, names: list[str], labels: list[str]) -> Iterator[tuple[int, int, Part]]:
        """First row, number of rows, and data from the files, never across two files."""
        start = 0
        if names or labels:
            for part in self.original.parts(names, labels):
                size = next(column[0].size for columns in part for column in columns.values())
                yield start, size, part
                start += size
            return
        if self.original.rows is None:
            for _ in self.original.parts([]):
                pass
        ends = [*self.original.starts[1:], self.original.rows]
        for end in ends:
            while start < end:
                size = min(BLOCK, end - start)
                yield start, size, Part({}, {})
                start += size

    def _values(self, name: str) -> np.ndarray:
        """The values of a column by file, as `Sample` has them."""
        values = self.virtual[name]
        if any(isinstance(value, str) for value in values) or all(value is None for value in values):
            return np.array(values, dtype=object)
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def _kind(self, name: str) -> str:
        whole = all(value is None or isinstance(value, int) for value in self.virtual[name])
        return "int" if whole else "float64"

    def _labels(self, name: str, k: int, size: int) -> tuple[np.ndarray, list[Any]]:
        return np.zeros(size, dtype=np.int64), [self.virtual[name][k]]
