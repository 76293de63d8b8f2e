"""Unwrap each column of a table to be masked once, however often it is needed."""

from collections.abc import Callable, Iterable

import numpy as np

from condmask import frame_rows, frames
from condmask.errors import Refusals
from condmask.frames import Column, DataFrame
from condmask.labels import Labels, coded


class OriginalTable:
    """Holds a data frame, and its columns as numbers and as labels once they were read.

    Parameters
    ----------
    frame : data frame or dict of columns
        Of any kind that narwhals supports; it is not changed.
    read : callable (frame, name) -> Column
        Reads a column of the frame to be masked.
    """

    def __init__(
        self, frame: DataFrame, read: Callable[[DataFrame, str], Column] = frames.column_of
    ) -> None:
        self.frame = frame
        self._read = read
        self._columns: dict[str, Column] = {}
        self._labels: dict[str, Labels] = {}

    def column(self, name: str) -> Column:
        """Return a column as float64, NaN where a value is missing.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If there is no such column, or it cannot be masked; the message has no value of it.
        """
        if name not in self._columns:
            self._columns[name] = self._read(self.frame, name)
        return self._columns[name]

    def columns(self, names: Iterable[str]) -> dict[str, Column]:
        """Return columns by name; raises one error that names all that cannot be masked."""
        refusals = Refusals()
        columns = {}
        for name in names:
            with refusals.collected():
                columns[name] = self.column(name)
        refusals.raise_all()
        return columns

    def labels(self, name: str) -> Labels:
        """Return a column as labels of strata, a missing label among them."""
        if name not in self._labels:
            self._labels[name] = coded(self.frame, name)
        return self._labels[name]

    def take(self, rows: np.ndarray) -> "OriginalTable":
        """Return the table of these rows, given by position, in this order."""
        return self.reordered(lambda _: rows)

    def reordered(self, order_of: Callable[[int], np.ndarray]) -> "OriginalTable":
        """Return the table with its rows in the order that is drawn for their number."""
        return OriginalTable(frame_rows.reordered(self.frame, order_of), self._read)
