"""Moments of many samples. Oracle: those of one sample after the other."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference.intervals import TARGETS
from condmask.inference.moment_rows import MomentRows
from condmask.samples.exact import EXACT

LEVELS = (0.9, 0.99)


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "options",
    [{}, {"noise": "laplace", "donors": "permutation", "step": 0.5}, {"reverse_mapping": True}],
    ids=str,
)
def test_ends_are_those_of_single_samples(options, target):
    scheme, rng = cm.ConditionalMasking(0.4, 3.0, **options), np.random.default_rng(1)
    # far from 0, and so much noise for so few records that variances are estimated negative
    x = 1e3 + rng.gamma(1.0, 0.6, (12, 60))
    law = scheme.law or EXACT
    if law is not EXACT:
        x = law.from_units(law.to_units(x))
    z = scheme.mask_rows(x, np.random.default_rng(2), ())
    rows = MomentRows(z, law, shared_donors=scheme.shared_donors, highest=6)
    estimate = scheme.estimate(z)

    for k, level in enumerate(LEVELS):
        asked = {"confidence_level": level, "target": target}
        for found, one in (
            (rows.moment_ends(1, LEVELS, target), estimate.mean_interval(**asked)),
            (rows.moment_ends(3, LEVELS, target), estimate.moment_interval(3, **asked)),
            (rows.std_ends(LEVELS, target), estimate.std_interval(**asked)),
        ):
            size = np.max(np.abs(one.high))
            np.testing.assert_allclose(found[0][k], one.low, rtol=0.0, atol=1e-9 * size)
            np.testing.assert_allclose(found[1][k], one.high, rtol=0.0, atol=1e-9 * size)
    if not options:
        assert (rows.variances() < 0.0).any()
