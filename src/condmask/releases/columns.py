"""The columns of a release, in a frame or in files, read on first use: whole, or part by part."""

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers, blocks
from condmask.errors import ArgumentError, FileError
from condmask.estimates.constructors import estimate_parts
from condmask.estimates.estimate import Estimate
from condmask.files.about import Published
from condmask.files.parts import Source
from condmask.files.read import numbers_or_objects
from condmask.frames import Labels
from condmask.linear.records import Records
from condmask.missing_codes import released_codes, without_codes
from condmask.strata import donor_pools, names_of

ROUNDED = 1e-12  # of a sum
PIECE = 1 << 18  # rows at a time, where donors need no more


class Columns:
    """The columns of a release.

    Parameters
    ----------
    source : Source, data frame or dict of columns
    published : Published
    workers : int or map-like callable
        For estimates; results do not depend on it.
    """

    def __init__(self, source: Any, published: Published, workers: Workers = 1) -> None:
        self.source, self._published, self._workers = source, published, workers
        self._files = source if isinstance(source, Source) else None
        self._stamp = self._files and self._files.stamp()

    def tables(self, names: Sequence[str], sizes: Sequence[int] = ()) -> Iterator[Any]:
        """The release with some columns, in parts of these sizes where they are given."""
        if self._files is None:
            yield self.source
            return
        self._files.require(names)
        if self._files.stamp() != self._stamp:
            raise FileError(
                f"{self._files.path} was changed after its release was read; read the release again"
            )
        yield from self._files.parts(names, sizes)

    def parts(self, *names: str) -> Iterator[dict[str, np.ndarray]]:
        """Columns of numbers, part by part."""
        for table in self.tables(names):
            yield {name: self._as_stored(*self._numbers_in(table, name)) for name in names}

    def numbers(self, name: str) -> Any:
        """A column of numbers, float32 as such; a column of anything else as it is."""
        if self._files is not None:
            return numbers_or_objects(self._files, name)
        values = frames.table_column(self.source, name)
        return frames.column_of(self.source, name, least=0).array if frames.is_decimal(values) else values

    def labels(self, name: str) -> Any:
        """A column as labels of groups of records; a missing label is one, too."""
        return frames.table_column(self.source, name) if self._files is None else self._files.labels(name)

    def strata(self, name: str) -> Labels:
        """A column as masking numbers the strata."""
        return frames.coded(self.source, name) if self._files is None else self.labels(name)

    def estimate(self, name: str) -> tuple[Estimate, int]:
        """The estimate of a masked column, and the number of its records."""
        scheme, origin = self._published.schemes[name], self._published.origins[name]
        strata, reader = names_of(scheme.strata), Reader(self, name, self._published)
        if self._files is not None:
            self._files.require([name, *strata, *origin.patterns])
        if not scheme.estimators:
            scheme.estimate(None)  # refuses

        def counted() -> Iterator[tuple[np.ndarray, str]]:
            reader.size = 0
            for table in self.tables([name]):
                values, kind = self.values(table, name)
                reader.size += values.size
                yield values, kind

        def values() -> np.ndarray:
            return np.concatenate([part for part, _ in counted()])

        def pools(z: np.ndarray) -> np.ndarray | None:
            return np.concatenate([pool for _, pool, _ in reader.parts([])])

        own = pools if reader.has_pools else None
        records = Records(values, own, reader=None if self._files is None else reader)
        return estimate_parts(scheme, counted, records, workers=self._workers), reader.size

    def values(self, table: Any, name: str, *, coded: bool = False) -> tuple[np.ndarray, str]:
        """A masked column, with NaN for missing values or, if `coded`, as it is, and its kind."""
        values, kind = self._numbers_in(table, name)
        codes = () if coded else released_codes(self._published.schemes[name])
        return without_codes(values, codes, kind), kind

    def has_numbers(self, name: str) -> bool:
        """Whether the file says itself that a column in clear holds numbers, or yes and no."""
        from pyarrow import types

        files = self._files if name not in self._published.schemes else None
        if files is None or files.layout is not None or name in files.keys or name not in files.names:
            return False
        kind = files.schema.field(name).type
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        return any(each(kind) for each in kinds)

    def plain(self, table: Any, name: str, row: int) -> np.ndarray:
        """A column of numbers of a part, which begins at this row, masked or not; yes and no are 1 and 0."""
        import pyarrow as pa

        if name in self._published.schemes:
            return self.values(table, name)[0]
        if pa.types.is_boolean(table[name].type):
            table = pa.table({name: table[name].cast(pa.uint8())})
        values, _ = self._numbers_in(table, name)
        _checks.no_infinities(values, name, row)
        return values

    def _numbers_in(self, table: Any, name: str) -> tuple[np.ndarray, str]:
        if self._files is not None:
            return self._files.numbers(table, name)
        column = frames.column_of(table, name, least=0)
        return column.array, column.kind

    @staticmethod
    def _as_stored(values: np.ndarray, kind: str) -> np.ndarray:
        """Numbers in single precision where the file has them: on a decimal grid they are others."""
        return values.astype(np.float32) if kind == "float32" else values


class Reader:
    """A masked column with its donor pools and other columns of its file, read part by part.

    Attributes
    ----------
    size : int
        The number of records.
    has_pools : bool
        Whether donors were drawn within several pools.
    columns : Columns
        Of the file.
    name : str
        Of the masked column.
    """

    def __init__(self, columns: Columns, name: str, published: Published) -> None:
        self.size, self.columns, self.name, self._published = 0, columns, name, published
        self._scheme, self._patterns = published.schemes[name], published.origins[name].patterns
        self._strata = names_of(self._scheme.strata)
        self.has_pools = bool(self._strata or self._patterns or len(published.parts) > 1)

    def parts(self, names: Sequence[str]) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The values, their pools, None where all are one, and other columns; pools of a part are its own."""
        whole, parts = self._strata or self._patterns, self._published.parts
        pieces = [
            (part, stop - start)
            for part, rows in enumerate(parts)
            for start, stop in blocks(rows, max(rows, 1) if whole else PIECE)
        ]
        wanted, first, row = dict.fromkeys([self.name, *self._strata, *self._patterns, *names]), 0, 0
        sums, sizes = np.zeros((2, len(parts) + 1)), np.zeros(len(parts) + 1, dtype=np.int64)
        tables = self.columns.tables(list(wanted), [size for _, size in pieces])
        for (part, _), table in zip(chain(pieces, repeat((len(parts), 0))), tables, strict=False):
            z, pool = self.columns.values(table, self.name)[0], None
            if whole:
                pool = self._pools(table, z) + first
                first = int(pool.max(initial=first - 1)) + 1
            elif self.has_pools:
                pool = np.full(z.size, part, np.int32)
            if len(parts) > 1:
                stored = self.columns.values(table, self.name, coded=True)[0]
                sums[:, part] += np.nansum(stored), np.nansum(np.abs(stored))
            yield z, pool, {name: self.columns.plain(table, name, row) for name in names}
            sizes[part], row = sizes[part] + z.size, row + z.size
        if len(parts) > 1:
            self._refuse_moved(sums.T, sizes)

    def _pools(self, table: Any, z: np.ndarray) -> np.ndarray:
        """The donor pool of each record of a part."""
        labels = [frames.coded(table, group) for group in self._strata]
        there = [~np.isnan(self.columns.values(table, other)[0]) for other in self._patterns]
        code = donor_pools(self._scheme, labels, there, ~np.isnan(z))
        return np.zeros(z.size, np.int32) if code is None else code

    def _refuse_moved(self, sums: np.ndarray, sizes: np.ndarray) -> None:
        """Refuse relations of a release of several parts whose rows were moved; `sums` are of the values and
        of their sizes."""
        parts, told = self._published.parts, np.array(self._published.sums.get(self.name, ()))
        still = tuple(sizes) == (*parts, 0) and told.size == len(parts)
        if not (still and (np.abs(told - sums[:-1, 0]) <= ROUNDED * sums[:-1, 1]).all()):
            raise ArgumentError(
                f"{self.name} was masked in {len(parts)} parts, and rows were moved or left out since: its "
                "relations with other columns need the release as it was written; its own statistics do not"
            )
