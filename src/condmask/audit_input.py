"""The input of an audit: columns to be masked, the columns left in clear beside them, and strata."""

from typing import NamedTuple, Self

import numpy as np

from condmask.errors import ArgumentError


class Unit(NamedTuple):
    """All rows, ascending, of some of the firms, households or the like named by a column in clear, and the
    number of the one each row belongs to."""

    rows: np.ndarray
    codes: np.ndarray


class AuditInput(NamedTuple):
    """A table before it is masked, as the publisher has it; missing values are NaN.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n,)
        Columns to be masked.
    kinds : dict of str to str
        The data type in the container of each column.
    clear : dict of str to ndarray of shape (m,)
        Numeric columns that are released unmasked, in the rows `rows`.
    strata : ndarray of shape (n,) or None
        The donor pool of each record, below 0 for none; None if all records form one pool.
    rows : ndarray of shape (m,) or None
        Ascending numbers of the rows in which columns in clear are examined; None if these are all rows.
    labels : dict of str to ndarray of shape (m,)
        Other columns that are released unmasked, as label numbers, below 0 for missing labels.
    units : dict of str to Unit
        Columns in clear that name units: the few records sharing a value are alike in a masked column.
    identifiers : tuple of str
        Columns in clear with a different text or whole number in each record, which may be names.
    sampled : bool
        Whether the rows are some of a longer table, whose pools and rare values were looked at whole.
    """

    values: dict[str, np.ndarray]
    kinds: dict[str, str]
    clear: dict[str, np.ndarray]
    strata: np.ndarray | None
    rows: np.ndarray | None = None
    labels: dict[str, np.ndarray] = {}  # noqa: RUF012
    units: dict[str, Unit] = {}  # noqa: RUF012
    identifiers: tuple[str, ...] = ()
    sampled: bool = False

    @property
    def n(self) -> int:
        return int(next(iter(self.values.values())).size)

    def aligned(self) -> Self:
        """The table in the rows in which columns in clear are examined."""
        if self.rows is None:
            return self
        alone = self.masked_alone().take(self.rows)
        return alone._replace(clear=self.clear, labels=self.labels)

    def masked_alone(self) -> Self:
        """The table with nothing in clear."""
        return self._replace(clear={}, labels={}, units={}, rows=None, identifiers=())

    def take(self, rows: np.ndarray) -> Self:
        """Some rows of the table, without units; columns in clear must cover all rows."""
        if self.rows is not None:
            raise ArgumentError("rows can be taken only from a table whose columns are aligned")
        values, clear, labels = (
            {name: x[rows] for name, x in table.items()} for table in (self.values, self.clear, self.labels)
        )
        strata = None if self.strata is None else self.strata[rows].astype(np.int64)
        return self._replace(values=values, clear=clear, labels=labels, strata=strata, units={})

    def only(self, name: str) -> Self:
        """The table with one masked column alone, and nothing in clear."""
        return self.masked_alone()._replace(values={name: self.values[name]})
