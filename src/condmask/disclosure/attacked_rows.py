"""The rows in which all columns are attacked together.

Columns in clear are aligned with the masked ones in stretches of the file, and in whole units of each column
that repeats. A small file is used whole. From a larger one come first some stretches, then units of each
column by itself, if values of one unit are alike.
"""

from typing import NamedTuple

import numpy as np

from condmask._blocks import STRETCH, evenly_spaced
from condmask.audit_input import AuditInput
from condmask.correlations import intraclass, normal_scores
from condmask.disclosure.folds import FoldedRows
from condmask.disclosure.identity import Table

ALIKE = 0.1  # of the variance lies between units: below, others of a unit tell next to nothing
MOST_UNITS = 6  # columns that name units, those of which most tell


class AttackedRows(NamedTuple):
    """Rows of a file, what stands in them, their folds, and units by the column that names them."""

    rows: np.ndarray
    values: Table
    strata: np.ndarray | None
    fold: np.ndarray
    clear: Table
    labels: Table
    units: Table


def attacked_rows(data: AuditInput, most: int, folded: FoldedRows) -> list[AttackedRows]:
    """Samples of at most a number of rows, or whole units; `folded` are the rows of single columns."""
    whole = data.rows is None or data.rows.size == data.n
    if whole and data.n <= most:
        rows = np.arange(data.n)
        units = {name: _spread(rows.size, *of_column) for name, of_column in data.units.items()}
        return [_of_rows(data, rows, slice(None), folded, _telling(data, rows, units))]
    some = _stretches(data.n if data.rows is None else data.rows.size, most)
    samples = [_of_rows(data, some if data.rows is None else data.rows[some], some, folded, {})]
    by_column: Table = {}
    where = {}
    for name, (rows, codes) in data.units.items():
        part = _whole(codes, most)
        where[name], by_column[name] = rows[part], codes[part]
    for name in _telling(data, where, by_column):
        place = where[name] if whole else None  # columns in clear are those of all rows
        samples.append(_of_rows(data, where[name], place, folded, {name: by_column[name]}))
    return samples


def _of_rows(
    data: AuditInput, rows: np.ndarray, place: np.ndarray | slice | None, folded: FoldedRows, units: Table
) -> AttackedRows:
    """Some rows, which stand at a place of the columns in clear, or nowhere."""
    clear, labels = (
        ({} if place is None else {name: x[place] for name, x in table.items()})
        for table in (data.clear, data.labels)
    )
    masked = data.masked_alone().take(rows)
    return AttackedRows(rows, masked.values, masked.strata, folded.folds_of(rows), clear, labels, units)


def _stretches(n: int, most: int) -> np.ndarray:
    """Places of evenly spaced stretches, at most a given number."""
    if n <= most:
        return np.arange(n)
    first = STRETCH * evenly_spaced(n // STRETCH, max(1, most // STRETCH))
    return np.asarray((first[:, None] + np.arange(STRETCH)).ravel())


def _spread(n: int, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Units of all rows, -1 for those of none."""
    units = np.full(n, -1, dtype=np.int64)
    units[rows] = codes
    return units


def _whole(codes: np.ndarray, most: int) -> np.ndarray:
    """The places of evenly spaced units with all their records, up to about a given number."""
    inside, number = np.unique(codes, return_inverse=True)
    if codes.size <= most:
        return np.arange(codes.size)
    chosen = np.zeros(inside.size, dtype=bool)
    chosen[evenly_spaced(inside.size, max(2, most * inside.size // codes.size))] = True
    return np.flatnonzero(chosen[number])


def _telling(data: AuditInput, rows: dict[str, np.ndarray] | np.ndarray, units: Table) -> Table:
    """The columns whose units are most alike in some masked column."""
    shares = {}
    for name, codes in units.items():
        some = rows[name] if isinstance(rows, dict) else rows
        shares[name] = max(intraclass(normal_scores(x[some]), codes) for x in data.values.values())
    most = sorted(shares, key=lambda name: -shares[name])[:MOST_UNITS]
    return {name: units[name] for name in most if shares[name] > ALIKE}
