"""Data frames cut into the partitions of a Dask frame, of any sizes."""

from itertools import pairwise

import dask.dataframe as dd
from dask.delayed import delayed


def cut(frame, ends):
    """A Dask frame of the rows up to each end, and of the rest; an end twice is a partition without rows."""
    ends = [0, *ends, len(frame)]
    parts = [delayed(frame.iloc[first:last]) for first, last in pairwise(ends)]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


UNEQUAL = (0, 100, 101, 9_000, 9_000)
