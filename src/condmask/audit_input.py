"""What an audit looks at: columns to be masked, the columns beside them that stay in clear, and strata."""

from typing import NamedTuple, Self

import numpy as np

from condmask.errors import ArgumentError


class Unit(NamedTuple):
    """All rows of some of the firms, households or the like that a column in clear tells, ascending, and a
    number for the one that each row belongs to."""

    rows: np.ndarray
    codes: np.ndarray


class AuditInput(NamedTuple):
    """A table before it is masked, as the publisher has it; missing values are NaN.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n,)
        Columns to be masked.
    kinds : dict of str to str
        What the container of each of them held.
    clear : dict of str to ndarray of shape (m,)
        Columns of numbers that are released as they are, in the rows `rows`.
    strata : ndarray of shape (n,) or None
        The donor pool of each record, below 0 for none; None where all records are one.
    rows : ndarray of shape (m,) or None
        Ascending numbers of the rows in which columns in clear are looked at; None where these are all rows.
    labels : dict of str to ndarray of shape (m,)
        Other columns that are released as they are, as numbers of their labels, below 0 where one is missing.
    units : dict of str to Unit
        Columns in clear whose values a few records have in common that are alike in a masked column.
    """

    values: dict[str, np.ndarray]
    kinds: dict[str, str]
    clear: dict[str, np.ndarray]
    strata: np.ndarray | None
    rows: np.ndarray | None = None
    labels: dict[str, np.ndarray] = {}  # noqa: RUF012
    units: dict[str, Unit] = {}  # noqa: RUF012

    @property
    def n(self) -> int:
        return int(next(iter(self.values.values())).size)

    def aligned(self) -> Self:
        """The table in the rows in which columns in clear are looked at."""
        if self.rows is None:
            return self
        alone = self.masked_alone().take(self.rows)
        return alone._replace(clear=self.clear, labels=self.labels)

    def masked_alone(self) -> Self:
        """The table with nothing in clear."""
        return self._replace(clear={}, labels={}, units={}, rows=None)

    def take(self, rows: np.ndarray) -> Self:
        """The table of some rows, without units; columns in clear are those of all rows."""
        if self.rows is not None:
            raise ArgumentError("rows are taken of a table whose columns are aligned")
        values, clear, labels = (
            {name: x[rows] for name, x in table.items()} for table in (self.values, self.clear, self.labels)
        )
        strata = None if self.strata is None else self.strata[rows].astype(np.int64)
        return self._replace(values=values, clear=clear, labels=labels, strata=strata, units={})

    def only(self, name: str) -> Self:
        """The table of one column that is masked, with nothing in clear."""
        return self.masked_alone()._replace(values={name: self.values[name]})
