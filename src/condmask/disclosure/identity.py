"""Count the records that columns in clear single out: identity, not only attributes.

Masking hides values of a column. It does not hide who a record is about, if few know the age, the
town and the occupation of a person and only one record has them. So the records are counted that
are alone with their values in up to three columns in clear. Coarsening such columns is left to
tools that recode.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from condmask import frame_rows, frames
from condmask._blocks import in_stretches
from condmask.disclosure.policy import Finding
from condmask.errors import CondmaskError
from condmask.labels import coded

MAX_COLUMNS_TOGETHER = 3
MAX_LEVELS = 100  # of a column that somebody may know of a person
MIN_RECORDS_PER_LEVEL = 2  # on average, or the column holds measurements
MAX_COLUMNS_TRIED = 12
MAX_COUNTED_RECORDS = 65_536  # from all over a longer table
WARNED_SHARE = 0.1  # of the records that are singled out


class SingledOut(NamedTuple):
    """The records that are alone with their values in some columns in clear.

    Attributes
    ----------
    columns : tuple of str
        Of all combinations of up to three columns, the one that singles most records out.
    unique : int
    records : int
        Number of records that were looked at.
    coarsen : str
        The column of these that singles most records out.
    without : int
        The records that the other columns single out.
    """

    columns: tuple[str, ...]
    unique: int
    records: int
    coarsen: str
    without: int

    def __str__(self) -> str:
        *first, last = self.columns
        names = f"{', '.join(first)} and {last}" if first else last
        alone = f"{self.unique:,} of {self.records:,} records are alone with their values of"
        return f"{alone} {names} (columns in clear)"

    def finding(self) -> Finding:
        """Return the warning that these columns may tell who a record is about."""
        remedy = f"coarsen {self.coarsen}, without which {self.without:,} are"
        return Finding("C21", "", str(self), remedy)

    @property
    def is_warned_of(self) -> bool:
        """Return whether the publisher is warned."""
        return self.unique > WARNED_SHARE * self.records


def singled_out(
    frame: Any, masked: Collection[str], names: Sequence[str] = ()
) -> SingledOut | None:
    """Return the combination of columns in clear that singles most records out.

    Parameters
    ----------
    frame : data frame or dict of columns
    masked : collection of str
        The masked columns, which are not looked at.
    names : sequence of str
        The columns that somebody may know of a person; none for all of few levels.

    Returns
    -------
    SingledOut or None
        None where no column suits.
    """
    frame = frame_rows.with_index(frame)
    there = [name for name in frames.column_names(frame) if name not in masked]
    codes: dict[str, np.ndarray] = {}
    for name in names or there:
        code = _code(frame, name, few_levels=not names)
        if code is not None:
            codes[name] = code
    if not codes:
        return None
    most = sorted(codes, key=lambda name: -int(codes[name].max()))[:MAX_COLUMNS_TRIED]
    some = {name: codes[name] for name in codes if name in most}
    n = next(iter(some.values())).size
    counts = {
        columns: _alone([some[name] for name in columns])
        for size in range(1, MAX_COLUMNS_TOGETHER + 1)
        for columns in combinations(some, size)
    }
    best = max(counts, key=lambda columns: (counts[columns], -len(columns)))
    left = {name: counts.get(tuple(each for each in best if each != name), 0) for name in best}
    coarsen = min(left, key=lambda name: left[name])
    return SingledOut(best, counts[best], n, coarsen, left[coarsen])


def _code(frame: Any, name: str, *, few_levels: bool) -> np.ndarray | None:
    """Return a column as numbers of labels from 0 on, of records from all over the table; None
    where it has too many levels, or one."""
    try:
        code = coded(frame, name).code
    except (CondmaskError, TypeError, ValueError):  # lists and other values that are no labels
        return None
    rows = in_stretches(code.size, MAX_COUNTED_RECORDS)
    distinct, code = np.unique(code[rows], return_inverse=True)
    too_many = distinct.size > min(MAX_LEVELS, rows.size / MIN_RECORDS_PER_LEVEL)
    if distinct.size < 2 or (few_levels and too_many):
        return None
    return np.asarray(code)


def _alone(codes: Sequence[np.ndarray]) -> int:
    """Return how many records are alone with their labels."""
    together = np.zeros(codes[0].size, np.int64)
    for code in codes:
        together = together * (int(code.max()) + 1) + code
    _, counts = np.unique(together, return_counts=True)
    return int(np.count_nonzero(counts == 1))
