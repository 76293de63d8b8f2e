"""Samples from masked values: of all records, of a part of them, or by pool of donors."""

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


def samples_by_pool(records: Records | None, law: Law) -> list[MaskedSample]:
    """The records of one sample by pool of donors; none where all are one, or the pools are unknown."""
    if records is None or records.pool is None or records.refusal is not None:
        return []
    present = ~np.isnan(records.z)
    values, pool = records.z[present], records.pool[present]
    if law.grid is None:
        return [ungridded_sample(values[rows], law, 1) for rows in rows_of(pool).values()]
    units = law.to_units(values)
    order = np.lexsort((units, pool))
    units, pool = units[order], pool[order]
    first = np.flatnonzero(np.append(True, (np.diff(units) != 0.0) | (np.diff(pool) != 0)))
    counts = np.diff(first, append=units.size)
    cuts = np.flatnonzero(np.diff(pool[first])) + 1
    pools = zip(np.split(units[first], cuts), np.split(counts, cuts), strict=True)
    return [CountedSample(ValueCounts(*pool), law) for pool in pools]


def sample_of(z: np.ndarray, law: Law) -> MaskedSample:
    """The sample of masked values without gaps, on the grid where there is one."""
    if law.grid is not None:
        return CountedSample(ValueCounts(*np.unique(law.to_units(z), return_counts=True)), law)
    return ungridded_sample(z, law, 1)


def ungridded_sample(z: np.ndarray, law: Law, workers: Workers) -> MaskedSample:
    """The sample of masked values without gaps and without a grid."""
    if law.p == 1.0:
        return ExactSample(z, workers)
    return (UngriddedSample if law.p > 0.0 else NoisySample)(z, law, workers)
