"""Hold the shares of records that attackers guess, by column."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

NAN = float("nan")


class Figures(NamedTuple):
    """Shares of records whose value is guessed to within d, for one column.

    Attributes
    ----------
    d : float
        In spreads of the column on the line on which noise is added, or in the units of the data.
    constant : float
        By one guess for all records.
    clear : float
        From the columns in clear, without any release: the larger of ``clear_unit`` and
        ``clear_record``.
    expected : float
        From these and the release by who does not know the swap status of any record; NaN where
        not computed.
    worst : float
        From these and the release by who knows the swap status of every record.
    error : float
        The standard error of ``lift``, by unit.
    linked : float
        The part of ``worst`` that is guessed because the columns in clear tell the owners of
        swapped values.
    clear_unit, clear_record : float
        ``clear`` of attackers who learned from originals of other units, and of other records;
        NaN where not computed.
    outsider : float
        By who has the release and the columns in clear, and no original; NaN where not computed.
    lift : float
        The part of ``worst`` that a release adds: the larger one of the differences to ``clear``
        of attackers with the same originals.
    worst_unit : str
        The unit of at least 12 records of which most are guessed: the name of the column that
        tells units and the number of records, such as "branches of 17"; empty if there is none.
    worst_unit_rate : float
        The share of its records that is guessed; NaN if there is none.
    """

    d: float
    constant: float
    clear: float
    expected: float
    worst: float
    error: float = 0.0
    linked: float = 0.0
    clear_unit: float = NAN
    clear_record: float = NAN
    outsider: float = NAN
    lift: float = 0.0
    worst_unit: str = ""
    worst_unit_rate: float = NAN


def mean_figures(rows: Sequence[Figures]) -> Figures:
    """Return the mean of figures of several maskings, with the error of the mean; what is guessed
    without swap statuses is that of the first one."""
    shares: dict[str, Any] = {
        name: float(np.mean([getattr(row, name) for row in rows]))
        for name in Figures._fields
        if name not in ("worst_unit", "outsider", "expected")
    }
    shares["error"] /= np.sqrt(len(rows))
    return rows[0]._replace(**shares)
