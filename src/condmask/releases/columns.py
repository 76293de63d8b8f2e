"""The columns of a release, in a frame or in files, read on first use: whole, or part by part."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from condmask import frames
from condmask._blocks import Workers
from condmask.errors import ArgumentError, FileError
from condmask.estimates.constructors import estimate_parts
from condmask.estimates.estimate import Estimate
from condmask.estimates.records import Records
from condmask.files.about import Published
from condmask.files.parts import Source
from condmask.files.read import numbers_or_objects
from condmask.frames import Labels
from condmask.missing_codes import released_codes, without_codes
from condmask.strata import donor_pools, names_of

ROUNDED = 1e-12  # of a sum


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

    def tables(self, names: Sequence[str]) -> Iterator[Any]:
        """The parts of the release, with some columns."""
        if self._files is None:
            yield self.source
            return
        self._files.require(names)
        if self._files.stamp() != self._stamp:
            raise FileError(
                f"{self._files.path} was changed after its release was read; read the release again"
            )
        yield from self._files.parts(names, self._published.parts)

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
        strata, rows = names_of(scheme.strata), [0]
        if self._files is not None:
            self._files.require([name, *strata, *origin.patterns])
        if not scheme.estimators:
            scheme.estimate(None)  # refuses

        def counted() -> Iterator[tuple[np.ndarray, str]]:
            rows[0] = 0
            for table in self.tables([name]):
                values, kind = self._values(table, name)
                rows[0] += values.size
                yield values, kind

        def values() -> np.ndarray:
            return np.concatenate([part for part, _ in counted()])

        def pools(z: np.ndarray) -> np.ndarray | None:
            return self._pools(name, strata, origin.patterns)

        single = not strata and not origin.patterns and len(self._published.parts) == 1
        records = Records(values, None if single else pools)
        return estimate_parts(scheme, counted, records, workers=self._workers), rows[0]

    def _pools(self, name: str, strata: Sequence[str], patterns: Sequence[str]) -> np.ndarray:
        """The donor pool of each record: those of each part are its own."""
        scheme, first = self._published.schemes[name], 0
        pools: list[np.ndarray] = []
        sums: list[tuple[float, float]] = []
        for table in self.tables(list(dict.fromkeys([name, *strata, *patterns]))):
            z = self._values(table, name)[0]
            labels = [frames.coded(table, group) for group in strata]
            there = [~np.isnan(self._values(table, other)[0]) for other in patterns]
            code = donor_pools(scheme, labels, there, ~np.isnan(z))
            code = np.zeros(z.size, np.int32) if code is None else code
            pools.append(code + first)
            first += int(code.max(initial=0)) + 1
            stored = self._numbers_in(table, name)[0]
            sums.append((np.nansum(stored), np.nansum(np.abs(stored))))
        self._refuse_moved(name, np.array(sums), [pool.size for pool in pools])
        return np.concatenate(pools)

    def _refuse_moved(self, name: str, sums: np.ndarray, sizes: list[int]) -> None:
        """Refuse relations of a release of several parts whose rows were moved; `sums` are of the values and
        of their sizes."""
        parts, told = self._published.parts, np.array(self._published.sums.get(name, ()))
        still = tuple(sizes) == parts and told.size == len(parts)
        if len(parts) > 1 and not (still and (np.abs(told - sums[:, 0]) <= ROUNDED * sums[:, 1]).all()):
            raise ArgumentError(
                f"{name} was masked in {len(parts)} parts, and rows were moved or left out since: its "
                "relations with other columns need the release as it was written; its own statistics do not"
            )

    def _values(self, table: Any, name: str) -> tuple[np.ndarray, str]:
        """A masked column, with NaN for missing values, and its kind."""
        values, kind = self._numbers_in(table, name)
        return without_codes(values, released_codes(self._published.schemes[name]), kind), kind

    def _numbers_in(self, table: Any, name: str) -> tuple[np.ndarray, str]:
        if self._files is not None:
            return self._files.numbers(table, name)
        column = frames.column_of(table, name, least=0)
        return column.array, column.kind

    @staticmethod
    def _as_stored(values: np.ndarray, kind: str) -> np.ndarray:
        """Numbers in single precision where the file has them: on a decimal grid they are others."""
        return values.astype(np.float32) if kind == "float32" else values
