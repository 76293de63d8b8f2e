"""Samples by pool of donors. Oracle: each pool by itself."""

import numpy as np
import pytest

import condmask as cm
from condmask.samples import by_pool
from condmask.samples.by_pool import sample_of, samples_by_pool
from condmask.samples.records import Records

POOL = np.array([2, 0, 2, 0, 5, 5, 2, 0, 5, 5])
Z = np.array([1.0, 3.5, 1.0, np.nan, 1.0, 7.0, 0.5, 3.5, 1.0, 2.0])  # one ends where the next one begins


@pytest.mark.parametrize("step", [0.5, 0.0])
@pytest.mark.parametrize("together", [1, 3, None])
def test_each_pool_is_a_sample_of_its_own(step, together, monkeypatch):
    if together is not None:
        monkeypatch.setattr(by_pool, "TOGETHER", together)
        monkeypatch.setattr(by_pool, "SMALL_TABLE", 0)
        monkeypatch.setattr(by_pool, "DENSE", 0)
    law = cm.ConditionalMasking(0.6, 1.0, step=step).law

    found = samples_by_pool(Records(Z, POOL, None), law)

    assert [sample.n for sample in found] == [2, 3, 4]
    for sample, k in zip(found, (0, 2, 5), strict=True):
        counts, alone = (
            own.noise_class().counts for own in (sample, sample_of(Z[(k == POOL) & ~np.isnan(Z)], law))
        )
        assert counts.values.tolist() == alone.values.tolist()
        assert counts.counts.tolist() == alone.counts.tolist()


def test_one_pool_or_unknown_ones_need_none():
    law = cm.ConditionalMasking(0.6, 1.0).law

    for records in (None, Records(Z, None, None), Records(Z, POOL, "strata must be given")):
        assert samples_by_pool(records, law) == []
