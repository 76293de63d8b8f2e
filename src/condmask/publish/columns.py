"""The columns of a release, in a frame or in files, read on first use: whole, or part by part."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.estimates.estimate import Estimate, estimate_parts
from condmask.estimates.origin import warn_of_other_records
from condmask.files.about import Published
from condmask.files.arrow import pa
from condmask.files.parts import Source
from condmask.labels import coded
from condmask.linear.chunks import Named
from condmask.linear.records import Records
from condmask.missing_codes import released_codes, without_codes
from condmask.publish.log import keyed
from condmask.row_labels import NUMBERED, RELEASE, Known, labels_of_rows
from condmask.strata import donor_pools, names_of

ROUNDED = 1e-12  # of a sum


class Frame:
    """A masked table in memory, with what releases need of a `Source`: it is one part.

    Parameters
    ----------
    table : data frame or dict of columns
    marks : dict
        By which the log knows the columns again; empty once it does.
    audited : bool
        Whether a table of too few records must not be written.
    """

    path = None

    def __init__(self, table: Any, marks: Mapping[str, Any], audited: bool) -> None:
        self.table = table
        self.names = [*frames.column_names(table), *frames.level_names(table)]
        self.marks = marks
        self.audited = audited
        self.row_labels = labels_of_rows(table, "release.data", of=RELEASE)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "marks": keyed(self.marks)}

    def parts(self, names: Sequence[str] = (), sizes: Sequence[int] = ()) -> Iterator[Any]:
        """The table."""
        yield self.table

    def numbers(self, table: Any, name: str) -> frames.Column:
        """A column as numbers."""
        return frames.column_of(table, name, least=0)

    def column(self, name: str) -> Any:
        """A column as it is, or a level of the index by the name that it has in files."""
        return frames.table_column(self.table, name, levels=True)

    labels = column


class MaskedColumn(Records):
    """A masked column with its donor pools and other columns of its table, read part by part from
    files.

    Parameters
    ----------
    source : Source or Frame
    name : str
    published : Published

    Attributes
    ----------
    size : int
        The number of records, once it is estimated.
    """

    def __init__(self, source: Any, name: str, published: Published) -> None:
        self.source = source
        self.name = name
        self._published = published
        self._scheme = published.schemes[name]
        self._patterns = published.origins[name].patterns
        self._strata = names_of(self._scheme.strata)
        self._needed = dict.fromkeys([name, *self._strata, *self._patterns])
        self._pooled = len(self._needed) > 1 or len(published.parts) > 1
        self._in_file = isinstance(source, Source)
        self.refusal = None

    def __reduce__(self) -> tuple[Any, ...]:
        # what reads a file does not travel
        known = self.row_labels if "pandas" in sys.modules else NUMBERED
        return Records, (self.z, self.pool, None, known)

    @cached_property
    def z(self) -> np.ndarray:  # type: ignore[override]
        """The masked values."""
        return np.concatenate([z for z, _ in self._counted()])

    @cached_property
    def pool(self) -> np.ndarray | None:  # type: ignore[override]
        """The pool of each record, None where all are one."""
        return np.concatenate([pool for _, pool, _ in self._read()]) if self._pooled else None

    @property
    def row_labels(self) -> Known:  # type: ignore[override]
        """The labels of the rows of the table, which are read from files when they are first
        needed."""
        return self.source.row_labels  # type: ignore[no-any-return]

    def estimate(self, workers: int, read: Callable[[str, bool], Any]) -> Estimate:
        """The estimate of the original, which reads other columns; a warning where records are
        others than those of the release."""
        if not self._scheme.estimators:
            self._scheme.estimate(None)  # refuses
        if self._in_file:
            self.source.require(self._needed)
        about = {"origin": self._published.origins[self.name], "name": self.name, "read": read}
        found = estimate_parts(self._scheme, self._counted, self, workers=workers, **about)
        released = self._published.records
        warn_of_other_records(self.name, self.size, released, self._scheme.strata)
        return found

    def has_numbers(self, name: str) -> bool:
        """Whether `parts` can read a column in clear as numbers."""
        if not self._in_file or name not in self.source.names or name in self._published.schemes:
            return False
        kind = self.source.schema.field(name).type  # of text it is text, whatever the cells are
        return bool(
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        )

    def beside(self, other: Records) -> Any:
        """The values of other records, or the name of those of the same files."""
        if self._in_file and isinstance(other, MaskedColumn) and other.source is self.source:
            return Named(other.name)
        return other.z

    def parts(self, names: Sequence[str] = ()) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The values, their pools, None where all are one, and other columns; a frame is one
        part."""
        return self._read(names) if self._in_file else super().parts()

    def _counted(self) -> Iterator[tuple[np.ndarray, str]]:
        """The values part by part, and the kind of their column; their number is then known."""
        self.size = 0
        for table in self.source.parts([self.name]):
            values, stored = self._values(table, self.name)
            self.size += values.size
            yield values, stored.kind

    def _read(self, names: Sequence[str] = ()) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The same from the source; pools of a part are its own."""
        sizes = self._published.parts
        first = 0
        row = 0
        several = len(sizes) > 1
        found = []
        for table in self.source.parts([*self._needed, *names], sizes):
            z, stored = self._values(table, self.name)
            pool = self._pools(table, z) + first if self._pooled else None
            first = first if pool is None else int(pool.max(initial=first - 1)) + 1
            if several:
                found.append((z.size, np.nansum(stored.array), np.nansum(np.abs(stored.array))))
            yield z, pool, {name: self._values(table, name, row)[0] for name in names}
            row += z.size
        if several:
            self._refuse_moved(*zip(*found, strict=True))

    def _values(self, table: Any, name: str, row: int = 0) -> tuple[np.ndarray, frames.Column]:
        """A column of a part, which begins at this row, with NaN for missing values; and as it is
        there."""
        column = self.source.numbers(table, name)
        if name in self._published.schemes:
            codes = released_codes(self._published.schemes[name])
            return without_codes(column.array, codes, column.kind), column
        _checks.no_infinities(column.array, name, row)
        return column.array, column

    def _pools(self, table: Any, z: np.ndarray) -> np.ndarray:
        """The donor pool of each record of a part."""
        labels = [coded(table, group) for group in self._strata]
        there = [~np.isnan(self._values(table, other)[0]) for other in self._patterns]
        code = donor_pools(self._scheme, labels, there, ~np.isnan(z))
        return np.zeros(z.size, np.int32) if code is None else code

    def _refuse_moved(self, sizes: tuple[int, ...], sums: Any, of_sizes: Any) -> None:
        """Refuse relations of a release of several parts whose rows were moved; the sums are of
        the values and of their sizes."""
        parts = self._published.parts
        told = self._published.sums.get(self.name, ())
        off = (
            np.abs(np.subtract(told, sums))
            if sizes == parts and len(told) == len(parts)
            else np.inf
        )
        if np.any(off > ROUNDED * np.array(of_sizes)):
            raise ArgumentError(
                f"{self.name} was masked in {len(parts)} parts, and rows were moved or left out since: its "
                "relations with other columns need the release as it was written; its own statistics do not"
            )
