"""Cells of a CSV file, of which a release under reverse mapping takes each once, as it is written.

Only their order needs numbers: 1,200.50, 7.10 and amounts of 18 digits come out as they went in.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from condmask.files import csv_text
from condmask.files.arrow import pa, pc
from condmask.files.csv_text import Layout
from condmask.frames import Column

DIGITS = 15  # of decimals up to which numbers of float64 are different
GROUPED = 1000  # numbers from which on there are marks between thousands


class CsvValues:
    """A column of cells.

    Parameters
    ----------
    cells : pyarrow Array of text
    layout : Layout
    numbers : ndarray of shape (n,)
        The cells as numbers, NaN where a value is missing.
    """

    step: Fraction | None = None

    def __init__(self, cells: Any, layout: Layout, numbers: np.ndarray) -> None:
        self.cells = cells
        self.layout = layout
        self.numbers = numbers

    @cached_property
    def _plain(self) -> Any:
        """The cells as Arrow reads numbers."""
        return csv_text.plain_texts(self.cells, self.layout, thousands=True)[0]

    @cached_property
    def rank(self) -> np.ndarray | None:
        """Ranks of the values; None where float64 tells all of them apart."""
        if (pc.max(pc.utf8_length(self._plain)).as_py() or 0) <= DIGITS:
            return None
        coded = self._plain.dictionary_encode()
        texts = coded.dictionary.to_pylist()
        if len(texts) == np.unique(self.numbers).size:  # equal numbers are equal texts
            return None
        exact = [Decimal(text) if text != "nan" else Decimal(0) for text in texts]
        place = {value: rank for rank, value in enumerate(sorted(set(exact)))}
        ranks = np.array([place[value] for value in exact])
        return np.asarray(ranks[coded.indices.to_numpy()])

    def gathered(
        self, donors: np.ndarray, ends: Sequence[np.ndarray], nulls: np.ndarray | None
    ) -> Any:
        """Return the cells of the donors; empty ones for nulls."""
        place = donors.copy()
        for number, rows in enumerate(ends):
            place[rows] = len(self.cells) + number
        means = [self._mean(donors[rows]) for rows in ends]
        cells = pa.concat_arrays([self.cells, pa.array(means, self.cells.type)])
        released = cells.take(pa.array(place))
        if nulls is not None:
            released = pc.if_else(pa.array(nulls), pa.scalar("", self.cells.type), released)
        return pa.chunked_array([released])

    @cached_property
    def _places(self) -> int | None:
        """The most decimals of a cell; None where one has an exponent."""
        if pc.any(pc.match_substring_regex(self._plain, "[0-9.][eE]")).as_py():
            return None
        behind = pc.find_substring(self._plain, ".")
        length = pc.utf8_length(self._plain)
        places = pc.if_else(pc.less(behind, 0), 0, pc.subtract(pc.subtract(length, behind), 1))
        return int(pc.max(places).as_py() or 0)

    def _mean(self, rows: np.ndarray) -> str:
        """Return the mean of some cells as the cells are written."""
        if self._places is None:
            text = np.format_float_positional(self.numbers[rows].mean(), trim="-")
            return text.replace(".", self.layout.form.decimal or ".")
        counts = self._plain.take(pa.array(rows)).value_counts().to_pylist()
        total = sum(Fraction(one["values"]) * one["counts"] for one in counts)
        unscaled = round(total / rows.size * 10**self._places)
        whole, part = divmod(abs(unscaled), 10**self._places)
        mark = self.layout.form.decimal or "."
        digits = str(whole)
        if whole >= GROUPED and csv_text.has_thousands(self.cells, mark):
            digits = f"{whole:,}" if mark == "." else f"{whole:,}".replace(",", ".")
        sign = "-" if unscaled < 0 else ""
        return f"{sign}{digits}" + (f"{mark}{part:0{self._places}}" if self._places else "")


def with_cells(column: Column, cells: Any, layout: Layout) -> Column:
    """Return a column of numbers with the cells that they were read from."""
    whole = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    return column._replace(stored=CsvValues(whole, layout, column.array))
