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
