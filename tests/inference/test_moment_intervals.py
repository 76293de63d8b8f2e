"""How moments vary. Oracles: the variance of a mean in closed form, and intervals by its roots."""

import numpy as np
import pytest
from scipy.special import ndtri

import condmask as cm
from condmask.inference import moment_intervals
from condmask.inference.interval_options import interval_options
from condmask.samples.without_gaps import sample_of

P, SIGMA = 0.4, 1.5
POOL = np.repeat([0, 1], [300, 500])
Z = np.random.default_rng(8).normal(5.0, 2.0, POOL.size).round(1) + 3.0 * POOL
LAW = cm.ConditionalMasking(P, SIGMA, step=0.1).law
WHOLE = sample_of(Z, LAW)
NOISE = (1 - P) * (SIGMA**2 + 0.1**2 / 12)  # rounded to a step of .1, which adds a twelfth of its square


def originals(z):
    return z.var() - NOISE


@pytest.mark.parametrize("shared_donors", [True, False])
def test_a_mean_varies_as_its_closed_form_says(shared_donors):
    found = moment_intervals.moment_variance(WHOLE, 1, central=False, shared_donors=shared_donors)

    lost = (1 - P) ** 2 if shared_donors else 1.0
    _, scale, _ = WHOLE.moments(1)
    assert found.file * scale**2 == pytest.approx(Z.var() - lost * originals(Z), rel=1e-9)
    assert found.sample * scale**2 == pytest.approx(originals(Z), rel=1e-9)


def test_the_standard_deviation_has_the_roots_of_the_variances_interval():
    options = interval_options(0.9, "population")
    variance, root = (
        moment_intervals.variance_interval(WHOLE, options, root=root, shared_donors=True)
        for root in (False, True)
    )

    assert variance.estimate == pytest.approx(Z.var(ddof=1) - NOISE, rel=1e-12)
    assert root[:2] == pytest.approx(np.sqrt(variance[:2]))
    assert root.standard_error == pytest.approx(variance.standard_error / (2 * root.estimate))
    reach = ndtri(0.95) * variance.standard_error / variance.estimate
    assert np.log(variance.high / variance.estimate) == pytest.approx(reach)
    assert np.log(variance.estimate / variance.low) == pytest.approx(reach)
