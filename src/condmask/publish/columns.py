"""Read columns of a release, in memory or in files, on first use: whole, or part by part."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.estimates.estimate import Estimate
from condmask.estimates.from_values import estimate_parts
from condmask.estimates.origin import warn_of_other_records
from condmask.files.about import Published
from condmask.files.arrow import pa
from condmask.files.parts import Source
from condmask.frames import Column, DataFrame
from condmask.labels import coded
from condmask.linear.records import Named, Part, Records
from condmask.missing_codes import released_codes, without_codes
from condmask.publish.log import Marks, keyed
from condmask.row_labels import NUMBERED, RELEASE, Known, labels_of_rows
from condmask.strata import donor_pools, names_of

ROUNDING_ERROR = 1e-12  # of a sum, relative to the sum of absolute values


class ColumnSource(Protocol):
    """The columns of a masked table: of files (`Source`), or of a table in memory (`Frame`)."""

    names: list[str]

    @property
    def path(self) -> Path | None:
        """The file, folder or pattern; None for a table in memory."""

    @property
    def row_labels(self) -> Known:
        """The labels of the rows, which columns used with these must not have in another order."""

    def parts(self, names: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[DataFrame]:
        """Yield the rows part by part, of these sizes where they are known."""

    def numbers(self, table: DataFrame, name: str) -> Column:
        """Return a column of a part as numbers."""

    def column(self, name: str) -> Any:
        """Return a whole column: of files as an array, of a table in its container."""

    def labels(self, name: str) -> Any:
        """Return a whole column as labels: of files as `Labels`, of a table in its container."""


class Frame:
    """A masked table in memory, as a `ColumnSource` of one part.

    Parameters
    ----------
    table : data frame or dict of columns
    marks : dict of str to ndarray or str
        Fingerprints that let the log recognise the columns; empty once the release is entered.
    audited : bool
        Whether the release was audited: a table of too few records is then not written.
    """

    path = None

    def __init__(self, table: DataFrame, marks: Marks, audited: bool) -> None:
        self.table = table
        self.names: list[str] = [*frames.column_names(table), *frames.level_names(table)]
        self.marks = marks
        self.audited = audited
        self.row_labels: Known = labels_of_rows(table, "release.data", of=RELEASE)

    def __getstate__(self) -> dict[str, Any]:
        # hashed under the user's key, so that nobody can test values on a pickled release
        return {**self.__dict__, "marks": keyed(self.marks)}

    def parts(self, names: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[DataFrame]:
        """Yield the table, which is its only part."""
        yield self.table

    def numbers(self, table: DataFrame, name: str) -> Column:
        """Return a column as numbers."""
        return frames.column_of(table, name, least=0)

    def column(self, name: str) -> Any:
        """Return a column in its container, or a level of the index by its name in files."""
        return frames.table_column(self.table, name, levels=True)

    def labels(self, name: str) -> Any:
        """Return a column in its container, from which labels are taken."""
        return self.column(name)


class MaskedColumn(Records):
    """A masked column with its donor pools and other columns of its table; of files, read part by
    part when they are needed.

    Parameters
    ----------
    source : Source or Frame
    name : str
    published : Published
        The metadata of the release.
    """

    def __init__(self, source: ColumnSource, name: str, published: Published) -> None:
        self.source = source
        self.name = name
        self._published = published
        self._scheme = published.schemes[name]
        self._patterns = published.origins[name].patterns
        self._strata = names_of(self._scheme.strata)
        self._needed = dict.fromkeys([name, *self._strata, *self._patterns])
        self._pooled = len(self._needed) > 1 or len(published.parts) > 1
        self._files = source if isinstance(source, Source) else None
        self.refusal: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # files are not opened again where an estimate is unpickled
        known = self.row_labels if "pandas" in sys.modules else NUMBERED
        return Records, (self.z, self.pool, None, known)

    @cached_property
    def z(self) -> np.ndarray:  # type: ignore[override]
        """The masked values, of shape (n,)."""
        return np.concatenate([z for z, _ in self._values_by_part()])

    @cached_property
    def pool(self) -> np.ndarray | None:  # type: ignore[override]
        """The pool of each record, of shape (n,); None where all are one."""
        return np.concatenate([pool for _, pool, _ in self._read()]) if self._pooled else None

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """The number of records, with a value or without."""
        return sum(values.size for values, _ in self._values_by_part())

    @property
    def row_labels(self) -> Known:  # type: ignore[override]
        """The labels of the rows of the table, read from files when they are first needed."""
        return self.source.row_labels

    def estimate(self, workers: int, read: Callable[[str, bool], Any]) -> Estimate:
        """Return the estimate of the original; warns where records are others than those of the
        release.

        Parameters
        ----------
        workers : int
        read : callable (name, as_labels)
            Reads another column of the table.
        """
        if not self._scheme.estimators:
            self._scheme.estimate(())  # refuses
        if self._files is not None:
            self._files.require(self._needed)
        sizes: list[int] = []  # of the parts, once they were read
        estimate = estimate_parts(
            self._scheme,
            lambda: self._values_by_part(sizes),
            self,
            workers=workers,
            origin=self._published.origins[self.name],
            name=self.name,
            read=read,
        )
        self.size = sum(sizes) if sizes else self.z.size
        warn_of_other_records(self.name, self.size, self._published.records, self._scheme.strata)
        return estimate

    def has_numbers(self, name: str) -> bool:
        """Return whether `parts` can read a column in clear as numbers."""
        files = self._files
        if files is None or name not in files.names or name in self._published.schemes:
            return False
        kind = files.schema.field(name).type  # of text it is text, whatever the cells are
        return bool(
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        )

    def values_of(self, other: Records) -> np.ndarray | Named:
        """Return the values of `other`, or a `Named` reference if it is a column of the same
        files."""
        if self._files is None or not isinstance(other, MaskedColumn):
            return other.z
        if other.source is self.source:
            return Named(other.name)
        return other.z

    def parts(self, names: Sequence[str] = ()) -> Iterator[Part]:
        """Yield by part the values, their pools (None where all are one) and other columns."""
        return super().parts() if self._files is None else self._read(names)

    def _values_by_part(self, sizes: list[int] | None = None) -> Iterator[tuple[np.ndarray, str]]:
        """Yield by part the values and their column's kind; append their number to `sizes`."""
        for table in self.source.parts([self.name]):
            values, stored = self._values(table, self.name)
            if sizes is not None:
                sizes.append(values.size)
            yield values, stored.kind

    def _read(self, names: Sequence[str] = ()) -> Iterator[Part]:
        """Yield by part of the release the values, their pools and other columns.

        Pools are numbered on from part to part, since donors come from a record's own part.
        """
        sizes = self._published.parts
        first_pool = 0
        row = 0
        checks = []
        for table in self.source.parts([*self._needed, *names], sizes):
            z, stored = self._values(table, self.name)
            pool = None
            if self._pooled:
                pool = self._pools(table, z) + first_pool
                first_pool = int(pool.max(initial=first_pool - 1)) + 1
            if len(sizes) > 1:
                checks.append(PartSums.of(z.size, stored.array))
            yield z, pool, {name: self._values(table, name, row)[0] for name in names}
            row += z.size
        if len(sizes) > 1:
            self._refuse_moved_rows(checks)

    def _values(self, table: DataFrame, name: str, row: int = 0) -> tuple[np.ndarray, Column]:
        """Return a column of a part, which begins at this row: with NaN for missing values, and
        as it is stored."""
        column = self.source.numbers(table, name)
        if name in self._published.schemes:
            codes = released_codes(self._published.schemes[name])
            return without_codes(column.array, codes, column.kind), column
        _checks.no_infinities(column.array, name, row)
        return column.array, column

    def _pools(self, table: DataFrame, z: np.ndarray) -> np.ndarray:
        """Return the donor pool of each record of a part."""
        labels = [coded(table, group) for group in self._strata]
        present = [~np.isnan(self._values(table, other)[0]) for other in self._patterns]
        code = donor_pools(self._scheme, labels, present, ~np.isnan(z))
        return np.zeros(z.size, np.int32) if code is None else code

    def _refuse_moved_rows(self, checks: Sequence["PartSums"]) -> None:
        """Refuse relations of a release of several parts if its rows were moved since."""
        parts = self._published.parts
        published = self._published.sums.get(self.name, ())
        sizes, sums, absolute_sums = zip(*checks, strict=True)
        moved = sizes != parts or len(published) != len(parts)
        if not moved:
            difference = np.abs(np.subtract(published, sums))
            moved = bool(np.any(difference > ROUNDING_ERROR * np.array(absolute_sums)))
        if moved:
            raise ArgumentError(
                f"{self.name} was masked in {len(parts)} parts, and rows were moved or left out "
                "since: statistics with other columns need the file exactly as it was released; "
                "statistics of this column alone do not"
            )


class PartSums(NamedTuple):
    """The number of values of a part, their sum, and the sum of their absolute values."""

    size: int
    total: float
    absolute: float

    @classmethod
    def of(cls, size: int, stored: np.ndarray) -> "PartSums":
        """Return the sums of a part, NaN left out."""
        return cls(size, float(np.nansum(stored)), float(np.nansum(np.abs(stored))))
