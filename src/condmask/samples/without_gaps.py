"""Samples from masked values without gaps."""

import numpy as np

from condmask._blocks import Workers
from condmask.engines.counting import ValueCounts
from condmask.law import Law
from condmask.samples.additive import NoisySample
from condmask.samples.counted import CountedSample
from condmask.samples.exact import ExactSample
from condmask.samples.masked_sample import MaskedSample
from condmask.samples.ungridded import UngriddedSample


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
