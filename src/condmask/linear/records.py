"""Holds masked values in the order of the file, and the pools within which donors were drawn.

Z_i of eq. (1) of Ghatak & Roy, record by record.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from condmask.errors import ArgumentError
from condmask.row_labels import NUMBERED, Known


class Named(NamedTuple):
    """Names a column of numbers that is read from the file of the records whenever needed."""

    name: str


ColumnOrName = np.ndarray | Named | None
# masked values, their pools (None for a single one), and columns of numbers by name
Part = tuple[np.ndarray, np.ndarray | None, Mapping[str, np.ndarray]]


class Records:
    """Holds masked values in the order of the file, with their donor pools.

    Statistics with other columns need these. The records of a file (`MaskedColumn`) are read when
    they are needed.

    Attributes
    ----------
    z : ndarray of shape (n,)
        The values, NaN where missing.
    pool : ndarray of shape (n,) or None
        The pool of each record, None if there is one pool or the pools are unknown.
    refusal : str or None
        What must be given before the pools are known.
    size : int
        The number of records, with a value or without.
    row_labels : tuple of RowLabels
        The labels of the rows, which columns used with them must not have in another order.
    """

    size: int

    def __init__(
        self,
        z: np.ndarray,
        pool: np.ndarray | None = None,
        refusal: str | None = None,
        row_labels: Known = NUMBERED,
    ) -> None:
        self.z = z
        self.pool = pool
        self.refusal = refusal
        self.size = z.size
        self.row_labels = row_labels

    @property
    def released(self) -> np.ndarray:
        """Return the values as they were released, NaN where missing; `z` may be a function of
        them."""
        return self.z

    def some(self, chosen: np.ndarray, pool: np.ndarray | None, row_labels: Known) -> "Records":
        """Return the chosen records, with their pools."""
        return Records(self.z[chosen], pool, row_labels=row_labels)

    def has_numbers(self, name: str) -> bool:
        """Return whether `parts` can read a column of numbers with this name."""
        return False

    def values_of(self, other: "Records") -> np.ndarray | Named:
        """Return the values of other records, or the name by which `parts` reads them."""
        return other.z

    def parts(self, names: Sequence[str] = ()) -> Iterator[Part]:
        """Yield the values, their pools and columns of numbers by name, part by part."""
        yield self.z, self.pools(), {}

    def pools(self) -> np.ndarray | None:
        """Return the pool of each record, None if there is one pool; refuse if unknown."""
        if self.refusal is not None:
            raise ArgumentError(self.refusal)
        return self.pool


class MappedRecords(Records):
    """Holds a function of the values of other records, in the same order and pools.

    Parameters
    ----------
    base : Records
        The released values. The order in which they were given back depends on these.
    z : ndarray of shape (n,)
        The function of each of them, NaN where a value is missing.
    """

    def __init__(self, base: Records, z: np.ndarray) -> None:
        self.base = base
        self.z = z
        self.size = z.size

    @property
    def released(self) -> np.ndarray:
        """Return the values as they were released."""
        return self.base.released

    @property
    def refusal(self) -> str | None:  # type: ignore[override]
        """Say what must be given before the pools are known; None if they are."""
        return self.base.refusal

    @property
    def pool(self) -> np.ndarray | None:  # type: ignore[override]
        """Return the pool of each record, None where all are one."""
        return self.base.pool

    @property
    def row_labels(self) -> Known:  # type: ignore[override]
        """Return the labels of the rows."""
        return self.base.row_labels

    def some(self, chosen: np.ndarray, pool: np.ndarray | None, row_labels: Known) -> Records:
        """Return the chosen records, with their pools."""
        return MappedRecords(self.base.some(chosen, pool, row_labels), self.z[chosen])

    def has_numbers(self, name: str) -> bool:
        """Return whether `parts` can read a column of numbers with this name."""
        return self.base.has_numbers(name)

    def values_of(self, other: Records) -> np.ndarray | Named:
        """Return the values of other records, or the name by which `parts` reads them."""
        return self.base.values_of(other)

    def parts(self, names: Sequence[str] = ()) -> Iterator[Part]:
        """Yield the function of the values, their pools and columns of numbers, part by part."""
        start = 0
        for values, pool, columns in self.base.parts(names):
            stop = start + values.size
            yield self.z[start:stop], pool, columns
            start = stop
