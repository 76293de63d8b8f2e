"""What an audit looks at: columns to be masked, the columns beside them that stay in clear, and strata."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple, Self

import numpy as np

from condmask._blocks import evenly_spaced

MOST_CLEAR = 64  # columns that are read whole from a file beside the masked ones
CLEAR_ROWS = 1 << 14  # rows of a table in which all of them are looked at when it is masked


class AuditInput(NamedTuple):
    """A table before it is masked, as the publisher has it; missing values are NaN.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n,)
        Columns to be masked.
    kinds : dict of str to str
        What the container of each of them held.
    clear : dict of str to ndarray of shape (n,)
        Numeric columns that are released as they are.
    strata : ndarray of shape (n,) or None
        The donor pool of each record, below 0 for none; None where all records are one.
    """

    values: dict[str, np.ndarray]
    kinds: dict[str, str]
    clear: dict[str, np.ndarray]
    strata: np.ndarray | None
    rows: np.ndarray | None = None
    labels: dict[str, np.ndarray] = {}
    units: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    @property
    def n(self) -> int:
        return int(next(iter(self.values.values())).size)

    def take(self, rows: np.ndarray) -> Self:
        """The table of some rows."""
        values, clear = ({name: x[rows] for name, x in table.items()} for table in (self.values, self.clear))
        strata = None if self.strata is None else self.strata[rows].astype(np.int64)
        return self._replace(values=values, clear=clear, strata=strata)

    def aligned(self) -> Self:
        return self if self.rows is None else self.take(self.rows)

    def only(self, name: str) -> Self:
        """The table of one column that is masked, with nothing in clear."""
        return self._replace(values={name: self.values[name]}, clear={}, labels={}, units={}, rows=None)


def columns_in_clear(names: Sequence[str], left: Collection[str]) -> list[str]:
    """The columns of a table but for some, without those whose name others share."""
    count = Counter(names)
    return [name for name in names if name not in left and count[name] == 1]


def rows_in_clear(n: int) -> np.ndarray:
    """The rows in which they are looked at when a table of n rows is masked: `CLEAR_ROWS` all over it."""
    return evenly_spaced(n, CLEAR_ROWS)
