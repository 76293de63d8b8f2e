"""Samples from masked values: of all records, of a part of them, or by pool of donors."""

import numpy as np

from condmask._blocks import Workers
from condmask.engines.counting import ValueCounts
from condmask.law import Law
from condmask.samples.additive import NoisySample
from condmask.samples.exact import ExactSample
from condmask.samples.records import Records
from condmask.samples.sample import Counted, MaskedSample, Sample
from condmask.strata import rows_of


def samples_by_pool(records: Records | None, k: int, law: Law) -> list[MaskedSample]:
    """The records of replicate k by pool of donors; none where all are one, or the pools are unknown."""
    if records is None or records.pool is None or records.refusal is not None:
        return []
    row = records.rows[k]
    present = ~np.isnan(row)
    values = row[present]
    return [sample_of(values[rows], law) for rows in rows_of(records.pool[present]).values()]


def sample_of(z: np.ndarray, law: Law) -> MaskedSample:
    """The sample of masked values without gaps, on the grid where there is one."""
    if law.grid is not None:
        return Counted(ValueCounts(*np.unique(law.to_units(z), return_counts=True)), law)
    return ungridded_sample(z, law, 1)


def ungridded_sample(z: np.ndarray, law: Law, workers: Workers) -> MaskedSample:
    """The sample of masked values without gaps and without a grid."""
    if law.p == 1.0:
        return ExactSample(z, workers)
    return (Sample if law.p > 0.0 else NoisySample)(z, law, workers)
