"""What an audit looks at: columns to be masked, the columns beside them that stay in clear, and strata."""

from typing import NamedTuple, Self

import numpy as np


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

    @property
    def n(self) -> int:
        return int(next(iter(self.values.values())).size)

    def take(self, rows: np.ndarray) -> Self:
        """The table of some rows."""
        values, clear = ({name: x[rows] for name, x in table.items()} for table in (self.values, self.clear))
        strata = None if self.strata is None else self.strata[rows].astype(np.int64)
        return self._replace(values=values, clear=clear, strata=strata)

    def only(self, name: str) -> Self:
        """The table of one column that is masked, with nothing in clear."""
        return self._replace(values={name: self.values[name]}, clear={})
