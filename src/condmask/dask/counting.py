"""Counts of a masked column in Dask: those of its partitions, merged by a tree of tasks."""

from functools import partial
from typing import Any

from dask.dataframe import Series

from condmask.dask.tree import reduced
from condmask.errors import ArgumentTypeError
from condmask.estimates.counts import MOST_POINTS, Counts
from condmask.estimates.origin import NOWHERE, Origin


def counts(column: Any, scheme: Any, *, most_points: int = MOST_POINTS, origin: Origin = NOWHERE) -> Counts:
    """Counts of a masked column of a Dask frame, from which ``scheme.estimate(counts)`` estimates.

    Parameters
    ----------
    column : Series of Dask
        Masked values; missing ones, and codes, are left out.
    scheme : ConditionalMasking
        What was published with the data; it must have a grid, or reverse mapping.
    most_points : int
        As for `Counts`: if the data occupy more points, neighbours are counted together. No task or message
        holds more than a few times as many, of 16 bytes each.
    origin : Origin, optional
        What else a release says about the column.

    Returns
    -------
    Counts
        The counts of all values, whatever the partitions.

    Raises
    ------
    TypeError
        If the column is not a series of Dask.
    ValueError
        If the scheme has neither grid nor reverse mapping, or a value is not on the grid.

    Notes
    -----
    After reverse mapping, values have no noise and are counted unchanged: continuous data have as many points
    as records. Beyond `most_points` (a million) they are rounded to cells of width `Counts.resolution`, by
    which estimates may be off (see `Counts`).

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> import condmask as cm
    >>> import condmask.dask
    >>> scheme = cm.ConditionalMasking(0.6, 100.0, decimals=0)
    >>> masked = dd.from_pandas(pd.Series([310.0, 420.0, 385.0, 290.0]), npartitions=2)
    >>> scheme.estimate(cm.dask.counts(masked, scheme)).mean()
    351.25
    """
    if not isinstance(column, Series):
        raise ArgumentTypeError(f"column must be a series of Dask, got {type(column).__name__}")
    empty = Counts(scheme, most_points=most_points, origin=origin)
    return _merged(
        empty, reduced(column.to_delayed(), partial(_counted, most_points, origin), _merged, scheme)
    )


def _counted(most_points: int, origin: Origin, values: Any, scheme: Any) -> Counts:
    found = Counts(scheme, most_points=most_points, origin=origin)
    if len(values):
        found.update(values)
    return found


def _merged(one: Counts, other: Counts) -> Counts:
    one.merge(other)
    return one
