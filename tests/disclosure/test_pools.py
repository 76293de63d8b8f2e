"""The pools of a column: which records are in each, and what is released in their order."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure.noise_masked import NoiseMasked
from condmask.disclosure.pools import pools_of
from condmask.disclosure.reverse_mapped import ReverseMapped

STREAM = np.random.default_rng(4)
X = STREAM.normal(100.0, 20.0, 60).round(1)
X[7] = np.nan
REGION = np.array(["a", "b", "b"] * 20)


@pytest.mark.parametrize("reverse_mapping", [False, True])
def test_each_stratum_is_a_pool_of_the_records_that_are_present(reverse_mapping):
    scheme = cm.ConditionalMasking(0.5, 10.0, strata="region", reverse_mapping=reverse_mapping)
    present, law, pools = pools_of(X, scheme, REGION, "risk")

    assert np.array_equal(present, ~np.isnan(X))
    assert (law.grid is None) == reverse_mapping
    assert {type(pool) for _, pool in pools} == {ReverseMapped if reverse_mapping else NoiseMasked}
    for (rows, pool), name in zip(pools, ("a", "b"), strict=True):
        assert np.array_equal(rows, np.flatnonzero(REGION[present] == name))
        assert pool.values == pytest.approx(X[present][rows], abs=0.5 * law.step + 1e-12)


def test_ends_are_aggregated_within_each_pool():
    scheme = cm.ConditionalMasking(0.5, 10.0, strata="region", reverse_mapping=True, aggregate_ends=3)
    for (_, pool), name in zip(pools_of(X, scheme, REGION, "risk").pools, ("a", "b"), strict=True):
        ordered = np.sort(X[(name == REGION) & ~np.isnan(X)])
        assert np.array_equal(np.sort(pool.units), ordered)
        # means are published with the decimals of the data, one
        assert np.sort(pool.released)[:3] == pytest.approx(np.full(3, ordered[:3].mean()), abs=0.06)
        assert np.sort(pool.released)[-3:] == pytest.approx(np.full(3, ordered[-3:].mean()), abs=0.06)
        assert np.array_equal(np.sort(pool.released)[3:-3], ordered[3:-3])


def test_without_strata_all_records_are_one_pool():
    ((rows, pool),) = pools_of(X, cm.ConditionalMasking(0.5, 10.0), None, "risk").pools

    assert rows == slice(None)
    assert pool.n == 59
