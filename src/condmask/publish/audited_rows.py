"""Select the rows by which a long table is audited: some from all over it, with whole units.

A unit is a firm, a household or a person that repeats. An attacker uses all its records together,
so the audit needs all rows of some units.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask._blocks import evenly_spaced
from condmask.disclosure.unmasked import Table, clear_of
from condmask.files.arrow import ArrowTable, pa, pc

MAX_AUDITED_UNITS = 256  # of which all rows are audited


class Units(NamedTuple):
    """Some units of a table.

    Attributes
    ----------
    column : str
        The column that names firms, households or persons.
    names : pyarrow Array
        Some values of this column.
    """

    column: str
    names: Any


ReadRows = Callable[[Units], Iterable[ArrowTable]]


def rows_of(units: Units, table: ArrowTable) -> ArrowTable:
    """Return all rows of some units."""
    return table.filter(_belongs(units, table))


def rows_of_others(units: Units, table: ArrowTable) -> ArrowTable:
    """Return all rows of none of these units."""
    return table.filter(pc.invert(_belongs(units, table)))


def _belongs(units: Units, table: ArrowTable) -> Any:
    """Return by row whether it is one of the units', an array of Arrow."""
    return pc.is_in(frames.without_dictionary(table[units.column]), value_set=units.names)


def units_in(sample: ArrowTable, audited: Table) -> Units | None:
    """Return some units of a sample; None where no column names any."""
    if audited.clear is None:
        return None
    names = audited.clear.unit_columns(audited.values)
    column = next((name for name in names if name in sample.column_names), None)
    if column is None:
        return None
    rows = evenly_spaced(len(sample), MAX_AUDITED_UNITS)
    return Units(column, frames.without_dictionary(sample[column].take(rows)).unique())


def with_whole_units(sample: ArrowTable, units: Units, read_rows: ReadRows) -> ArrowTable:
    """Return a sample with all rows of some units in place of those rows of theirs it has."""
    tables = [rows_of_others(units, sample), *read_rows(units)]
    return pa.concat_tables(tables, promote_options="default")


def audited_table(frame: object, values: dict[str, np.ndarray]) -> Table:
    """Return sampled rows as the audit takes them, without donor pools."""
    return Table(values, None, clear_of(frame, values), "sample")
