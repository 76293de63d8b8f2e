"""The table of a regression with masked columns: gone through in chunks, in units of its columns.

See docs/inference.rst, "Masked regressors".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask.errors import ArgumentError
from condmask.linear.chunks import Chunk, Chunks, longer, summed, taken
from condmask.linear.pseudo_values import refuse_small_pools
from condmask.linear.records import Records

POWERS = np.arange(1, 4)[:, None]


class Masked(NamedTuple):
    """Columns that were masked together, or by independent noise alone.

    Attributes
    ----------
    places : list of int
        Among the columns of the table.
    records : Records
        The values of the first, and the pools.
    p : float
        The share of the swapped; 1 after reverse mapping.
    shared_donors : bool
        Whether donors are drawn independently, as it is taken to be after reverse mapping.
    noise : ndarray of shape (columns, 5)
        The moments of the noise of each.
    undone : list of (ndarray of shape (3, cells), ndarray of shape (n,))
        After reverse mapping, of each column: by cell what has the first three powers of the
        originals' deviations from the mean of the pool as means, and the cell of each record.
    products : dict of (int, int) to float
        After reverse mapping of several: by their places the covariances of their originals.
    """

    places: list[int]
    records: Records
    p: float
    shared_donors: bool
    noise: np.ndarray
    undone: Any = ()
    products: Any = ()


class Rows(NamedTuple):
    """Some records; all in units of the columns, and 0 where one is missing.

    Attributes
    ----------
    clear : ndarray of shape (columns, m)
        The columns in clear, 1 first, and in place of masked ones the mean of the pool.
    z : ndarray of shape (masked columns, m)
        The deviations of masked values from that.
    undone : ndarray of shape (masked columns, 3, m), or empty
        As of `Masked`.
    pool : ndarray of shape (m,) or None
    here, used : ndarray of shape (m,)
        1 where all masked columns have values, and where all columns have.
    """

    clear: np.ndarray
    z: np.ndarray
    undone: Any
    pool: Any
    here: np.ndarray
    used: np.ndarray


class Table:
    """A constant, the regressors and the outcome; can be gone through repeatedly.

    Parameters
    ----------
    columns : dict
        By name the regressors and, last, the outcome: numbers, or Named.
    masked : Masked

    Attributes
    ----------
    n : int
        The number of records that miss nothing.
    size, some, used : ndarray of shape (pools,)
        The numbers of records by pool that have all masked values, the same but at least 1, and
        the numbers of those that miss nothing.
    middle, unit : ndarray of shape (columns,)
        Of each column: its mean, and how far its values reach.
    """

    def __init__(self, columns: dict[str, Any], masked: Masked) -> None:
        self.masked = masked
        self.names = list(columns)
        places = masked.places
        count = len(columns) + 1
        self._chunks = Chunks(masked.records, *columns.values(), gaps=True)
        sums, low, high, by_pool = self._chunks.fold(
            self._ends, np.add, np.minimum, np.maximum, longer
        )
        self.size, self.used, *of_masked = by_pool.T
        self.n = int(self.used.sum())
        if self.n < count:
            raise ArgumentError(
                f"on must have fewer coefficients than records without gaps, got {count - 1} for {self.n}"
            )
        self.middle = sums / self.n
        self.unit = np.ones(count)
        self.middle[0] = 0.0
        self.unit[1:] = (high - low)[1:]
        for name, least, most in zip(columns, low[1:], high[1:], strict=True):
            if least == most:
                raise ArgumentError(
                    f"{name} must not be constant in a regression, got {least:g} throughout"
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

    def fold(self, step: Callable[[Rows], tuple[Any, ...]]) -> Any:
        """The tuples that a step makes of the records in chunks, added up."""
        return self._chunks.fold(lambda chunk: step(self._rows(chunk)))

    def by_pool(self, values: np.ndarray, rows: Rows) -> np.ndarray:
        """The sums of values by pool, along the last axis."""
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
        """1 and all columns as they are; where all masked columns have values, and where all
        columns."""
        values = np.array([np.ones(chunk.z.size), *chunk.columns], dtype=np.float64)
        known = ~np.isnan(values)
        here, used = (
            each.all(axis=0).astype(np.float64) for each in (known[self.masked.places], known)
        )
        return values, np.asarray(here), np.asarray(used)

    def _ends(self, chunk: Chunk) -> tuple[Any, ...]:
        values, here, used = self._values(chunk)
        complete = values[:, used > 0.0]
        low = complete.min(axis=1, initial=np.inf)
        high = complete.max(axis=1, initial=-np.inf)
        z = np.where(here > 0.0, values[self.masked.places], 0.0)
        return complete.sum(axis=1), low, high, chunk.by_pool(np.array([here, used, *z])).T
