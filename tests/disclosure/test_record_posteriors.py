"""The density that is expected at released values: over all of them it sums to 1."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import baselines
from condmask.disclosure.noise_masked import NoiseMasked

N = 4_000


@pytest.mark.parametrize("sigma", [3.0, 200.0])
def test_densities_sum_to_1(sigma):
    x = np.rint(np.random.default_rng(2).normal(0.0, 100.0, N))
    scheme = cm.ConditionalMasking(0.6, sigma, step=1)
    file = NoiseMasked(scheme.canonical(x, "x", "float64"), "float64", scheme.law, shared_donors=False)
    z, d = np.arange(-450.0, 451.0), np.array([2.0, 100.0])

    seen = file.posteriors(z, np.arange(z.size), d, baselines.by_constant(file, d))

    assert seen.density.sum() == pytest.approx(1.0, rel=0.01)
