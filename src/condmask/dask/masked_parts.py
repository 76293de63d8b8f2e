"""The masked columns of the partitions of a table: the same bits as on one machine."""

from collections.abc import Sequence

import numpy as np
from dask.delayed import Delayed

from condmask.dask.donors import masked_by_donors
from condmask.dask.ends import ends_aggregated
from condmask.dask.job import Job
from condmask.dask.reverse_mapping import mapped_back
from condmask.law import Law
from condmask.schemes.conditional import ConditionalMasking


def masked_parts(
    narrow: Sequence[Delayed],
    starts: np.ndarray,
    schemes: Sequence[ConditionalMasking],
    key: str,
    sizes: np.ndarray | None,
) -> list[Delayed]:
    """The masked columns of each partition, row by row.

    Parameters
    ----------
    narrow : sequence of Delayed
        A `Narrow` of each partition.
    starts : ndarray of shape (partitions + 1,)
        The first row of each in the whole table, and the number of all rows.
    schemes : sequence of ConditionalMasking
        One for each column; they agree in p, donors and reverse mapping.
    key : str
        The name of the key.
    sizes : ndarray, optional
        How many records each donor pool has; None where all are one.
    """
    first = schemes[0]
    laws = tuple(scheme.law or Law(scheme.p, scheme.noise, scheme.sigma) for scheme in schemes)
    starts = np.asarray(starts, dtype=np.int64)
    pools = starts[-1:] if sizes is None else np.asarray(sizes, dtype=np.int64)
    job = Job(key, laws, starts, pools, pooled=sizes is not None)
    if first.reverse_mapping:
        mapped = mapped_back(narrow, job, [scheme.scale for scheme in schemes])
        return ends_aggregated(mapped, narrow, job, [scheme.aggregate_ends for scheme in schemes])
    return masked_by_donors(narrow, job, cycle=first.donors == "permutation")
