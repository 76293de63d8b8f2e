"""Reads the columns of a regression with masked columns in chunks, in units of each column.

See docs/inference.rst, "Masked regressors".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from condmask.errors import ArgumentError
from condmask.linear.chunks import Chunk, Chunks, FoldSums, add_padded, summed, taken
from condmask.linear.pseudo_values import refuse_small_pools
from condmask.linear.records import ColumnOrName, Records

POWERS = np.arange(1, 4)[:, None]
# by cell the functions undoing the first three powers, and the cell of each record
Undone = tuple[np.ndarray, np.ndarray]


class Masked(NamedTuple):
    """Bundles columns that were masked together, or by independent noise alone.

    Attributes
    ----------
    places : list of int
        Their positions among the columns of the table.
    records : Records
        The values of the first, and the pools.
    p : float
        The share of swapped records; 1 after reverse mapping.
    shared_donors : bool
        Whether donors are drawn independently, which is also assumed after reverse mapping.
    noise : ndarray of shape (columns, 5)
        The moments of the noise of each.
    undone : sequence of (ndarray of shape (3, cells), ndarray of shape (n,))
        After reverse mapping, for each column: by cell the functions of released values whose
        means are the first three powers of the originals' deviations from the mean of the pool,
        and the cell of each record.
    products : mapping of (int, int) to float
        After reverse mapping of several columns: the covariances of their originals, by position.
    """

    places: list[int]
    records: Records
    p: float
    shared_donors: bool
    noise: np.ndarray
    undone: Sequence[Undone] = ()
    products: Mapping[tuple[int, int], float] = {}


class Rows(NamedTuple):
    """Holds some records in units of the columns, with 0 where a value is missing.

    Attributes
    ----------
    clear : ndarray of shape (columns, m)
        The unmasked columns, the constant first; in place of masked columns, the mean of the pool.
    z : ndarray of shape (masked columns, m)
        The deviations of masked values from this mean.
    undone : ndarray of shape (masked columns, 3, m), or empty
        As in `Masked`, by record.
    pool : ndarray of shape (m,) or None
    here, used : ndarray of shape (m,)
        1 where all masked columns have values; 1 where all columns have values.
    """

    clear: np.ndarray
    z: np.ndarray
    undone: np.ndarray
    pool: np.ndarray | None
    here: np.ndarray
    used: np.ndarray


class Table:
    """Holds a constant, the regressors and the outcome; can be read repeatedly.

    Parameters
    ----------
    columns : dict
        By name the regressors and, last, the outcome: numbers, or Named.
    masked : Masked

    Attributes
    ----------
    names : list of str
    n : int
        The number of records without a missing value.
    size, some, used : ndarray of shape (pools,)
        By pool, the number of records that have all masked values, the same but at least 1, and
        the number of records without a missing value.
    middle, unit : ndarray of shape (columns,)
        Of each column: its mean, and its range.
    mean : ndarray of shape (masked columns, pools)
        Of the masked values, in their units.
    noise : ndarray of shape (masked columns, 5)
        The moments of the noise, in units of the columns.
    share, factor : ndarray of shape (pools,)
        p' and f, as of `PseudoValues`; f = 1 after reverse mapping.
    """

    names: list[str]
    n: int
    size: np.ndarray
    some: np.ndarray
    used: np.ndarray
    middle: np.ndarray
    unit: np.ndarray
    mean: np.ndarray
    noise: np.ndarray
    share: np.ndarray
    factor: np.ndarray

    def __init__(self, columns: Mapping[str, ColumnOrName], masked: Masked) -> None:
        self.masked = masked
        self.names = list(columns)
        places = masked.places
        count = len(columns) + 1
        self._chunks = Chunks(masked.records, *columns.values(), gaps=True)
        sums, low, high, by_pool = self._chunks.fold(
            self._ends, np.add, np.minimum, np.maximum, add_padded
        )
        self.size, self.used, *of_masked = by_pool.T
        self.n = int(self.used.sum())
        if self.n < count:
            raise ArgumentError(
                "on must have fewer coefficients than records without gaps, "
                f"got {count - 1} for {self.n}"
            )
        self.middle = sums / self.n
        self.unit = np.ones(count)
        self.middle[0] = 0.0
        self.unit[1:] = (high - low)[1:]
        for name, first, last in zip(columns, low[1:], high[1:], strict=True):
            if first == last:
                raise ArgumentError(
                    f"{name} must not be constant in a regression, got {first:g} throughout"
                )
        unit = self.unit[places, None]
        self.some = np.maximum(self.size, 1.0)
        self.mean = (np.array(of_masked) / self.some - self.middle[places, None]) / unit
        self.noise = masked.noise / unit ** np.arange(5)
        self.share = np.full(self.size.size, masked.p)  # p' by pool
        if not masked.undone:
            refuse_small_pools(masked.p, self.size)
            self.share *= self.size / np.maximum(self.size - 1.0, 1.0)
        self.factor = np.ones(self.size.size) if masked.undone else 1.0 - self.share

    def fold(self, step: Callable[[Rows], FoldSums]) -> FoldSums:
        """Return the tuples that a step computes from chunks of records, added up."""
        return self._chunks.fold(lambda chunk: step(self._rows(chunk)))

    def by_pool(self, values: np.ndarray, rows: Rows) -> np.ndarray:
        """Return the sums of values by pool, along the last axis."""
        return summed(values, rows.pool, self.size.size)

    def _rows(self, chunk: Chunk) -> Rows:
        values, here, used = self._values(chunk)
        places = self.masked.places
        clear = (values - self.middle[:, None]) / self.unit[:, None]
        z = clear[places]
        clear[places] = taken(self.mean, chunk.pool)
        undone = np.array([powers[:, cell[chunk.rows]] for powers, cell in self.masked.undone])
        if undone.size:
            undone /= self.unit[places, None, None] ** POWERS
        z = np.where(here > 0.0, z - clear[places], 0.0)
        return Rows(np.where(used > 0.0, clear, 0.0), z, undone, chunk.pool, here, used)

    def _values(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the constant and all columns in units of the data, and `here` and `used` of
        `Rows`."""
        values = np.array([np.ones(chunk.z.size), *chunk.columns], dtype=np.float64)
        known = ~np.isnan(values)
        here, used = (
            each.all(axis=0).astype(np.float64) for each in (known[self.masked.places], known)
        )
        return values, np.asarray(here), np.asarray(used)

    def _ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return, of the columns, sums and ends over complete records; and by pool the numbers of
        records `here` and `used`, and the sums of the masked values."""
        values, here, used = self._values(chunk)
        complete = values[:, used > 0.0]
        low = complete.min(axis=1, initial=np.inf)
        high = complete.max(axis=1, initial=-np.inf)
        z = np.where(here > 0.0, values[self.masked.places], 0.0)
        return complete.sum(axis=1), low, high, chunk.by_pool(np.array([here, used, *z])).T
