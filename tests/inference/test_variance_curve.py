"""The variance of T at any points, from all records and by pool. Oracle: each pool by itself."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import cdf_variance
from condmask.inference.cdf_variance import Sums
from condmask.inference.variance_curve import largest_weight
from condmask.samples.by_pool import sample_of

POINTS = np.array([-1.0, 0.0, 0.5037, 2.0])  # on the grid, and between its points


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


@pytest.mark.parametrize("bandwidth", [None, 0.4])
def test_the_largest_weight_is_the_largest_t_of_a_single_value(bandwidth):
    sample = sample_of(np.zeros(2), cm.ConditionalMasking(0.3, 1.0, step=0.25).law)
    x = np.arange(-400, 401) / 100.0

    highest = sample.values(x, bandwidth, 1e-9, "auto").max()

    assert highest > 1.01
    assert largest_weight(sample, bandwidth) == pytest.approx(highest, rel=2e-3)  # of T_b at cells alone
