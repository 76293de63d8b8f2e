"""What stands behind the estimates of records: of all, or of a part of them."""

import numpy as np

from condmask._blocks import Workers
from condmask.engines.counting import ValueCounts
from condmask.law import Law
from condmask.samples.additive import NoisySample
from condmask.samples.exact import ExactSample
from condmask.samples.records import Records
from condmask.samples.sample import Counted, MaskedSample, Sample
from condmask.strata import rows_of


def strata(records: Records | None, k: int, law: Law) -> list[MaskedSample]:
    """The records of replicate k by pool of donors; none where all are one, or the pools are not known."""
    if records is None or records.pool is None or records.wanting is not None:
        return []
    row = records.rows[k]
    there = ~np.isnan(row)
    values = row[there]
    return [sample(values[rows], law) for rows in rows_of(records.pool[there]).values()]


def sample(z: np.ndarray, law: Law) -> MaskedSample:
    """What stands behind masked values without gaps, on the grid where there is one."""
    if law.grid is not None:
        return Counted(ValueCounts(*np.unique(law.to_units(z), return_counts=True)), law)
    return plain(z, law, 1)


def plain(z: np.ndarray, law: Law, workers: Workers) -> MaskedSample:
    """What stands behind masked values without gaps and without a grid."""
    if law.p == 1.0:
        return ExactSample(z, workers)
    return (Sample if law.p > 0.0 else NoisySample)(z, law, workers)
