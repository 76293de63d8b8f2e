"""Collect statistics of the parts of a release: for its metadata, the log and warnings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.errors import ReleaseWarning, warn
from condmask.publish.log import fingerprint
from condmask.publish.prepare import Prepared
from condmask.publish.rounding import RoundingShift

MAX_BETWEEN_SHARE = 0.1  # of the variance that parts explain, beyond which a warning says so

SumsOfPowers = tuple[float, float, float]  # number, sum and sum of squares of the values


class PartStatistics(NamedTuple):
    """Statistics of one prepared part.

    Attributes
    ----------
    records : int
        The number of records.
    patterns : tuple of str
        Columns of which a donor must miss the same values as the record.
    moved : dict of str to RoundingShift
        By column, how far rounding to the grid moved values; empty without rounding.
    marks : dict of str to ndarray of uint64, shape (2,)
        Fingerprints that let the log recognise the columns; those of several parts add up.
    moments : dict of str to tuple
        Number, sum and sum of squares of the values, in the units in which they are masked.
    """

    records: int
    patterns: tuple[str, ...]
    moved: dict[str, RoundingShift]
    marks: dict[str, np.ndarray]
    moments: dict[str, SumsOfPowers]


def statistics_of(part: Prepared, marks: dict[str, np.ndarray]) -> PartStatistics:
    """Return the statistics of a part that is ready to be masked."""
    units = part.units
    return PartStatistics(
        next(iter(units.values())).size,
        part.patterns,
        part.moved,
        marks,
        {
            name: (np.isfinite(x).sum(), np.nansum(x), np.nansum(x * x))
            for name, x in units.items()
        },
    )


def fingerprints(part: Prepared) -> dict[str, np.ndarray]:
    """Return by column two sums over all values, by which the log recognises the column."""
    return {name: fingerprint(column.array) for name, column in part.columns.items()}


def summed_marks(parts: Sequence[PartStatistics]) -> dict[str, np.ndarray]:
    """Return the fingerprints of whole columns from those of their parts."""
    return {name: np.sum([part.marks[name] for part in parts], axis=0) for name in parts[0].marks}


def warn_of_different_parts(name: str, moments: Sequence[SumsOfPowers]) -> None:
    """Warn where the parts of a column differ.

    Swapped records get values of their own part, so the place of a record would tell something of
    its value.
    """
    counts, sums, squares = np.array(moments).T
    total = squares.sum() - sums.sum() ** 2 / counts.sum()
    mean = sums.sum() / counts.sum()
    between = np.sum(counts * (sums / np.maximum(counts, 1.0) - mean) ** 2)
    if counts.size > 1 and between > MAX_BETWEEN_SHARE * total:
        warn(
            f"{name} is masked in {counts.size} parts that differ ({between / total:.0%} of its "
            "variance is between them), and records get values of their own part: shuffle the "
            "rows first",
            ReleaseWarning,
            about=name,
        )


def first_patterns(parts: Sequence[PartStatistics]) -> tuple[str, ...]:
    """Return the columns whose gaps bound the draw of donors, of the first part with any."""
    return next((part.patterns for part in parts if part.patterns), ())


def shifts(parts: Sequence[PartStatistics], name: str) -> list[RoundingShift]:
    """Return by part how far rounding moved the values of a column."""
    return [part.moved[name] for part in parts]


def warn_of_dropped(records: int, total: int) -> None:
    """Warn of how many records are left out, if any."""
    if records:
        were = "was" if records == 1 else "were"
        text = (
            f"{records:,} of {total:,} records {were} left out, whose gaps too few share "
            '(rare_gaps="drop")'
        )
        warn(text, ReleaseWarning, about="rare_gaps")
