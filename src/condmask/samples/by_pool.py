"""Samples from masked values: of all records, of a part of them, or by pool of donors."""

from typing import NamedTuple

import numpy as np

from condmask._blocks import Workers, blocks
from condmask.engines.counting import ValueCounts
from condmask.kernels import counting_sort
from condmask.law import Law
from condmask.samples.additive import NoisySample
from condmask.samples.counted import CountedSample
from condmask.samples.exact import ExactSample
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.records import Records
from condmask.samples.ungridded import UngriddedSample
from condmask.strata import values_by_pool

TOGETHER = 1 << 20  # records that are counted at once
SMALL_TABLE, DENSE, LONGEST_TABLE = 1 << 12, 2, 1 << 26  # entries: always, for each record, at most


def samples_by_pool(records: Records | None, law: Law) -> list[MaskedSample]:
    """The records of one sample by pool of donors; none where all are one, or the pools are unknown."""
    if records is None or records.pool is None or records.refusal is not None:
        return []
    z, pool = records.z, records.pool
    if law.grid is None:
        return [ungridded_sample(values, law, 1) for _, values in values_by_pool(z, pool)]
    dense = _in_a_table(z, pool, law)
    if dense is not None:
        return dense
    parts: list[_Counted] = []
    held, most = 0, TOGETHER
    for start, stop in blocks(z.size, TOGETHER):
        present = ~np.isnan(z[start:stop])
        units = law.to_units(z[start:stop][present])
        parts.append(
            _merged([_Counted(pool[start:stop][present], units, np.ones(units.size, dtype=np.int64))])
        )
        held += parts[-1].units.size
        if held > most:
            parts = [_merged(parts)]
            held = parts[0].units.size
            most = 2 * held + TOGETHER
    pools, units, counts = _merged(parts)
    cuts = np.flatnonzero(np.diff(pools)) + 1
    by_pool = zip(np.split(units, cuts), np.split(counts, cuts), strict=True)
    return [CountedSample(ValueCounts(*own), law) for own in by_pool]


def _in_a_table(z: np.ndarray, pool: np.ndarray, law: Law) -> list[MaskedSample] | None:
    """The samples from a table of pools and points; None where that were much longer than the data."""
    parts = [slice(start, stop) for start, stop in blocks(z.size)]
    ends = [law.to_units(np.array([np.fmin.reduce(z[part]), np.fmax.reduce(z[part])])) for part in parts]
    low, high = np.fmin.reduce(ends)[0], np.fmax.reduce(ends)[1]
    points, pools = high - low + 1.0, int(pool.max()) + 1
    if pools * points > max(SMALL_TABLE, min(DENSE * z.size, LONGEST_TABLE)):
        return None
    table = np.empty(pools * int(points), np.int64)
    table[:] = 0
    for part in parts:
        present = ~np.isnan(z[part])
        point = (law.to_units(z[part][present]) - low).astype(np.int64)
        counting_sort.count(pool[part][present].astype(np.int64) * int(points) + point, table)
    samples: list[MaskedSample] = []
    for own in table.reshape(pools, -1):
        occupied = np.flatnonzero(own)
        if occupied.size:
            samples.append(CountedSample(ValueCounts(occupied + low, own[occupied]), law))
    return samples


class _Counted(NamedTuple):
    """How many records of each pool lie on each point."""

    pool: np.ndarray
    units: np.ndarray
    counts: np.ndarray


def _merged(parts: list[_Counted]) -> _Counted:
    """All counts together, by pool and point."""
    if len(parts) == 1 and parts[0].units.size == 0:
        return parts[0]
    pool, units, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((units, pool))
    pool, units = pool[order], units[order]
    first = np.flatnonzero(np.append(True, (np.diff(units) != 0.0) | (np.diff(pool) != 0)))
    return _Counted(pool[first], units[first], np.add.reduceat(counts[order], first))


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
