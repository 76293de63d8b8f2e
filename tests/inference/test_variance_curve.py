"""The variance of T at any points, from all records and by pool. Oracle: each pool by itself."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import cdf_variance
from condmask.inference.cdf_variance import Sums

POINTS = np.array([-1.0, 0.0, 0.5, 2.0])


def released(pools, **options):
    rng = np.random.default_rng(4)
    pool = rng.integers(0, pools, 40 * pools)
    x = rng.normal(0.02 * pool, 1.0).round(2)
    scheme = cm.ConditionalMasking(0.6, 1.0, strata="region", decimals=2, **options)
    return scheme, scheme.mask(x, strata=pool, rng=1, accept_visible_coins=True), pool


@pytest.mark.parametrize("bandwidth", [None, 0.5])
def test_variances_within_pools_are_those_of_each_pool(bandwidth):
    scheme, z, pool = released(12, donors="sample")
    estimate = scheme.estimate(z, strata=pool)

    def means(values):
        return scheme.estimate(values, strata=np.zeros(values.size))._variance_curve(bandwidth).means(POINTS)

    parts = [z[pool == k] for k in range(12)]
    share, each = np.array([part.size / z.size for part in parts]), [means(part) for part in parts]
    total = Sums(*(share @ np.array([getattr(own, name) for own in each]) for name in Sums._fields))
    psi, residual = (
        share @ np.array([getattr(own, name) for own in each]) ** 2 for name in ("psi", "residual")
    )
    expected = total.psi_squared - psi - (total.residual_squared - residual)

    found = estimate._variance_curve(bandwidth).at(POINTS)

    np.testing.assert_allclose(found.file, expected, rtol=1e-9)


def test_many_small_pools_need_no_transforms_of_their_own(monkeypatch):
    scheme, z, pool = released(200, donors="sample")
    estimate, made = scheme.estimate(z, strata=pool), []
    nodes = cdf_variance._nodes
    monkeypatch.setattr(cdf_variance, "_nodes", lambda *args: made.append(args) or nodes(*args))

    for level in (0.9, 0.95):
        for target in ("population", "file"):
            estimate.cdf_interval(POINTS, confidence_level=level, target=target)

    assert len(made) == 1
