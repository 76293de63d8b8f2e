"""The columns of a release on disk, read part by part on first use."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from condmask import frames
from condmask._blocks import Workers, joined
from condmask.donor_pools import donor_pools
from condmask.estimates.constructors import estimate_parts
from condmask.estimates.estimate import Estimate
from condmask.files.atomic import FileError
from condmask.files.formats import Table, columns_exist, reading
from condmask.files.metadata import Published
from condmask.files.part_files import fingerprints_of
from condmask.files.read import coded_column, column_of, open_table
from condmask.files.spool import in_order
from condmask.frames import Labels
from condmask.missing_codes import released_codes, without_codes
from condmask.samples.cache import BoundedCache
from condmask.samples.records import Records
from condmask.strata import names_of

SMALL_KEPT, LARGE_KEPT = 32, 4  # columns
LARGE = 1 << 24  # bytes of a column


class FileColumns:
    """The columns of a file, or of a folder of them.

    Those that were read last are kept. A file that was changed since is refused.

    Parameters
    ----------
    path : Path
    records : int
        The number in the release.
    """

    def __init__(self, path: Path, records: int) -> None:
        self._path = path
        with reading(path):
            self._before = fingerprints_of(path)
        self._small = 8 * records < LARGE
        self._kept = BoundedCache(SMALL_KEPT if self._small else LARGE_KEPT)

    def numbers(self, name: str) -> np.ndarray:
        """The column as numbers if it is numeric, float32 as such; else as objects."""

        def read() -> np.ndarray:
            with self._opened([name]) as table:
                return column_of(table, name)

        numbers: np.ndarray = self._kept.get((name, "numbers"), read)
        return numbers

    def labels(self, name: str) -> Labels:
        """The column as labels, numbered in order of appearance."""

        def read() -> Labels:
            with self._opened([name]) as table:
                return coded_column(table, name)

        labels: Labels = self._kept.get((name, "labels"), read)
        return labels

    def strata(self, name: str) -> Labels:
        """The column as labels, sorted as masking numbers them; a missing one is a label, too."""
        labels = self.labels(name)
        code = np.empty(labels.code.size, labels.code.dtype)
        code[:] = labels.code
        return in_order(code, labels.distinct)

    def estimate(self, name: str, published: Published, workers: Workers) -> tuple[Estimate, int]:
        """The estimate of a masked column, and the number of its records."""
        scheme, origin = published.schemes[name], published.origins[name]
        codes = {other: released_codes(published.schemes[other]) for other in {name, *origin.patterns}}
        strata = names_of(scheme.strata)
        with self._opened([name, *strata, *origin.patterns]):
            pass  # refuse a missing column now
        if not scheme.estimators:
            scheme.estimate(None)  # refuses
        rows = 0

        def counted() -> Iterator[tuple[np.ndarray, str]]:
            nonlocal rows
            rows = 0
            for part, kind in self._values(name, codes):
                rows += part.size
                yield part, kind

        def values() -> np.ndarray:
            return joined(part for part, _ in counted())

        def pools(z: np.ndarray) -> np.ndarray | None:
            labels = [self.strata(stratum) for stratum in strata]
            present = ~np.isnan(z)
            return donor_pools(scheme, labels, self._patterns(origin.patterns, codes), present)

        records = Records(values, pools if strata or origin.patterns else None)
        estimate = estimate_parts(scheme, counted, records, workers=workers)
        return estimate, rows

    def _patterns(self, names: Sequence[str], codes: Mapping[str, tuple[float, ...]]) -> list[np.ndarray]:
        """Which records have values, for columns that were masked together."""
        return [joined(~np.isnan(part) for part, _ in self._values(name, codes)) for name in names]

    def _values(self, name: str, codes: Mapping[str, tuple[float, ...]]) -> Iterator[tuple[np.ndarray, str]]:
        """A masked column and its kind, part by part, with NaN for missing values."""
        if self._small:
            column = frames.column(self.numbers(name), name, least=0, finite=False)
            yield without_codes(column.array, codes[name], column.kind), column.kind
            return
        with self._opened([name]) as table:
            for part in table.parts([name]):
                values, kind = part.numbers[name]
                yield without_codes(values, codes[name], kind), kind

    @contextmanager
    def _opened(self, names: Sequence[str]) -> Iterator[Table]:
        """The table, checked to have these columns, and to be unchanged afterwards."""
        with reading(self._path):
            table = open_table(self._path)
            self._refuse_changed(table)
            columns_exist(table, names)
            yield table
            self._refuse_changed(table)

    def _refuse_changed(self, table: Table) -> None:
        """Refuse files other than those that were read first."""
        now = table.fingerprints()
        for path in self._before | now:
            if now.get(path) != self._before.get(path):
                raise FileError(f"{path} was changed after its release was read; read the release again")
