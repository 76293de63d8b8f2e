"""What stands behind the estimates of records: of all, or of a part of them."""

import numpy as np

from condmask._blocks import Workers
from condmask.engines.counting import ValueCounts
from condmask.law import Law
from condmask.samples.additive import NoisySample
from condmask.samples.counted import CountedSample
from condmask.samples.exact import ExactSample
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.records import Records
from condmask.samples.ungridded import UngriddedSample
from condmask.strata import rows_of


def by_pool(records: Records | None, law: Law) -> list[MaskedSample]:
    """The records of one replicate by pool of donors; none where all are one, or the pools are not known."""
    if records is None or records.pool is None or records.wanting is not None:
        return []
    present = ~np.isnan(records.rows[0])
    values, pool = records.rows[0][present], records.pool[present]
    if law.grid is None:
        return [plain(values[rows], law, 1) for rows in rows_of(pool).values()]
    units = law.to_units(values)
    order = np.lexsort((units, pool))
    units, pool = units[order], pool[order]
    first = np.flatnonzero(np.append(True, (np.diff(units) != 0.0) | (np.diff(pool) != 0)))
    counts = np.diff(first, append=units.size)
    cuts = np.flatnonzero(np.diff(pool[first])) + 1
    pools = zip(np.split(units[first], cuts), np.split(counts, cuts), strict=True)
    return [CountedSample(ValueCounts(*pool), law) for pool in pools]


def sample(z: np.ndarray, law: Law) -> MaskedSample:
    """What stands behind masked values without gaps, on the grid where there is one."""
    if law.grid is not None:
        return CountedSample(ValueCounts(*np.unique(law.to_units(z), return_counts=True)), law)
    return plain(z, law, 1)


def plain(z: np.ndarray, law: Law, workers: Workers) -> MaskedSample:
    """What stands behind masked values without gaps and without a grid."""
    if law.p == 1.0:
        return ExactSample(z, workers)
    return (UngriddedSample if law.p > 0.0 else NoisySample)(z, law, workers)
