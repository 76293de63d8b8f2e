"""The masked values in their places, and the pools within which donors were drawn.

The outcome of eq. (1), record by record.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.row_labels import NUMBERED, Known


class Records:
    """The masked values in their places, and the donor pools, for all that concerns other columns.

    Those of a file (`MaskedColumn`) are read when they are needed.

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
        The labels of the rows, which columns beside them must not have in another order.
    """

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
        """Whether `parts` can read a column of numbers with this name."""
        return False

    def beside(self, other: "Records") -> Any:
        """The values of other records, or by which name `parts` reads them."""
        return other.z

    def parts(self, names: Sequence[str] = ()) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The values, their pools, None where all are one, and columns of numbers by name, part by
        part."""
        yield self.z, self.pools(), {}

    def pools(self) -> np.ndarray | None:
        """The pool of each record; refused where they are unknown."""
        if self.refusal is not None:
            raise ArgumentError(self.refusal)
        return self.pool
