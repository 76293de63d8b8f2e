"""Means of functions by pool of donors. Oracle: each pool by itself."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import expectations
from condmask.inference.function_variance import means_of
from condmask.samples.by_pool import sample_of
from condmask.samples.exact import EXACT

FUNCTIONS = [np.tanh, lambda x: np.maximum(1.0 - x, 0.0)]
POOLS = np.random.default_rng(3).permutation(np.repeat([0, 1, 2], [40, 150, 60]))


def released(step, noise):
    scheme = cm.ConditionalMasking(0.4, 1.0, strata="region", donors="sample", noise=noise, step=step)
    x = np.random.default_rng(4).normal(40.0 * (POOLS == 1), 1.0).round(2)
    return scheme, scheme.mask(x, strata=POOLS, rng=1, accept_visible_coins=True)


@pytest.mark.parametrize(("step", "noise"), [(0.01, "normal"), (0.01, "laplace"), (0.0, "normal")])
@pytest.mark.parametrize("longest", [expectations.LONGEST, 64])
def test_means_in_pools_are_those_of_each_by_itself(step, noise, longest, monkeypatch):
    scheme, z = released(step, noise)
    samples = [sample_of(z[own], scheme.law) for own in (slice(None), *(k == POOLS for k in range(3)))]
    alone = [means_of(FUNCTIONS, sample)[0] for sample in samples]
    monkeypatch.setattr(expectations, "LONGEST", longest)

    means, pools = means_of(FUNCTIONS, samples[0], samples[1:])

    assert pools.share == pytest.approx([0.16, 0.6, 0.24])
    for name in ("psi", "residual"):
        assert getattr(means, name) == pytest.approx(getattr(alone[0], name), abs=1e-9)
        expected = np.array([getattr(own, name) for own in alone[1:]])
        np.testing.assert_allclose(getattr(pools, name), expected, atol=1e-9)
        assert pools.share @ getattr(pools, name) == pytest.approx(getattr(means, name), abs=1e-9)


def test_strata_are_not_transformed_one_by_one(monkeypatch):
    scheme, z = released(0.01, "normal")
    estimate, asked = scheme.estimate(z, strata=POOLS), []

    estimate.expectation_interval(lambda x: asked.append(x.size) or np.tanh(x))

    assert len(asked) == 1  # of three strata


def test_values_released_as_they_are_have_the_means_of_the_records():
    z, law = np.random.default_rng(1).normal(size=POOLS.size), EXACT

    means, pools = means_of([np.sin], sample_of(z, law), [sample_of(z[k == POOLS], law) for k in range(3)])

    assert means.psi == pytest.approx(np.sin(z).mean())
    assert pools.psi[:, 0] == pytest.approx([np.sin(z[k == POOLS]).mean() for k in range(3)])
    assert pools.residual == pytest.approx(0.0)
